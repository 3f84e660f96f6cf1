package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// hold is an agent that wants to run the batch. Others may want to, too.
func (k *talk) hold(holder string, careless bool) {
	var first time.Duration // since when it may hold the batch
	for left, n := tries, 0; left > 0; n++ {
		node := k.at()
		d := k.ask(node, op{kind: open, who: holder}, first, func(ctx context.Context) (answer, error) {
			b, err := k.l.agents[node].Await(ctx, k.batch.ID, gatelatch.Hold{Holder: holder, Lease: lease})
			if err != nil {
				return answer{}, err
			}
			return answer{fence: b.Opened.Fence, calls: viewsOf(b)}, nil
		})
		pause := breath
		switch d.code {
		case "":
			if k.run(fmt.Sprint(holder, "_", n), d.answer, careless) {
				return
			}
			first = d.first
		case lost, unheard, stale:
			left--
			if d.code == lost && first == 0 {
				first = d.start
			}
		case "opened":
			first, pause = 0, lease/3
		default:
			return
		}
		if !k.l.wait(pause) {
			return
		}
	}
}

// run uses what is allowed, in order. It reports whether the holder is through
// with the batch. A careless one forgets the time, or everything.
func (k *talk) run(attempt string, a answer, careless bool) bool {
	for i, v := range a.calls {
		if v.state != gatelatch.Allowed || v.use != "" {
			continue
		}
		nonce := fmt.Sprint(attempt, "_", i)
		take := func(nonce string) done {
			return k.insist(op{kind: consume, call: i, fence: a.fence, nonce: nonce}, func(ctx context.Context, node int) (answer, error) {
				c := k.batch.Calls[i]
				_, err := k.l.agents[node].Consume(ctx, gatelatch.Take{Batch: k.batch.ID, Call: c.ID, Fence: a.fence, Digest: c.Digest, Nonce: nonce})
				return answer{}, err
			})
		}
		switch d := take(nonce); d.code {
		case "":
		case "settled": // taken back
			continue
		default:
			return false
		}
		if careless {
			switch rand.IntN(8) {
			case 0, 1:
				take(nonce + " again")
			case 2:
				k.finish(a.fence) // before there is a result
			case 3, 4:
				k.l.wait(lease)
			case 5:
				return true
			}
		}
		if d := k.report(i, a.fence, nonce); d.code != "" {
			return false
		}
	}
	return k.finish(a.fence).code == ""
}

func (k *talk) report(call int, fence int64, result string) done {
	return k.insist(op{kind: report, call: call, fence: fence, nonce: result}, func(ctx context.Context, node int) (answer, error) {
		return answer{}, k.l.agents[node].Report(ctx, gatelatch.Report{
			Batch: k.batch.ID, Call: k.batch.Calls[call].ID, Fence: fence, OK: true, Result: []byte(result),
		})
	})
}

func (k *talk) finish(fence int64) done {
	return k.insist(op{kind: finish, fence: fence}, func(ctx context.Context, node int) (answer, error) {
		rs, err := k.l.agents[node].Finish(ctx, gatelatch.Finish{Batch: k.batch.ID, Fence: fence})
		if err != nil {
			return answer{}, err
		}
		a := answer{}
		for _, r := range rs {
			v := &view{state: r.State, by: untold, use: string(r.Outcome)}
			if r.Outcome == gatelatch.Done {
				v.result = string(r.Output)
			}
			a.calls = append(a.calls, v)
		}
		return a, nil
	})
}

// argue is a batch that people disagree about and two agents want to run.
func (k *talk) argue() {
	var wg sync.WaitGroup
	for call := range k.n {
		for _, person := range rand.Perm(nodes)[:2] {
			state := gatelatch.Allowed
			if rand.IntN(5) == 0 {
				state = gatelatch.Denied
			}
			wg.Go(func() { k.decide(person, call, state, nil) })
		}
	}
	for h := range 2 {
		wg.Go(func() { k.hold(fmt.Sprint(k.name, "_h", h), true) })
	}
	if rand.IntN(3) == 0 {
		wg.Go(k.contradict)
	}
	wg.Wait()
	k.look(k.at())
}

// steady is one batch at one node, without a pause.
func (k *talk) steady() {
	k.decide(k.at(), 0, gatelatch.Allowed, nil)
	k.hold(k.name, false)
}

// rely makes a grant, runs batches by it, and takes it back meanwhile.
func (k *talk) rely() {
	var names []string
	children := make([]*talk, 4)
	for i := range children {
		child := *k
		child.name, child.n, child.batch = fmt.Sprint(k.name, "_c", i), 1+i%2, gatelatch.Batch{}
		children[i] = &child
		names = append(names, child.name)
	}
	person := rand.IntN(nodes)
	terms := k.terms(person)
	if terms == nil {
		return
	}
	made, grant := k.decide(person, 0, gatelatch.Allowed, terms)
	if grant == "" {
		return
	}
	made.op, made.in = op{kind: granted}, names
	made.start = made.first
	k.l.add(made)
	var wg sync.WaitGroup
	for i, child := range children[:3] {
		wg.Go(func() {
			if k.l.wait(time.Duration(i)*20*time.Millisecond) && child.propose() {
				child.hold(child.name, i == 0)
			}
		})
	}
	k.l.wait(breath)
	revoked := k.l.revoke(names, rand.IntN(nodes), grant)
	if revoked {
		children[3].propose()
	}
	wg.Wait()
	for _, child := range children[:3] {
		if child.batch.ID != "" {
			child.look(k.at())
		}
	}
}

// terms are what a person is offered to remember for the session.
func (k *talk) terms(person int) *api.Terms {
	ctx, stop := context.WithTimeout(context.Background(), askTime)
	defer stop()
	c, err := k.l.asks[person][k.at()].Call(ctx, k.batch.Calls[0].ID)
	if err != nil {
		return nil
	}
	for _, r := range c.Remember {
		if r.Scope == string(gatelatch.ForSession) {
			return &api.Terms{Scope: r.Scope, Match: r.Match, Uses: rand.IntN(2) * 100}
		}
	}
	k.l.t.Errorf("nothing of %s can be remembered", k.command)
	return nil
}

func (l *lab) revoke(in []string, person int, grant string) bool {
	for range tries {
		node := l.anywhere()
		d := l.ask(node, in, op{kind: revoke}, 0, func(ctx context.Context) (answer, error) {
			_, err := l.asks[person][node].RevokeGrant(ctx, grant)
			return answer{}, err
		})
		if d.code == "" {
			return true
		}
		if !l.wait(breath) {
			break
		}
	}
	return false
}
