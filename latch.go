package gatelatch

import (
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// Leases. A holder that runs for longer renews its lease.
const (
	DefaultLease = 5 * time.Minute
	MaxLease     = 7 * 24 * time.Hour
)

// A Hold is how somebody wants to hold a batch once it is ready.
type Hold struct {
	// Holder is a nonce made for one attempt, so that two processes of one
	// session never both hold the batch.
	Holder string
	Lease  time.Duration // 0 is DefaultLease
	// Consume takes every allow with the opening, for a host that runs the
	// calls as soon as it hears of them.
	Consume bool
}

func (h *Hold) check() error {
	switch {
	case h.Holder == "" || len(h.Holder) > maxHolder:
		return invalid("holding a batch needs a holder of at most %d bytes", maxHolder)
	case h.Lease < 0 || h.Lease > MaxLease:
		return invalid("a lease is at most %s", MaxLease)
	}
	return checkText("holder", h.Holder, maxHolder)
}

// An Opening says who took a phase of the batch. A later one has a higher
// fence, which makes whoever was late harmless.
type Opening struct {
	Holder string        `json:"holder"`
	Phase  int           `json:"phase"`
	Fence  int64         `json:"fence"`
	Resume string        `json:"resume"` // the same for every holder of a phase
	At     time.Time     `json:"at"`
	Lease  time.Duration `json:"lease"`
	Until  time.Time     `json:"until"`         // then somebody else may take it
	All    bool          `json:"all,omitempty"` // every allow was consumed with it
}

func (o *Opening) over(at time.Time) bool { return !at.Before(o.Until) }

// Held reports whether somebody took the current phase.
func (b *Batch) Held() bool { return b.Opened != nil && b.Opened.Phase == b.Phase }

// Open opens the latch. Each phase opens once; asking again as the same holder
// is harmless, so that a lost answer can be asked for again. When the lease is
// over somebody else may go on, with a higher fence: what was consumed and not
// reported is then unknown.
func (b *Batch) Open(h Hold, by Actor, at time.Time) error {
	if err := h.check(); err != nil {
		return err
	}
	old := b.Opened
	switch {
	case !b.Ready():
		return ErrWaiting
	case b.Held() && old.Holder == h.Holder && old.All == h.Consume:
		return nil
	case !b.Finished.IsZero():
		return ErrFinished
	case old != nil && (b.Held() || old.Holder != h.Holder) && (old.All || !old.over(at)):
		return fmt.Errorf("%w until %s", ErrOpened, old.Until.UTC().Format(time.RFC3339))
	}
	o := &Opening{Holder: h.Holder, Phase: b.Phase, Fence: 1, At: at, Lease: h.Lease, All: h.Consume}
	o.Resume = fmt.Sprintf("%s.%d", b.ID, b.Phase)
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	o.Until = at.Add(o.Lease)
	b.Opened = o
	b.fetched()
	if old != nil {
		o.Fence = old.Fence + 1
	}
	if old != nil && old.Holder != h.Holder {
		b.lose(by, at)
	}
	b.record(BatchOpened, "", by, at, struct {
		Fence int64 `json:"fence"`
		Phase int   `json:"phase"`
	}{o.Fence, o.Phase})
	if h.Consume {
		for _, c := range b.Calls {
			if c.permit() {
				b.consume(c, o.Fence, h.Holder, by, at)
			}
		}
	}
	return nil
}

// lose marks what was begun and not reported: it may have run.
func (b *Batch) lose(by Actor, at time.Time) {
	for _, c := range b.Calls {
		switch {
		case c.running() && twin.Is == "rerun_unknown":
			c.Consumed = nil
		case c.running():
			b.report(c, Outcome{Kind: Unknown, At: at}, by)
		}
	}
}

// fenced refuses whoever does not hold the batch any more.
func (b *Batch) fenced(fence int64) error {
	switch {
	case b.Opened == nil:
		return ErrWaiting
	case (b.Opened.Fence != fence || fence == 0) && twin.Is != "stale_fence":
		return fmt.Errorf("%w (fence %d, now %d)", ErrFenced, fence, b.Opened.Fence)
	case !b.Finished.IsZero():
		return ErrFinished
	}
	return nil
}

// Take names the allow to consume, by the digest of what is about to run.
type Take struct {
	Batch  string
	Call   string
	Fence  int64
	Digest Sum
	Nonce  string // of this attempt: repeating it is harmless
}

// Consume uses an allow, once, in the order of its phase. Who may run the call
// is only who got nil for his own nonce.
func (b *Batch) Consume(t Take, by Actor, at time.Time) error {
	c := b.Call(t.Call)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", t.Call, ErrNotFound)
	case t.Nonce == "" || len(t.Nonce) > maxHolder:
		return invalid("consuming a call needs a nonce of at most %d bytes", maxHolder)
	}
	if err := b.fenced(t.Fence); err != nil {
		return err
	}
	u := c.Consumed
	switch {
	case (t.Digest != c.Digest || c.Digest != b.digest(c)) && twin.Is != "digest_ignored":
		return fmt.Errorf("call %s has another digest: %w", c.ID, ErrChanged)
	case u != nil && u.Nonce == t.Nonce && u.Fence == t.Fence && c.Outcome == nil:
		return nil
	case u != nil && twin.Is != "consume_twice":
		return fmt.Errorf("call %s: %w", c.ID, ErrConsumed)
	case !b.Held() || !b.Ready():
		return ErrWaiting
	case c.State != Allowed || c.Decided == nil:
		return settled(c)
	case c.Decided.Digest != c.Digest:
		return fmt.Errorf("call %s: %w", c.ID, ErrChanged)
	case !at.Before(c.Lapses):
		return &SettledError{Call: c.ID, Decided: Decision{State: Lapsed, By: Actor{Kind: ClockActor}, At: at, Digest: c.Digest}}
	}
	for _, before := range b.Calls {
		if before == c {
			break
		}
		if before.Phase == c.Phase && before.permit() {
			return fmt.Errorf("call %s comes before call %s: %w", before.ID, c.ID, ErrOrder)
		}
	}
	b.renew(at)
	b.consume(c, t.Fence, t.Nonce, by, at)
	return nil
}

func (b *Batch) consume(c *Call, fence int64, nonce string, by Actor, at time.Time) {
	c.Consumed = &Use{Fence: fence, Nonce: nonce, Digest: c.Digest, At: at}
	b.record(CallConsumed, c.ID, by, at, struct {
		Fence  int64 `json:"fence"`
		Digest Sum   `json:"digest"`
	}{fence, c.Digest})
}

// Renew keeps the batch for another lease. What is hardly older than the last
// one stays: each is an event, which is kept for ever.
func (b *Batch) Renew(fence int64, by Actor, at time.Time) error {
	if err := b.fenced(fence); err != nil {
		return err
	}
	if at.Add(b.Opened.Lease).Sub(b.Opened.Until) < b.Opened.Lease/4 {
		return nil
	}
	b.renew(at)
	b.record(BatchRenewed, "", by, at, struct {
		Fence int64 `json:"fence"`
	}{fence})
	return nil
}

func (b *Batch) renew(at time.Time) { b.Opened.Until = later(b.Opened.Until, at.Add(b.Opened.Lease)) }

// Report notes how a consumed call went. The first report stands; only one
// that nobody expected any more replaces Unknown.
func (b *Batch) Report(callID string, fence int64, o Outcome, by Actor) error {
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case o.Kind != Done && o.Kind != Failed:
		return invalid("a call is reported as done or failed, not %q", o.Kind)
	}
	if len(o.Result) > 0 {
		o.ResultSum = SumOf(o.Result)
	}
	if c.Outcome != nil && c.Outcome.Kind == o.Kind && c.Outcome.ResultSum == o.ResultSum {
		return nil
	}
	if err := b.fenced(fence); err != nil {
		return err
	}
	switch {
	case c.Consumed == nil:
		return invalid("call %s was not consumed, so it can't have run", callID)
	case c.Outcome != nil && c.Outcome.Kind != Unknown:
		return fmt.Errorf("call %s was already reported as %s: %w", callID, c.Outcome.Kind, ErrConflict)
	case c.Consumed.Fence != fence && c.Outcome != nil:
		return fmt.Errorf("call %s began under fence %d: %w", callID, c.Consumed.Fence, ErrFenced)
	}
	b.renew(o.At)
	b.report(c, o, by)
	return nil
}

// Ran notes that a host ran a call by itself. A call that was still waiting ran
// because somebody answered in the agent's own dialog: it is withdrawn. An
// allow that nobody had taken is used up: what ran must not run again.
func (b *Batch) Ran(callID string, ok bool, by Actor, at time.Time) error {
	c := b.Call(callID)
	switch {
	case c == nil:
		return fmt.Errorf("call %s: %w", callID, ErrNotFound)
	case b.Opened != nil && !b.Opened.All:
		return invalid("call %s is run by a holder, who reports it with the fence", callID)
	case c.Outcome != nil && c.Outcome.Kind != Unknown:
		return nil
	case c.State == Pending:
		b.move(c, CallWithdrawn, Decision{State: Withdrawn, By: by, At: at, Note: "answered in the agent's own dialog", Digest: c.Digest})
	case c.permit():
		b.consume(c, 0, "", by, at)
	}
	b.fetched()
	o := Outcome{Kind: Done, At: at}
	if !ok {
		o.Kind = Failed
	}
	b.report(c, o, by)
	return nil
}

func (b *Batch) report(c *Call, o Outcome, by Actor) {
	c.Outcome = &o
	b.record(CallReported, c.ID, by, o.At, struct {
		Kind   OutcomeKind `json:"kind"`
		State  State       `json:"state"`
		Result Sum         `json:"result,omitzero"`
	}{o.Kind, c.State, o.ResultSum})
}

// Extend begins the next phase: the holder found that it needs more
// permissions. It is followed by Propose and Judge of each. Nothing more is
// consumed until they are settled and the batch was opened again.
func (b *Batch) Extend(fence int64, by Actor, at time.Time) error {
	if err := b.fenced(fence); err != nil {
		return err
	}
	if !b.Held() {
		return ErrWaiting
	}
	b.Phase++
	b.record(BatchExtended, "", by, at, struct {
		Phase int `json:"phase"`
	}{b.Phase})
	return nil
}

// Finish ends the batch: every result is there, and the agent goes on. Abandon
// gives up what was not begun, and does not wait for what was.
func (b *Batch) Finish(fence int64, abandon bool, by Actor, at time.Time) error {
	if b.Opened != nil && b.Opened.Fence == fence && !b.Finished.IsZero() {
		return nil
	}
	if err := b.fenced(fence); err != nil {
		return err
	}
	if abandon {
		b.abandon(by, at)
	}
	for _, c := range b.Calls {
		if twin.Is != "finish_early" && (!c.State.Settled() || c.permit() || c.running()) {
			return fmt.Errorf("call %s has no result, so the agent can't go on: %w", c.ID, ErrUnfinished)
		}
	}
	b.Finished = at
	b.record(BatchFinished, "", by, at, struct {
		Fence int64 `json:"fence"`
	}{fence})
	return nil
}

func (b *Batch) abandon(by Actor, at time.Time) {
	b.giveUp("the agent stopped before it ran", by, at)
	b.lose(by, at)
}

// giveUp takes back what waits, and every allow that nobody has consumed.
func (b *Batch) giveUp(why string, by Actor, at time.Time) {
	b.Withdraw(by, why, at)
	for _, c := range b.Calls {
		if c.permit() {
			b.move(c, CallWithdrawn, Decision{State: Withdrawn, By: by, At: at, Note: why, Digest: c.Digest})
		}
	}
}
