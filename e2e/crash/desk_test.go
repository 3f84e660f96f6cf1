//go:build linux

package crash

import (
	"context"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// A desk is one agent and one person at a gateway, and the ledger of what they
// were told.
type desk struct {
	agent, person *client.Client
	session       string
	batches       map[string]*toldBatch // by message
	calls         map[string]*toldCall  // by ref
}

type toldBatch struct {
	id       string
	refs     []string
	fence    int64 // 0: not opened
	finished bool
}

type toldCall struct {
	id       string
	digest   gatelatch.Sum
	state    gatelatch.State
	editing  bool // an edit was asked for and not answered: the digest may be another
	consumed bool
	reported bool
}

func newDesk(session string) *desk {
	return &desk{session: session, batches: map[string]*toldBatch{}, calls: map[string]*toldCall{}}
}

// sit finds the gateway, once that has made its keys.
func (d *desk) sit(dir statedir.Dir) (err error) {
	if d.agent, err = client.ForAgents(dir); err != nil {
		return err
	}
	d.person, err = client.ForPeople(dir)
	return err
}

// work does the steps from the given one on, and returns at which it failed.
func (d *desk) work(ctx context.Context, steps []step, from int) (int, error) {
	for i := from; i < len(steps); i++ {
		if err := steps[i].run(ctx, d); err != nil {
			return i, err
		}
	}
	return len(steps), nil
}

// again repeats every step that may be repeated: the answers must not change,
// and what was used up stays so.
func (d *desk) again(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if s.once {
			continue
		}
		switch err := s.run(ctx, d); {
		case s.spent && err == nil:
			return fmt.Errorf("%s could be had a second time", s.name)
		case !s.spent && err != nil:
			return fmt.Errorf("again: %w", err)
		}
	}
	return nil
}

// hear notes a batch as the gateway told it.
func (d *desk) hear(message string, b *gatelatch.Batch, err error) error {
	if err != nil {
		return err
	}
	known := d.batches[message]
	if known == nil {
		known = &toldBatch{id: b.ID}
		d.batches[message] = known
	}
	if b.ID != known.id || len(b.Calls) < len(known.refs) {
		return fmt.Errorf("batch %s was %s and is %s, with %d calls", message, known.id, b.ID, len(b.Calls))
	}
	for _, c := range b.Calls {
		if !slices.Contains(known.refs, c.Ref) {
			known.refs = append(known.refs, c.Ref)
			d.calls[c.Ref] = &toldCall{id: c.ID, digest: c.Digest, state: gatelatch.Pending}
		}
		if was := d.calls[c.Ref]; was.id != c.ID || was.digest != c.Digest && !was.editing {
			return fmt.Errorf("call %s is another than before", c.Ref)
		}
		if err := d.told(c.Ref, c.State, nil); err != nil {
			return err
		}
	}
	if b.Opened != nil {
		if b.Opened.Fence < known.fence {
			return fmt.Errorf("batch %s was opened with fence %d and then with %d", message, known.fence, b.Opened.Fence)
		}
		known.fence = b.Opened.Fence
	}
	return nil
}

func (d *desk) reported(ref string, err error) error {
	if err == nil {
		d.calls[ref].reported = true
	}
	return err
}

// told notes how a call stands. A call that left pending never moves again.
func (d *desk) told(ref string, state gatelatch.State, err error) error {
	if err != nil {
		return err
	}
	c := d.calls[ref]
	if c.state.Settled() && c.state != state {
		return fmt.Errorf("call %s was %s and then %s", ref, c.state, state)
	}
	c.state = state
	return nil
}
