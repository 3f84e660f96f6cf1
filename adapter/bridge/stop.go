package bridge

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gatelatch/gatelatch/adapter/control"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/id"
)

// demand is a request of the gateway that the agent has not answered.
type demand struct {
	id   string
	done chan bool // whether it obeyed
}

// heed begins to listen for people who stop the session, once it has a name.
func (a *Agent) heed(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if session := a.Session.ID; session != "" {
		a.heeds.Do(func() { a.conn.Go(func() error { return a.obey(ctx, session) }) })
	}
}

var errDeaf = errors.New("the gateway can't hear of interrupts now; come again")

// obey passes on that people stop the session. An interrupt that the agent does
// not confirm is not told: its next call ends the turn.
func (a *Agent) obey(ctx context.Context, session string) error {
	for known := int64(-1); ; {
		n, err := a.Service.FollowInterrupts(ctx, session, known)
		switch {
		case ws.Over(ctx):
			return nil
		case err != nil:
			return errDeaf
		}
		if known >= 0 {
			if told, err := a.interrupt(ctx); err != nil || !told {
				return err
			}
		}
		known = n
	}
}

// interrupt asks the agent to end its turn, and waits until it says that it does.
func (a *Agent) interrupt(ctx context.Context) (told bool, err error) {
	d := demand{id.New("req"), make(chan bool, 1)}
	a.mu.Lock()
	a.stop = d
	a.mu.Unlock()
	raw, err := control.NewRequest(d.id, map[string]string{"subtype": control.SubInterrupt})
	if err == nil {
		err = a.conn.Write(ctx, json.RawMessage(raw))
	}
	if err != nil {
		return false, err
	}
	select {
	case told = <-d.done:
	case <-ctx.Done():
	}
	return told, nil
}

// stopped takes the agent's answer. One to anything else has no effect (P6).
func (a *Agent) stopped(r *control.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r != nil && a.stop.id != "" && r.RequestID == a.stop.id {
		a.stop.done <- r.Subtype == control.SubSuccess
		a.stop = demand{}
	}
}
