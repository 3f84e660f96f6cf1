// Package adaptertest holds adapters to transcripts: the real gate, and a peer
// that is the test.
package adaptertest

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/memory"
)

// Rules that the gate of a Rig has.
const Rules = "version: 1\nallow:\n  - Bash(pwd)\ndeny:\n  - rule: Bash(rm:*)\n    why: deletes\n"

// Rig is a gate with an agent and a person at it.
type Rig struct {
	T      *testing.T
	Gate   *gatelatch.Gate
	Agent  *gatelatch.Seat
	Person *gatelatch.Seat
	Who    gatelatch.Actor // the agent

	peers []*Peer
}

// Run runs a test in virtual time, with a gate of its own.
func Run(t *testing.T, fn func(t *testing.T, r *Rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rules, err := policy.Parse("policy.yaml", []byte(Rules))
		if err != nil {
			t.Fatal(err)
		}
		who := gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}
		store := memory.New(memory.Options{})
		g := gatelatch.New(store, rules)
		ctx, stop := context.WithCancel(context.Background())
		var work sync.WaitGroup
		work.Go(func() { g.Run(ctx) })
		defer func() {
			stop()
			work.Wait()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		r := &Rig{T: t, Gate: g, Who: who, Agent: g.As(who), Person: g.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"})}
		defer func() {
			for _, p := range r.peers {
				_ = p.Leave()
			}
		}()
		fn(t, r)
	})
}

// Calls returns what waits, or what is settled.
func (r *Rig) Calls(pending bool) []gatelatch.Listed {
	r.T.Helper()
	synctest.Wait()
	p, err := r.Person.List(r.T.Context(), gatelatch.Query{Pending: pending})
	if err != nil {
		r.T.Fatal(err)
	}
	return p.Calls
}

// Waiting returns the only call that waits.
func (r *Rig) Waiting() gatelatch.Listed {
	r.T.Helper()
	cs := r.Calls(true)
	if len(cs) != 1 {
		r.T.Fatalf("%d calls wait", len(cs))
	}
	return cs[0]
}

// Decide settles the only call that waits.
func (r *Rig) Decide(d gatelatch.Decision) {
	r.T.Helper()
	c := r.Waiting()
	d.Digest = c.Digest
	if _, err := r.Person.Decide(r.T.Context(), c.ID, d); err != nil {
		r.T.Fatal(err)
	}
}

// Allow and Deny settle the only call that waits.
func (r *Rig) Allow() { r.T.Helper(); r.Decide(gatelatch.Decision{State: gatelatch.Allowed}) }

// Deny settles the only call that waits.
func (r *Rig) Deny(note string) {
	r.T.Helper()
	r.Decide(gatelatch.Decision{State: gatelatch.Denied, Note: note})
}

// Edit replaces the input of the only call that waits.
func (r *Rig) Edit(input string) {
	r.T.Helper()
	c := r.Waiting()
	if _, err := r.Person.Edit(r.T.Context(), c.ID, c.Digest, []byte(input)); err != nil {
		r.T.Fatal(err)
	}
}

// Peer is the other end of a connection.
type Peer struct {
	t       *testing.T
	in, out chan []byte
	gone    chan struct{}
	leave   func() // closes gone
	ended   chan struct{}
	err     error // once it is ended
	Revoked bool  // the peer's key no longer holds
}

// Connect has serve speak with the test.
func (r *Rig) Connect(serve func(context.Context, ws.Conn, func() error) error) *Peer {
	p := &Peer{t: r.T, in: make(chan []byte), out: make(chan []byte, 100), gone: make(chan struct{}), ended: make(chan struct{})}
	p.leave = sync.OnceFunc(func() { close(p.gone) })
	r.peers = append(r.peers, p)
	go func() {
		defer close(p.ended)
		p.err = serve(context.Background(), p, func() error {
			if p.Revoked {
				return gatelatch.ErrForbidden
			}
			return nil
		})
	}()
	return p
}

// Read implements ws.Conn for the adapter.
func (p *Peer) Read(ctx context.Context) ([]byte, error) {
	select {
	case raw := <-p.in:
		return raw, nil
	case <-p.gone:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements ws.Conn for the adapter.
func (p *Peer) Write(_ context.Context, v any) error {
	raw, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	select {
	case <-p.gone:
		return io.ErrClosedPipe
	case p.out <- raw:
		return nil
	default:
		return errors.New("the peer does not listen")
	}
}

// Say sends one message.
func (p *Peer) Say(raw string) {
	p.t.Helper()
	select {
	case p.in <- []byte(raw):
	case <-p.ended:
		p.t.Fatalf("the connection ended: %v", p.err)
	}
}

// Hear returns the next message.
func (p *Peer) Hear() string {
	p.t.Helper()
	synctest.Wait()
	select {
	case raw := <-p.out:
		return string(raw)
	default:
		p.t.Fatal("no message came")
		return ""
	}
}

// Quiet fails the test if there is a message.
func (p *Peer) Quiet() {
	p.t.Helper()
	synctest.Wait()
	select {
	case raw := <-p.out:
		p.t.Errorf("an unexpected message: %s", raw)
	default:
	}
}

// Leave cuts the connection, and returns when the adapter is through with it.
func (p *Peer) Leave() error {
	p.leave()
	<-p.ended
	return p.err
}

// Ended returns why the adapter ended the connection.
func (p *Peer) Ended() error {
	p.t.Helper()
	synctest.Wait()
	select {
	case <-p.ended:
		return p.err
	default:
		p.t.Fatal("the connection did not end")
		return nil
	}
}
