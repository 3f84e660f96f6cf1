package linear

import (
	"context"
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// patients are agents that wait for a person from the beginning to the end, one
// at each gateway, as hooks do. Nothing that happens meanwhile answers them.
type patients struct {
	*lab
	ctx     context.Context
	stop    context.CancelFunc
	batches [nodes]*gatelatch.Batch
	told    chan error
}

func (l *lab) waitPatiently() *patients {
	l.t.Helper()
	p := &patients{lab: l, told: make(chan error, nodes)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	l.t.Cleanup(p.stop)
	for i, c := range l.agents {
		agent := &client.Patient{Client: c, Grace: patience}
		k := &talk{name: fmt.Sprint("patient", i), session: "patient", command: "git push", n: 1}
		b := must(agent.Propose(l.t.Context(), k.proposal("")))(l.t)
		p.batches[i] = b
		go func() {
			b, err := agent.Await(p.ctx, b.ID, gatelatch.Hold{Holder: k.name, Consume: true})
			if err == nil && b.Calls[0].State != gatelatch.Denied {
				err = fmt.Errorf("call %s is %s", b.Calls[0].ID, b.Calls[0].State)
			}
			p.told <- err
		}()
	}
	return p
}

// end decides, each at another gateway than the one that is asked.
func (p *patients) end() {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	for i, b := range p.batches {
		d := api.Decision{State: string(gatelatch.Denied), Digest: b.Calls[0].Digest.String()}
		must(p.asks[i][(i+1)%nodes].Decide(ctx, b.Calls[0].ID, d))(p.t)
	}
	for range p.batches {
		select {
		case err := <-p.told:
			if err != nil {
				p.t.Errorf("a waiter was told %v", err)
			}
		case <-ctx.Done():
			p.t.Error("a waiter was not told")
		}
	}
}
