package modeltest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/model"
)

// check compares what the last step changed with the model: nothing changes
// without an event. At the end of a history everything is compared.
func (h *history) check() {
	es := h.look()
	changed := map[string]bool{}
	for _, e := range es {
		changed[e.Batch] = true
	}
	h.compareAll(func(id string) bool { return changed[id] })
	h.compareEvents(es)
}

func (h *history) compareAll(which func(batch string) bool) {
	h.must(h.store.View(h.Context(), func(r gatelatch.Reader) error {
		if now := r.Now(); !now.Equal(epoch.Add(h.world.Now)) {
			return fmt.Errorf("the time is %v, want %v", now, epoch.Add(h.world.Now))
		}
		ctl, err := r.Control()
		if err != nil || ctl.Pause.On != h.world.Paused {
			return fmt.Errorf("paused: %v, model: %v, %w", ctl.Pause.On, h.world.Paused, err)
		}
		for i, m := range h.world.Batches {
			if !which(h.ids[i]) {
				continue
			}
			b, err := r.Batch(h.ids[i])
			if err != nil {
				return err
			}
			h.compare(b, m)
		}
		for i, m := range h.world.Grants {
			g, err := r.Grant(h.grants[i])
			if err != nil || g.Revoked.IsZero() == m.Revoked || m.Uses > 0 && g.Used != m.Used {
				return fmt.Errorf("grant %+v, model: %+v, %w", g, m, err)
			}
		}
		return nil
	}))
}

// same fails if two things differ.
func same[T comparable](h *history, what string, got, want T) {
	if got != want {
		h.Fatalf("%s is %v, model: %v", what, got, want)
	}
}

func since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return t.Sub(epoch)
}

func (h *history) compare(b *gatelatch.Batch, m *model.Batch) {
	same(h, "calls", len(b.Calls), len(m.Calls))
	same(h, "phase", b.Phase, m.Phase)
	same(h, "parked", b.Parked != nil, m.Parked)
	if b.Parked != nil {
		same(h, "deferred", b.Parked.Deferred, m.Deferred)
	}
	same(h, "finished", !b.Finished.IsZero(), m.Finished)
	same(h, "opened", b.Opened != nil, m.Fence > 0)
	if o := b.Opened; o != nil {
		same(h, "fence", o.Fence, m.Fence)
		same(h, "holder", o.Holder, m.Holder)
		same(h, "opened phase", o.Phase, m.Opened)
		same(h, "all", o.All, m.All)
		same(h, "resume", o.Resume, fmt.Sprintf("%s.%d", b.ID, m.Opened))
		if !m.Waits() {
			same(h, "lease", since(o.Until), m.Until)
		}
	}
	for i, c := range b.Calls {
		if len(h.calls[m.ID-1]) == i {
			h.calls[m.ID-1] = append(h.calls[m.ID-1], c.ID)
		}
		same(h, "call", c.ID, h.calls[m.ID-1][i])
		h.compareCall(c, m.Calls[i])
	}
}

func (h *history) compareCall(c *gatelatch.Call, m *model.Call) {
	same(h, "state", string(c.State), m.State)
	same(h, "call phase", c.Phase, m.Phase)
	same(h, "input", string(c.Input), m.Input)
	same(h, "used", c.Consumed != nil, m.Used)
	if u := c.Consumed; u != nil {
		same(h, "consumed under fence", u.Fence, m.Fence)
		same(h, "consumed by", u.Nonce, m.Nonce)
		same(h, "consumed", u.Digest, c.Digest)
	}
	if c.State == gatelatch.Pending {
		same(h, "deadline", since(c.Deadline), m.Deadline)
	} else {
		same(h, "settled by", name(c.Decided.By), m.Settled.By)
		same(h, "interrupts", c.Decided.Interrupt, m.Settled.Interrupt)
		same(h, "lapses", since(c.Lapses), m.Lapses)
		if by := m.Grant; by != nil {
			same(h, "grant", c.Decided.Grant, h.grants[by.ID-1])
		}
	}
	if c.State == gatelatch.Allowed {
		same(h, "digest of the allow", c.Decided.Digest, c.Digest) // I6
	}
	var outcome string
	if c.Outcome != nil {
		outcome = string(c.Outcome.Kind)
	}
	same(h, "outcome", outcome, m.Outcome)
	if h.shown[m] == nil {
		h.shown[m] = map[string]gatelatch.Sum{}
	}
	if d, ok := h.shown[m][m.Input]; ok {
		same(h, "digest", c.Digest, d)
	}
	h.shown[m][m.Input] = c.Digest
}

// compareDeferrals holds what people are told that hosts come back for against
// the model.
func (h *history) compareDeferrals() {
	ls, err := h.seat(mira).Deferrals(h.Context())
	h.must(err)
	n := 0
	for _, l := range ls {
		if b := h.batches[l.Batch.ID]; b != nil {
			n++
			same(h, "an open deferral", b.Parked && b.Deferred, true)
		}
	}
	for _, b := range h.world.Batches {
		if b.Parked && b.Deferred {
			n--
		}
	}
	same(h, "deferrals that are missing", -n, 0)
}

// results compares what finishing gives back (D6).
func (h *history) results(b *model.Batch, got []gatelatch.Result) {
	same(h, "results", len(got), len(b.Calls))
	for i, r := range got {
		m := b.Calls[i]
		same(h, "result's call", r.Call, h.id(m))
		same(h, "result's state", string(r.State), m.State)
		same(h, "result's outcome", string(r.Outcome), m.Outcome)
		switch m.Outcome {
		case "done", "failed":
			same(h, "output", string(r.Output), m.Result)
		case "unknown":
			same(h, "output", string(r.Output), gatelatch.UnknownResult)
		default:
			same(h, "there is an output", len(r.Output) > 0, true)
		}
	}
}

// compareEvents holds what was written down against what happened: each change
// once, by whoever it was.
func (h *history) compareEvents(es []gatelatch.Event) {
	var got []model.Event
	for _, e := range es {
		m := model.Event{Kind: string(e.Kind), By: name(e.By)}
		if b := h.batches[e.Batch]; b != nil {
			m.Batch, m.Call = b.ID, 1+slices.Index(h.calls[b.ID-1], e.Call)
		}
		got = append(got, m)
	}
	want := h.world.Events
	h.world.Events = nil
	order := func(a, b model.Event) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.By, b.By))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		h.Fatalf("the trail says %v\nmodel: %v", got, want)
	}
}

func name(a gatelatch.Actor) string { return cmp.Or(a.ID, string(a.Kind)) }
