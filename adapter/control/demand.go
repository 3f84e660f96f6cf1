package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

// replyTime is how long an agent may take to answer the host.
const replyTime = time.Minute

// demand sends a request of the host and waits for the answer.
func (h *Host) demand(ctx context.Context, request any) (Response, error) {
	name := id.New("req")
	line, err := NewRequest(name, request)
	if err != nil {
		return Response{}, err
	}
	got := make(chan Response, 1)
	h.mu.Lock()
	h.replies[name] = got
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.replies, name)
		h.mu.Unlock()
	}()
	h.send(line)
	ctx, stop := context.WithTimeout(ctx, replyTime)
	defer stop()
	select {
	case r := <-got:
		if r.Subtype != SubSuccess {
			return r, fmt.Errorf("the agent refused: %.200s", r.Error)
		}
		return r, nil
	case <-h.ctx.Done():
		return Response{}, context.Cause(h.ctx)
	case <-ctx.Done():
		return Response{}, fmt.Errorf("the agent did not answer: %w", ctx.Err())
	}
}

// reply passes an answer on to who waits for it. One that nobody asked for has
// no effect (P6).
func (h *Host) reply(r *Response) {
	if r == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.replies[r.RequestID]; got != nil {
		delete(h.replies, r.RequestID)
		got <- *r
	}
}

// Initialize begins the protocol, or begins it again: the agent then says what
// it still waits for. What the host did not know of is asked now, and what the
// agent no longer waits for is withdrawn.
func (h *Host) Initialize(ctx context.Context) error {
	before := h.open()
	r, err := h.demand(ctx, initialize{Subtype: SubInitialize, Hooks: h.hooks()})
	if err != nil {
		return err
	}
	var about struct {
		Version   string `json:"claude_code_version"`
		OnFailure bool   `json:"hook_on_failure_supported"`
	}
	if err := json.Unmarshal(r.Response, &about); err != nil {
		return fmt.Errorf("the agent's answer can't be read: %w", err)
	}
	if h.opt.Gate && !about.OnFailure {
		return fmt.Errorf("this agent (%.40q) would go on when its host fails; it is too old", about.Version)
	}
	waits := map[string]bool{}
	for _, m := range r.Pending {
		waits[m.RequestID] = true
		if m.Subtype() == SubCanUseTool {
			h.request(m)
		}
	}
	for _, name := range before {
		if !waits[name] {
			h.cancel(name)
		}
	}
	return nil
}

type initialize struct {
	Subtype string                `json:"subtype"`
	Hooks   map[string][]hookRule `json:"hooks"`
}

// open returns the requests that are not answered.
func (h *Host) open() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.asks {
		names = append(names, name)
	}
	return names
}

// Interrupt ends the agent's turn.
func (h *Host) Interrupt(ctx context.Context) error {
	_, err := h.demand(ctx, map[string]string{"subtype": SubInterrupt})
	return err
}

// SetMode gives the agent's session a mode. The host asks about every call all
// the same if it is the gate.
func (h *Host) SetMode(ctx context.Context, mode gatelatch.Mode) error {
	_, err := h.demand(ctx, map[string]string{"subtype": SubSetMode, "mode": string(mode)})
	return err
}
