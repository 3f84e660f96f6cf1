package gatelatch

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// batchOf is a batch of calls that are judged as the effects say.
func batchOf(t *testing.T, effects ...Effect) *Batch {
	t.Helper()
	b := &Batch{ID: "bat_1", Agent: aAgent.ID, Session: "s", Message: "m"}
	propose(t, b, effects...)
	return b
}

func propose(t *testing.T, b *Batch, effects ...Effect) {
	t.Helper()
	for _, e := range effects {
		c := &Call{ID: fmt.Sprintf("cal_%d", len(b.Calls)), Kind: Permission, Tool: "Bash", Input: fmt.Appendf(nil, `{"n":%d}`, len(b.Calls))}
		b.Propose(c, aAgent, now)
		must(t, b.Judge(c, Verdict{Effect: e}, now))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func open(t *testing.T, b *Batch, holder string, at time.Time) {
	t.Helper()
	must(t, b.Open(Hold{Holder: holder}, aAgent, at))
}

func take(b *Batch, i int, nonce string) Take {
	return Take{Call: b.Calls[i].ID, Fence: b.Opened.Fence, Digest: b.Calls[i].Digest, Nonce: nonce}
}

func consume(t *testing.T, b *Batch, i int) {
	t.Helper()
	must(t, b.Consume(take(b, i, fmt.Sprint("n", i)), aAgent, now))
}

func done(b *Batch, i int, fence int64) error {
	return b.Report(b.Calls[i].ID, fence, Outcome{Kind: Done, At: now}, aAgent)
}

// I5, I6, REL-07: an allow is consumed once, by its holder, as it was shown.
func TestConsume(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(b *Batch, k *Take)
		want   error
	}{
		"as it was shown":              {func(*Batch, *Take) {}, nil},
		"another input (rule 5)":       {func(b *Batch, _ *Take) { b.Calls[0].Input = []byte(`{"n":1}`) }, ErrChanged},
		"another digest (trap 9)":      {func(_ *Batch, k *Take) { k.Digest[0]++ }, ErrChanged},
		"no digest (SEC-21)":           {func(_ *Batch, k *Take) { k.Digest = Sum{} }, ErrChanged},
		"decided on something else":    {func(b *Batch, _ *Take) { b.Calls[0].Decided.Digest = Sum{} }, ErrChanged},
		"an older fence":               {func(_ *Batch, k *Take) { k.Fence = 0 }, ErrFenced},
		"a fence nobody gave":          {func(_ *Batch, k *Take) { k.Fence = 7 }, ErrFenced},
		"no nonce":                     {func(_ *Batch, k *Take) { k.Nonce = "" }, ErrInvalid},
		"an unknown id (rule 1)":       {func(_ *Batch, k *Take) { k.Call = "cal_9" }, ErrNotFound},
		"nobody holds it":              {func(b *Batch, _ *Take) { b.Opened = nil }, ErrWaiting},
		"it was taken back":            {func(b *Batch, _ *Take) { b.Revoke(mira, "stop", now) }, ErrSettled},
		"it lapsed, before the clock":  {func(b *Batch, _ *Take) { b.Calls[0].Lapses = now }, ErrSettled},
		"the batch is finished":        {func(b *Batch, _ *Take) { b.Finished = now }, ErrFinished},
		"a permission is still needed": {func(b *Batch, _ *Take) { b.Phase = 2 }, ErrWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			b := batchOf(t, Allow)
			open(t, b, "h", now)
			k := take(b, 0, "n")
			tt.change(b, &k)
			wants(t, "consume", b.Consume(k, aAgent, now), tt.want)
			if got := b.Calls[0].Consumed != nil; got != (tt.want == nil) {
				t.Errorf("consumed %v", got)
			}
		})
	}
	b := batchOf(t, Allow)
	open(t, b, "h", now)
	must(t, b.Consume(take(b, 0, "n1"), aAgent, now))
	must(t, b.Consume(take(b, 0, "n1"), aAgent, now)) // the answer was lost
	wants(t, "another attempt", b.Consume(take(b, 0, "n2"), aAgent, now), ErrConsumed)
	must(t, done(b, 0, 1))
	wants(t, "after its result", b.Consume(take(b, 0, "n1"), aAgent, now), ErrConsumed)
}

// I8: only an allow is consumed.
func TestOnlyAnAllowIsConsumed(t *testing.T) {
	for _, s := range []State{Denied, Expired, Withdrawn, Revoked, Lapsed} {
		b := batchOf(t, Allow)
		open(t, b, "h", now)
		b.Calls[0].State = s
		wants(t, string(s), b.Consume(take(b, 0, "n"), aAgent, now), ErrSettled)
	}
}

// D2: nothing runs while one is pending. D5: they run in their order.
func TestBatchRunsInOrderWhenAllAreDecided(t *testing.T) {
	b := batchOf(t, Allow, Ask, Allow)
	wants(t, "opening", b.Open(Hold{Holder: "h"}, aAgent, now), ErrWaiting)
	must(t, b.Decide("cal_1", Decision{State: Denied, By: mira, At: now, Digest: b.Calls[1].Digest}))
	open(t, b, "h", now)
	wants(t, "the third first", b.Consume(take(b, 2, "n"), aAgent, now), ErrOrder)
	consume(t, b, 0)
	wants(t, "a denied one", b.Consume(take(b, 1, "n"), aAgent, now), ErrSettled)
	consume(t, b, 2)
	if got := b.Calls[1].Answer(); got != UserDenied {
		t.Errorf("a denied call says %q", got)
	}
	wants(t, "finishing early (D6)", b.Finish(1, false, aAgent, now), ErrUnfinished)
	must(t, done(b, 0, 1))
	must(t, done(b, 2, 1))
	must(t, b.Finish(1, false, aAgent, now))
	must(t, b.Finish(1, false, aAgent, now)) // the answer was lost
}

// D4, REL-11, trap 20: a phase opens once; whoever comes later waits for the
// lease, and then has a higher fence.
func TestHolderIsReplacedOnlyAfterItsLease(t *testing.T) {
	b := batchOf(t, Allow, Allow)
	open(t, b, "h1", now)
	resume := b.Opened.Resume
	consume(t, b, 0)
	later := b.Opened.Until
	wants(t, "within the lease", b.Open(Hold{Holder: "h2"}, aAgent, later.Add(-1)), ErrOpened)
	open(t, b, "h2", later)
	if o := b.Opened; o.Fence != 2 || o.Resume != resume {
		t.Errorf("fence %d, resume %s, want 2 and %s", o.Fence, o.Resume, resume)
	}
	if o := b.Calls[0].Outcome; o == nil || o.Kind != Unknown {
		t.Errorf("what the first holder began is %+v, want unknown", o)
	}
	wants(t, "the first holder's report", done(b, 0, 1), ErrFenced)
	wants(t, "the first holder's next call", b.Consume(Take{Call: "cal_1", Fence: 1, Digest: b.Calls[1].Digest, Nonce: "n"}, aAgent, later), ErrFenced)
	wants(t, "running it again (REL-08)", b.Consume(take(b, 0, "n9"), aAgent, later), ErrConsumed)
	must(t, b.Consume(take(b, 1, "n"), aAgent, later))
	must(t, done(b, 1, 2))
	must(t, b.Finish(2, false, aAgent, later))
	wants(t, "a third holder", b.Open(Hold{Holder: "h3"}, aAgent, later.Add(MaxLease)), ErrFinished)
}

func TestRenewedLeaseKeepsTheBatch(t *testing.T) {
	b := batchOf(t, Allow)
	open(t, b, "h1", now)
	first := b.Opened.Until
	must(t, b.Renew(1, aAgent, first.Add(-time.Second)))
	wants(t, "after the first lease", b.Open(Hold{Holder: "h2"}, aAgent, first), ErrOpened)
	wants(t, "renewing with no fence", b.Renew(0, aAgent, now), ErrFenced)
}

// REL-08: the clock says unknown when a holder is gone; its own late word still
// counts, because nobody else runs it.
func TestUnreportedIsUnknown(t *testing.T) {
	b := batchOf(t, Allow)
	must(t, b.Open(Hold{Holder: "h", Consume: true}, aAgent, now))
	until := b.Opened.Until
	if due := b.Index().Due; !due.Equal(until) {
		t.Errorf("due at %v, want %v", due, until)
	}
	b.Tick(until.Add(-1))
	if b.Calls[0].Outcome != nil {
		t.Error("given up within the lease")
	}
	b.Tick(until)
	if o := b.Calls[0].Outcome; o == nil || o.Kind != Unknown {
		t.Fatalf("%+v", o)
	}
	wants(t, "another holder", b.Open(Hold{Holder: "h2", Consume: true}, aAgent, until), ErrOpened)
	must(t, done(b, 0, 1))
	if o := b.Calls[0].Outcome; o.Kind != Done {
		t.Errorf("after the late report: %s", o.Kind)
	}
	wants(t, "reporting something else", b.Report("cal_0", 1, Outcome{Kind: Failed, At: now}, aAgent), ErrConflict)
}

// D7: a permission found while running puts the batch back to waiting.
func TestPhases(t *testing.T) {
	b := batchOf(t, Allow, Allow)
	wants(t, "before it was opened", b.Extend(0, aAgent, now), ErrWaiting)
	open(t, b, "h1", now)
	consume(t, b, 0)
	must(t, b.Extend(1, aAgent, now))
	propose(t, b, Ask)
	wants(t, "running on", b.Consume(take(b, 1, "n"), aAgent, now), ErrWaiting)
	wants(t, "extending twice", b.Extend(1, aAgent, now), ErrWaiting)
	wants(t, "opening", b.Open(Hold{Holder: "h1"}, aAgent, now), ErrWaiting)
	days := now.Add(72 * time.Hour)
	b.Tick(days)
	if b.Calls[0].Outcome != nil {
		t.Error("given up while a person thinks")
	}
	must(t, b.Decide("cal_2", Decision{State: Allowed, By: mira, At: days, Digest: b.Calls[2].Digest}))
	wants(t, "somebody else", b.Open(Hold{Holder: "h2"}, aAgent, days), ErrOpened)
	open(t, b, "h1", days)
	if o := b.Opened; o.Fence != 2 || o.Phase != 2 {
		t.Errorf("fence %d, phase %d", o.Fence, o.Phase)
	}
	must(t, b.Consume(take(b, 2, "n2"), aAgent, days))
	must(t, b.Consume(take(b, 1, "n1"), aAgent, days))
	for i := range b.Calls {
		must(t, done(b, i, 2))
	}
	must(t, b.Finish(2, false, aAgent, days))
}

func TestAbandon(t *testing.T) {
	b := batchOf(t, Allow, Allow, Allow)
	open(t, b, "h", now)
	consume(t, b, 0)
	consume(t, b, 1)
	must(t, done(b, 0, 1))
	must(t, b.Finish(1, true, aAgent, now))
	if b.Calls[0].Outcome.Kind != Done || b.Calls[1].Outcome.Kind != Unknown || b.Calls[2].State != Withdrawn {
		t.Errorf("%+v", b.Calls)
	}
	if over := b.Index().Over; !over.Equal(now) {
		t.Errorf("over since %v", over)
	}
}

// REL-07: what nobody comes for lapses.
func TestPermitsLapse(t *testing.T) {
	b := batchOf(t, Allow)
	end := now.Add(PermitLife)
	if x := b.Index(); !x.Permits || !x.Due.Equal(end) || !x.Over.IsZero() {
		t.Errorf("index %+v", x)
	}
	b.Tick(end.Add(-1))
	if b.Calls[0].State != Allowed {
		t.Errorf("too early: %s", b.Calls[0].State)
	}
	b.Tick(end)
	if c := b.Calls[0]; c.State != Lapsed || c.Answer() == "" || b.Index().Permits {
		t.Errorf("%s, %q", c.State, c.Answer())
	}
}

// REL-24: a copy of the past revives nothing.
func TestRestoredBatchAllowsNothing(t *testing.T) {
	b := batchOf(t, Allow, Allow)
	open(t, b, "h", now)
	consume(t, b, 0)
	must(t, b.Extend(1, aAgent, now))
	propose(t, b, Ask)
	b.Restore(mira, now)
	if b.Calls[0].Outcome.Kind != Unknown || b.Calls[1].State != Lapsed || b.Calls[2].State != Withdrawn || b.Index().Permits {
		t.Errorf("%+v", b.Calls)
	}
}

// Trap 12: what a person edited has to be shown and decided again.
func TestEdit(t *testing.T) {
	b, c := oneCall(t, Ask)
	shown := c.Digest
	wants(t, "on another digest", b.Edit(c.ID, Sum{}, []byte(`{}`), Verdict{Effect: Allow}, nil, mira, now), ErrChanged)
	wants(t, "what a rule denies", b.Edit(c.ID, shown, []byte(`{}`), Verdict{}, nil, mira, now), ErrInvalid)
	must(t, b.Edit(c.ID, shown, []byte(`{"command":"ls -l"}`), Verdict{Effect: Allow}, nil, mira, now))
	if c.State != Pending || c.Digest == shown || c.InputSum != SumOf(c.Input) {
		t.Errorf("%s, digest %s", c.State, c.Digest)
	}
	wants(t, "allowing what was shown before", b.Decide(c.ID, Decision{State: Allowed, By: mira, At: now, Digest: shown}), ErrChanged)
	must(t, b.Decide(c.ID, allow(c)))
	wants(t, "editing what is decided", b.Edit(c.ID, c.Digest, []byte(`{}`), Verdict{Effect: Ask}, nil, mira, now), ErrSettled)
}

// S3, S8: the ways to say no, and how a plan is carried out.
func TestDecisionsThatMakeSense(t *testing.T) {
	terms := &Terms{Scope: ForSession, Match: "Bash(ls)"}
	for name, tt := range map[string]struct {
		kind Kind
		d    Decision
		want error
	}{
		"deny and interrupt":         {Permission, Decision{State: Denied, Interrupt: true}, nil},
		"reply":                      {Permission, Decision{State: Denied, Reply: true, Note: "use make"}, nil},
		"reply without a text":       {Permission, Decision{State: Denied, Reply: true}, ErrInvalid},
		"reply and interrupt":        {Permission, Decision{State: Denied, Reply: true, Note: "x", Interrupt: true}, ErrInvalid},
		"allow and interrupt":        {Permission, Decision{State: Allowed, Interrupt: true}, ErrInvalid},
		"a plan, with the context":   {Plan, Decision{State: Allowed, Choice: StartEditing}, nil},
		"a plan, from scratch":       {Plan, Decision{State: Allowed, Choice: ClearContextAndStart}, nil},
		"a plan, bypassing":          {Plan, Decision{State: Allowed, Choice: "bypass"}, ErrInvalid},
		"a choice for a command":     {Permission, Decision{State: Allowed, Choice: StartEditing}, ErrInvalid},
		"a choice with a denial":     {Plan, Decision{State: Denied, Choice: StartEditing}, ErrInvalid},
		"remember":                   {Permission, Decision{State: Allowed, Remember: terms}, nil},
		"remember a plan":            {Plan, Decision{State: Allowed, Remember: terms}, ErrInvalid},
		"remember a denial":          {Permission, Decision{State: Denied, Remember: terms}, ErrInvalid},
		"remember once":              {Permission, Decision{State: Allowed, Remember: &Terms{Scope: Once, Match: "x"}}, ErrInvalid},
		"remember nothing":           {Permission, Decision{State: Allowed, Remember: &Terms{Scope: Always}}, ErrInvalid},
		"remember for a minus hour":  {Permission, Decision{State: Allowed, Remember: &Terms{Scope: Always, Match: "x", For: -1}}, ErrInvalid},
		"remember for minus one use": {Permission, Decision{State: Allowed, Remember: &Terms{Scope: Always, Match: "x", Uses: -1}}, ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			b, c := oneCall(t, Ask)
			c.Kind = tt.kind
			c.Digest = b.digest(c)
			tt.d.By, tt.d.At, tt.d.Digest = mira, now, c.Digest
			wants(t, "decide", b.Decide(c.ID, tt.d), tt.want)
		})
	}
}

// What a host ran by itself is used up: nobody can consume it afterwards.
func TestRanIsConsumed(t *testing.T) {
	b := batchOf(t, Allow)
	must(t, b.Ran("cal_0", true, aAgent, now))
	must(t, b.Open(Hold{Holder: "h"}, aAgent, now))
	wants(t, "consuming it", b.Consume(take(b, 0, "n"), aAgent, now), ErrConsumed)
}

// Only the decision that makes a phase ready gives its holder a new lease:
// what happens to settled calls later must not keep others out.
func TestLaterChangesRenewNoLease(t *testing.T) {
	b := batchOf(t, Allow, Allow)
	open(t, b, "h1", now)
	must(t, b.Extend(1, aAgent, now))
	propose(t, b, Ask)
	must(t, b.Decide("cal_2", Decision{State: Allowed, By: mira, At: now, Digest: b.Calls[2].Digest}))
	until := b.Opened.Until
	b.Tick(now.Add(PermitLife))
	if !b.Opened.Until.Equal(until) {
		t.Errorf("a lapse moved the lease from %v to %v", until, b.Opened.Until)
	}
	must(t, b.Open(Hold{Holder: "h2"}, aAgent, now.Add(PermitLife+time.Second)))
}
