package notify

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// asking is a policy that asks about everything, and knows what calls touch.
type asking struct{}

func (asking) Judge(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session, _ []*gatelatch.Grant) gatelatch.Verdict {
	v := gatelatch.Verdict{Effect: gatelatch.Ask, Needs: &gatelatch.Needs{Type: gatelatch.NeedWrite}}
	switch c.Tool {
	case "Read":
		v.Effect = gatelatch.Allow
	case "Bash":
		v.Needs = &gatelatch.Needs{Type: gatelatch.NeedCommand, Touches: []gatelatch.Touch{{Does: "delete", What: "/"}}}
	}
	return v
}

func (asking) Remember(*gatelatch.Call, *gatelatch.Session, gatelatch.Scope) (string, error) {
	return "", gatelatch.ErrInvalid
}

func (asking) Covers(string, *gatelatch.Call, *gatelatch.Session, gatelatch.Scope) error {
	return gatelatch.ErrInvalid
}

// recorder is a channel that remembers what it was given.
type recorder struct {
	mu    sync.Mutex
	got   []Notice
	at    []time.Time
	fails func(try int) error
	tries int
}

func (r *recorder) Send(_ context.Context, n Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries++
	r.at = append(r.at, time.Now())
	if r.fails != nil {
		if err := r.fails(r.tries); err != nil {
			return err
		}
	}
	r.got = append(r.got, n)
	return nil
}

// kinds lists what was sent: "asked Write", "settled Write".
func (r *recorder) kinds() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.got {
		out = append(out, string(n.Kind)+" "+n.Tool)
	}
	return out
}

func (r *recorder) last() Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[len(r.got)-1]
}

// rig is a gate whose outbox has one channel, a recorder named "phone".
type rig struct {
	t      *testing.T
	gate   *gatelatch.Gate
	agent  *gatelatch.Seat
	person *gatelatch.Seat
	phone  *recorder
	box    *Outbox
	n      int
	input  string
	name   string // of the session, s1 if none
}

func newRig(t *testing.T, store gatelatch.Store) *rig {
	t.Helper()
	if store == nil {
		store = memory.New(memory.Options{})
	}
	g := gatelatch.New(store, asking{})
	r := &rig{
		t: t, gate: g, phone: &recorder{},
		agent:  g.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a", Name: "claude"}),
		person: g.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_p", Name: "mira"}),
	}
	r.box = &Outbox{Store: store, URL: "http://127.0.0.1:7474", Log: slog.New(slog.DiscardHandler),
		Targets: []*Target{{Channel: r.phone, Name: "phone", Type: "ntfy", Settled: true, Person: "Mira"}}}
	return r
}

// another is the outbox of another gateway with the same channels.
func (r *rig) another() *Outbox {
	return &Outbox{Store: r.box.Store, URL: r.box.URL, Log: r.box.Log, Targets: r.box.Targets}
}

// start runs outboxes until the test ends.
func (r *rig) start(boxes ...*Outbox) {
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for _, b := range boxes {
		work.Go(func() { b.Run(ctx) })
	}
	r.t.Cleanup(func() { stop(); work.Wait() })
}

const canary = "c4n4ry-hunter2"

// ask proposes a call and returns its id.
func (r *rig) ask(tool string) string {
	r.t.Helper()
	r.n++
	b, err := r.agent.Propose(context.Background(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: cmp.Or(r.name, "s1"), Name: "Claude Code", Project: "/home/mira/shop"}, Message: fmt.Sprint("m", r.n),
		Context: gatelatch.Context{Prompt: canary, Said: canary},
		Calls: []gatelatch.ProposedCall{{Ref: fmt.Sprint("r", r.n), Kind: gatelatch.Permission, Tool: tool, Claim: canary,
			Input: []byte(cmp.Or(r.input, `{"command":"`+canary+`"}`))}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return b.Calls[0].ID
}

func (r *rig) decide(call string, state gatelatch.State) {
	r.t.Helper()
	l, err := r.person.Call(context.Background(), call)
	if err == nil {
		_, err = r.person.Decide(context.Background(), call, gatelatch.Decision{State: state, Digest: l.Digest})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) messages() (out []*gatelatch.Message) {
	r.t.Helper()
	err := r.box.Store.View(context.Background(), func(v gatelatch.Reader) (err error) {
		out, err = v.Messages(gatelatch.MessageQuery{})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r *rig) want(kinds ...string) {
	r.t.Helper()
	if got := r.phone.kinds(); !slices.Equal(got, kinds) {
		r.t.Errorf("sent %q, want %q", got, kinds)
	}
}
