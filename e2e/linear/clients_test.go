package linear

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// askTime is how long a client waits for an answer: longer than a gateway that
// was stopped may hold the others up.
const askTime = 1500 * time.Millisecond

// lab is what clients work in.
type lab struct {
	*cluster
	history
	over     atomic.Bool // nothing new begins
	answered atomic.Int64

	beat [nodes]atomic.Int64 // when a node last said yes to a change

	internal, unavailable, stale, absent atomic.Int64
}

func newLab(t *testing.T, c *cluster) *lab {
	t.Helper()
	return &lab{cluster: c, history: history{begin: time.Now()}}
}

// unheard is the code of what no gateway got, and stale of what none did: they
// are in no history.
const (
	unheard = "unheard"
	stale   = "stale"
)

// ask does o at a node and notes what came of it. first is when the same was
// asked before, or 0.
func (l *lab) ask(node int, in []string, o op, first time.Duration, do func(context.Context) (answer, error)) done {
	ctx, stop := context.WithTimeout(context.Background(), askTime)
	defer stop()
	d := done{op: o, in: in, node: node, start: l.now()}
	d.first = d.start
	if first > 0 {
		d.first = first
	}
	var err error
	d.answer, err = do(ctx)
	if err != nil {
		d.answer = l.refusal(o, err)
	}
	switch {
	case d.code == unheard || d.code == stale:
		return d
	case d.code == "" && o.kind != look:
		l.beat[node].Store(int64(l.now()))
	}
	if d.code != lost {
		l.answered.Add(1)
	}
	d.end = l.now()
	l.add(d)
	return d
}

// refusal is what an error tells.
func (l *lab) refusal(o op, err error) answer {
	var remote *api.RemoteError
	var network *net.OpError
	switch {
	case errors.As(err, &remote) && remote.Status < 500:
		a := answer{code: remote.Body.Code}
		if d := remote.Body.Decided; d != nil {
			a.calls = make([]*view, o.call+1)
			a.calls[o.call] = &view{gatelatch.State(d.State), d.By.ID, untold, untold}
		}
		if a.code == stale {
			l.stale.Add(1)
		}
		return a
	case errors.As(err, &remote) && remote.Status == http.StatusInternalServerError:
		l.internal.Add(1)
	case errors.As(err, &remote):
		l.unavailable.Add(1)
	case errors.As(err, &network) && network.Op == "dial", errors.Is(err, statedir.ErrNoGateway):
		l.absent.Add(1)
		return answer{code: unheard}
	}
	return answer{code: lost}
}

// wait waits for about d, and reports whether to go on.
func (l *lab) wait(d time.Duration) bool {
	t := time.NewTimer(d/2 + rand.N(d+1))
	defer t.Stop()
	<-t.C
	return !l.over.Load()
}

// anywhere chooses a node.
func (l *lab) anywhere() int { return rand.IntN(nodes) }

// A talk is everything that is said about one batch.
type talk struct {
	l             *lab
	name, session string
	command       string
	n             int
	at            func() int      // chooses a node
	batch         gatelatch.Batch // as it was proposed
}

func (k *talk) proposal(suffix string) gatelatch.Proposal {
	p := gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: k.session}, Message: k.name}
	for i := range k.n {
		p.Calls = append(p.Calls, gatelatch.ProposedCall{
			Ref: fmt.Sprint(k.name, "_", i), Kind: gatelatch.Permission, Tool: "Bash", Dir: "/srv/project",
			Input: fmt.Appendf(nil, `{"command":"%s%s"}`, k.command, suffix),
		})
	}
	return p
}

func (k *talk) ask(node int, o op, first time.Duration, do func(context.Context) (answer, error)) done {
	return k.l.ask(node, []string{k.name}, o, first, do)
}

// breath is a pause before asking again.
const breath = 50 * time.Millisecond

// insist asks until there is an answer, each time somewhere else.
func (k *talk) insist(o op, do func(context.Context, int) (answer, error)) (d done) {
	var first time.Duration
	for range tries {
		node := k.at()
		d = k.ask(node, o, first, func(ctx context.Context) (answer, error) { return do(ctx, node) })
		switch {
		case d.code != lost && d.code != unheard && d.code != stale:
			return d
		case d.code == lost && first == 0:
			first = d.start
		}
		if !k.l.wait(breath) {
			break
		}
	}
	return d
}

func (k *talk) propose() bool {
	d := k.insist(op{kind: propose, size: k.n}, func(ctx context.Context, node int) (answer, error) {
		b, err := k.l.agents[node].Propose(ctx, k.proposal(""))
		if err != nil {
			return answer{}, err
		}
		k.batch = *b
		return answer{batch: b.ID, calls: viewsOf(b)}, nil
	})
	return d.code == ""
}

// contradict proposes another input under the same message.
func (k *talk) contradict() {
	node := k.at()
	k.ask(node, op{kind: contradict}, 0, func(ctx context.Context) (answer, error) {
		_, err := k.l.agents[node].Propose(ctx, k.proposal(" --force"))
		return answer{}, err
	})
}

func viewsOf(b *gatelatch.Batch) (out []*view) {
	for _, c := range b.Calls {
		v := &view{state: c.State, result: untold}
		if c.Decided != nil {
			v.by = c.Decided.By.ID
		}
		if c.Consumed != nil {
			v.use = running
		}
		if c.Outcome != nil {
			v.use = string(c.Outcome.Kind)
		}
		out = append(out, v)
	}
	return out
}

// look reads the batch as its agent.
func (k *talk) look(node int) done {
	return k.ask(node, op{kind: look}, 0, func(ctx context.Context) (answer, error) {
		b, err := k.l.agents[node].Batch(ctx, k.batch.ID)
		if err != nil {
			return answer{}, err
		}
		return answer{calls: viewsOf(b), finished: !b.Finished.IsZero()}, nil
	})
}

// lookAsPerson reads one call as a person.
func (k *talk) lookAsPerson(node, call int) done {
	return k.ask(node, op{kind: look, call: call}, 0, func(ctx context.Context) (answer, error) {
		c, err := k.l.asks[rand.IntN(nodes)][node].Call(ctx, k.batch.Calls[call].ID)
		if err != nil {
			return answer{}, err
		}
		v := &view{state: gatelatch.State(c.State), result: untold}
		if c.Decided != nil {
			v.by = c.Decided.By.ID
		}
		if c.Consumed != nil {
			v.use = running
		}
		if c.Outcome != nil {
			v.use = c.Outcome.Kind
		}
		a := answer{partial: true, calls: make([]*view, call+1)}
		a.calls[call] = v
		return a, nil
	})
}

// decide lets a person decide. What was decided is there for whoever looks
// afterwards, wherever.
func (k *talk) decide(person, call int, state gatelatch.State, terms *api.Terms) (d done, grant string) {
	d = k.insist(op{kind: decide, call: call, who: k.l.people[person], state: state}, func(ctx context.Context, node int) (answer, error) {
		c := k.batch.Calls[call]
		out, err := k.l.asks[person][node].Decide(ctx, c.ID, api.Decision{State: string(state), Digest: c.Digest.String(), Remember: terms})
		if err == nil && out.Decided != nil {
			grant = out.Decided.Grant
		}
		return answer{}, err
	})
	if d.code != "" && d.code != "settled" {
		return d, grant
	}
	after := k.lookAsPerson
	if rand.IntN(2) == 0 {
		after = func(node, _ int) done { return k.look(node) }
	}
	if r := after(k.l.anywhere(), call); r.code == "" && r.calls[call].state == gatelatch.Pending {
		k.l.t.Errorf("call %d of %s was decided at node %d and waits at node %d", call, k.name, d.node, r.node)
	}
	return d, grant
}
