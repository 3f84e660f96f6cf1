package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

// Options are what a Host needs of its transport.
type Options struct {
	Service gatelatch.Service
	Session gatelatch.SessionInfo // as far as it is known before the agent says it
	Holder  string                // a nonce of this connection
	// Send writes one message. It is never called twice at a time.
	Send func(line []byte) error
	// Gate has the agent ask about every call, in each of its modes. Without it
	// the agent's own mode and rules say what is asked.
	Gate bool
	// Implement, if the transport can, starts the agent afresh with a plan (S8).
	Implement func(Implement)
	// Notice is told what a person beside the agent may want to know.
	Notice func(Notice)
}

// Implement is a plan to be carried out from an empty conversation.
type Implement struct {
	Plan string
	Mode gatelatch.Mode // "" is the agent's own
}

// A Notice is something that happened on the connection.
type Notice struct {
	Kind NoticeKind
	Tool string
	Text string
}

// NoticeKind says what happened.
type NoticeKind string

// Kinds of notice.
const (
	Asking   NoticeKind = "asking"   // a call waits for a decision
	Settled  NoticeKind = "settled"  // and got one
	Unasked  NoticeKind = "unasked"  // a call ran that nobody was asked about
	Unknown  NoticeKind = "unknown"  // the agent said something that is not answered
	Reported NoticeKind = "reported" // a result could not be reported
)

// Host answers one agent over one connection: it proposes what the agent asks
// about, waits, and says what was decided. Whatever goes wrong is a denial.
type Host struct {
	opt  Options
	ctx  context.Context //nolint:containedctx // of the connection: asks begin by messages, not by calls
	stop context.CancelCauseFunc
	work sync.WaitGroup

	sending sync.Mutex

	mu        sync.Mutex
	session   gatelatch.SessionInfo
	dir       string
	asks      map[string]*ask // by request id, not answered yet
	calls     map[string]*call
	messages  map[string]*message
	replies   map[string]chan Response
	tools     map[string]bool // that the agent has; nil if it did not say
	tasks     map[string]task
	running   int      // sub-agents in the background
	streaming *message // that is not whole yet
	prompt    string
	notes     []string
}

var errGone = errors.New("the agent is gone")

// New returns a Host of a connection that begins now.
func New(opt Options) *Host {
	ctx, stop := context.WithCancelCause(context.Background())
	if opt.Notice == nil {
		opt.Notice = func(Notice) {}
	}
	return &Host{
		opt: opt, ctx: ctx, stop: stop, session: opt.Session,
		asks: map[string]*ask{}, calls: map[string]*call{}, messages: map[string]*message{},
		replies: map[string]chan Response{}, tasks: map[string]task{},
	}
}

// Close ends the connection: what still waits is withdrawn.
func (h *Host) Close() {
	h.stop(errGone)
	h.work.Wait()
	h.abandon(func(*call) bool { return true })
}

// Receive takes one line of the agent, in order, and never waits. It reports
// whether the line is the agent's output, for others to read.
func (h *Host) Receive(line []byte) (output bool, err error) {
	m, err := Read(line)
	if err != nil {
		return h.misread(line), err
	}
	switch m.Type {
	case TypeRequest:
		h.request(m)
	case TypeCancel:
		h.cancel(m.RequestID)
	case TypeResponse:
		h.reply(m.Response)
	default:
		h.overhear(line)
		return true, nil
	}
	return false, nil
}

// misread answers a request that can't be read as far as it can be told who
// asked, and reports whether the line is output.
func (h *Host) misread(line []byte) (output bool) {
	var m struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(line, &m) != nil || m.Type == "" {
		return false
	}
	switch m.Type {
	case TypeRequest:
		h.refuse(m.RequestID, "the request can't be read")
		return false
	case TypeCancel, TypeResponse:
		return false
	}
	return true
}

func (h *Host) request(m Message) {
	switch sub := m.Subtype(); sub {
	case SubCanUseTool:
		q, err := m.CanUseTool()
		if err != nil {
			h.refuse(m.RequestID, err.Error())
			return
		}
		h.begin(m.RequestID, q)
	case SubHook:
		h.hook(m)
	default: // P2: an agent never hangs
		h.opt.Notice(Notice{Kind: Unknown, Text: fmt.Sprintf("the agent asked for %.60q, which is not known", sub)})
		h.refuse(m.RequestID, fmt.Sprintf("the host does not know requests of subtype %.60q", sub))
	}
}

// refuse answers with an error, which the agent takes for a denial.
func (h *Host) refuse(requestID, why string) {
	if line, err := Refuse(requestID, why); err == nil {
		h.send(line)
	}
}

func (h *Host) answer(requestID string, response any) {
	line, err := Answer(requestID, response)
	if err != nil {
		h.refuse(requestID, err.Error())
		return
	}
	h.send(line)
}

// send writes a line. One that can't be written is lost with the agent, which
// runs nothing without an answer.
func (h *Host) send(line []byte) {
	h.sending.Lock()
	defer h.sending.Unlock()
	_ = h.opt.Send(line)
}

// replyTime is how long an agent may take to answer the host.
const replyTime = 30 * time.Second

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
		if r.Subtype != subSuccess {
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

// Prompted notes what the user asked for, to be shown beside the agent's calls,
// and returns it as a message. Words that the agent did not get to see when it
// was interrupted come first (S3).
func (h *Host) Prompted(text string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.prompt = text
	notes := h.notes
	h.notes = nil
	return UserMessage(withNotes(notes, text))
}

// SessionID is the agent's own id for its session, "" before it said so.
func (h *Host) SessionID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session.ID
}
