//go:build linux

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// A record is everything that a store holds.
type record struct {
	events  []gatelatch.Event
	batches map[string]*gatelatch.Batch
}

// readFile reads the store that a gateway left behind.
func readFile(ctx context.Context, dir statedir.Dir) (*record, error) {
	s, err := sqlite.Open(ctx, dir.Database(), sqlite.Options{Readers: 1})
	if err != nil {
		return nil, err
	}
	rec, err := readStore(ctx, s)
	return rec, errors.Join(err, s.Close())
}

// readStore follows the chain from its beginning and loads what it speaks of.
func readStore(ctx context.Context, s gatelatch.Store) (rec *record, err error) {
	rec = &record{batches: map[string]*gatelatch.Batch{}}
	err = s.View(ctx, func(r gatelatch.Reader) error {
		var chain audit.Chain
		for {
			es, err := r.Events(gatelatch.Seq(len(rec.events)), 1000)
			if err != nil || len(es) == 0 {
				return errors.Join(err, rec.loadCalls(r))
			}
			for _, e := range es {
				if err := chain.Next(e); err != nil {
					return err
				}
			}
			rec.events = append(rec.events, es...)
		}
	})
	return rec, err
}

// loadCalls takes the calls from the store's lists, so that one without an
// event is found, too.
func (rec *record) loadCalls(r gatelatch.Reader) error {
	for _, pending := range []bool{true, false} {
		for q := (gatelatch.Query{Pending: pending, Limit: 500}); ; {
			p, err := r.List(q)
			if err != nil {
				return err
			}
			for _, c := range p.Calls {
				rec.batches[c.Batch.ID] = c.Batch
				q.After = c.ID
			}
			if !p.More {
				break
			}
		}
	}
	return nil
}

// check holds the store against itself: each change has its event, once.
func (rec *record) check() error {
	happened := map[string][]int{} // kind and call or batch → positions in the trail
	for i, e := range rec.events {
		if e.Batch != "" && rec.batches[e.Batch] == nil {
			return fmt.Errorf("%s of batch %s, which is not there", e.Kind, e.Batch)
		}
		key := string(e.Kind) + " " + e.Call
		if e.Call == "" {
			key += e.Batch
		}
		happened[key] = append(happened[key], i)
	}
	at := func(kind gatelatch.EventKind, id string) []int { return happened[string(kind)+" "+id] }
	var errs []error
	for id, b := range rec.batches {
		when := map[string]int{} // calls were settled, as positions in the trail
		for _, c := range b.Calls {
			settled := slices.Concat(at(gatelatch.CallDecided, c.ID), at(gatelatch.CallWithdrawn, c.ID), at(gatelatch.CallExpired, c.ID))
			if c.Verdict.Effect != gatelatch.Ask {
				settled = append(settled, at(gatelatch.CallJudged, c.ID)...)
			}
			errs = append(errs,
				times(len(at(gatelatch.CallProposed, c.ID)), true, "call %s proposed", c.Ref),
				times(len(at(gatelatch.CallJudged, c.ID)), true, "call %s judged", c.Ref),
				times(len(settled), c.State.Settled(), "call %s, %s, settled", c.Ref, c.State),
				times(len(at(gatelatch.CallConsumed, c.ID)), c.Consumed != nil, "call %s consumed", c.Ref),
				times(len(at(gatelatch.CallReported, c.ID)), c.Outcome != nil, "call %s reported", c.Ref))
			for _, i := range settled {
				when[c.ID] = i
				errs = append(errs, says(rec.events[i], c))
			}
		}
		errs = append(errs,
			rec.latch(b, at(gatelatch.BatchOpened, id), when),
			times(len(at(gatelatch.BatchFinished, id)), !b.Finished.IsZero(), "batch %s finished", b.Message))
	}
	return errors.Join(errs...)
}

// latch checks that a batch opened once with each fence, and only when all
// calls up to that phase were settled.
func (rec *record) latch(b *gatelatch.Batch, opened []int, settled map[string]int) error {
	var last struct {
		Fence int64
		Phase int
	}
	for n, i := range opened {
		if err := json.Unmarshal(rec.events[i].Body, &last); err != nil {
			return err
		}
		if last.Fence != int64(n+1) {
			return fmt.Errorf("opening %d of batch %s has fence %d", n+1, b.Message, last.Fence)
		}
		for _, c := range b.Calls {
			if when, is := settled[c.ID]; c.Phase <= last.Phase && (!is || when > i) {
				return fmt.Errorf("batch %s was opened before call %s was settled", b.Message, c.Ref)
			}
		}
	}
	if b.Opened != nil && b.Opened.Fence != last.Fence || b.Opened == nil && len(opened) > 0 {
		return fmt.Errorf("batch %s: its last opening is not in the trail", b.Message)
	}
	return nil
}

func times(n int, should bool, format string, args ...any) error {
	if want := map[bool]int{true: 1}[should]; n != want {
		return fmt.Errorf(format+" %d times, want %d", append(args, n, want)...)
	}
	return nil
}

// says compares the event that settled a call with the call.
func says(e gatelatch.Event, c *gatelatch.Call) error {
	var body struct {
		State  gatelatch.State
		Effect gatelatch.Effect
		Digest gatelatch.Sum
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return err
	}
	if e.Kind == gatelatch.CallJudged {
		body.State = map[gatelatch.Effect]gatelatch.State{gatelatch.Allow: gatelatch.Allowed, gatelatch.Deny: gatelatch.Denied}[body.Effect]
	}
	if body.State != c.State || body.Digest != c.Digest || c.Decided == nil || c.Decided.Digest != c.Digest {
		return fmt.Errorf("call %s is %s, its event says %s, or something else was decided", c.Ref, c.State, body.State)
	}
	return nil
}

// keeps holds the ledger against the store.
func (rec *record) keeps(d *desk) error {
	var errs []error
	for message, told := range d.batches {
		b := rec.batches[told.id]
		if b == nil {
			errs = append(errs, fmt.Errorf("batch %s is lost", message))
			continue
		}
		if told.fence != 0 && (b.Opened == nil || b.Opened.Fence != told.fence) || told.finished && b.Finished.IsZero() {
			errs = append(errs, fmt.Errorf("batch %s: its opening or its end is lost", message))
		}
		for _, ref := range told.refs {
			was := d.calls[ref]
			switch c := b.Call(was.id); {
			case c == nil || c.Digest != was.digest:
				errs = append(errs, fmt.Errorf("call %s is lost", ref))
			case was.state.Settled() && c.State != was.state:
				errs = append(errs, fmt.Errorf("call %s was told as %s and is %s", ref, was.state, c.State))
			case was.consumed && c.Consumed == nil, was.reported && c.Outcome == nil:
				errs = append(errs, fmt.Errorf("call %s: its consumption or report is lost", ref))
			}
		}
	}
	return errors.Join(errs...)
}

// story is what happened to one session, without what differs between two runs
// of the same: ids, times and digests.
func (rec *record) story(session string) (lines []string) {
	for _, e := range rec.events {
		b, of := rec.batches[e.Batch], ""
		if b != nil {
			if b.Session != session {
				continue
			}
			of = b.Message
			if c := b.Call(e.Call); c != nil {
				of = c.Ref
			}
		}
		var body map[string]any
		_ = json.Unmarshal(e.Body, &body) // an empty one stays empty
		for _, differs := range []string{"digest", "from", "key"} {
			delete(body, differs)
		}
		lines = append(lines, fmt.Sprint(e.Kind, " ", of, " by ", e.By.Kind, " ", body))
	}
	return lines
}
