package gatelatch

import (
	"errors"
	"testing"
	"time"
)

var (
	now    = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	aAgent = Actor{Kind: AgentActor, ID: "key_a"}
	mira   = Actor{Kind: PersonActor, ID: "key_m", Name: "mira"}
)

func oneCall(t *testing.T, effect Effect) (*Batch, *Call) {
	t.Helper()
	b := &Batch{ID: "bat_1", Agent: aAgent.ID, Session: "s", Message: "m"}
	c := &Call{ID: "cal_1", Kind: Permission, Tool: "Bash", Input: []byte(`{"command":"ls"}`)}
	b.Propose(c, aAgent, now)
	if err := b.Judge(c, Verdict{Effect: effect}, now); err != nil {
		t.Fatal(err)
	}
	return b, c
}

func allow(c *Call) Decision { return Decision{State: Allowed, By: mira, At: now, Digest: c.Digest} }

// T5: the zero value of everything denies, and an unknown word is not settled.
func TestZeroValuesDeny(t *testing.T) {
	if Effect(0) != Deny || Effect(77).String() != "deny" {
		t.Error("an effect nobody filled in is not a denial")
	}
	for _, s := range []State{"", "pending", "Allowed", "approved"} {
		if s.Settled() {
			t.Errorf("state %q counts as settled", s)
		}
	}
	if new(Batch).Ready() {
		t.Error("an empty batch is ready")
	}
	b := &Batch{Calls: []*Call{{ID: "cal_1"}}}
	if b.Ready() {
		t.Error("a batch with a call that was never judged is ready")
	}
	if err := b.Open(Hold{Holder: "h"}, aAgent, now); !errors.Is(err, ErrWaiting) {
		t.Errorf("opening it: %v", err)
	}
	c, d := oneCall(t, Deny)
	if d.State != Denied || !c.Ready() {
		t.Errorf("a zero verdict left the call %s", d.State)
	}
}

func TestDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Decision)
		want   error
	}{
		"a decision needs a state (T5)":          {func(d *Decision) { d.State = "" }, ErrInvalid},
		"a person can't expire a call":           {func(d *Decision) { d.State = Expired }, ErrInvalid},
		"what was not shown is not decided (I6)": {func(d *Decision) { d.Digest = Sum{} }, ErrChanged},
		"answers are for questions":              {func(d *Decision) { d.Answers = map[string]string{"a": "b"} }, ErrInvalid},
		"an allow":                               {func(*Decision) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, c := oneCall(t, Ask)
			d := allow(c)
			tt.change(&d)
			if err := b.Decide(c.ID, d); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if got, want := c.State, map[bool]State{true: Allowed, false: Pending}[tt.want == nil]; got != want {
				t.Errorf("the call is %s, want %s", got, want)
			}
		})
	}
}

func TestSecondDecisionLearnsOfTheFirst(t *testing.T) {
	b, c := oneCall(t, Ask)
	if err := b.Decide(c.ID, allow(c)); err != nil {
		t.Fatal(err)
	}
	if err := b.Decide(c.ID, allow(c)); err != nil {
		t.Errorf("the same decision again, as after a lost answer: %v", err)
	}
	other := Decision{State: Denied, By: Actor{Kind: PersonActor, ID: "key_o", Name: "otto"}, At: now, Digest: c.Digest}
	err := b.Decide(c.ID, other)
	if !errors.Is(err, ErrSettled) || err.Error() != "call cal_1 was already decided by mira as allowed" {
		t.Errorf("another decision: %v", err)
	}
	if c.State != Allowed {
		t.Errorf("the call flipped to %s", c.State)
	}
}

// T7: judging again never flips what is settled.
func TestJudgeLeavesSettledCallsAlone(t *testing.T) {
	b, c := oneCall(t, Deny)
	if err := b.Judge(c, Verdict{Effect: Allow}, now); !errors.Is(err, ErrSettled) || c.State != Denied {
		t.Errorf("judged again: %v, state %s", err, c.State)
	}
}

// T6: without a deadline a call waits for ever.
func TestExpire(t *testing.T) {
	b, c := oneCall(t, Ask)
	if b.Tick(now.AddDate(100, 0, 0)); c.State != Pending {
		t.Errorf("a call without a deadline is %s", c.State)
	}
	c.Deadline = now.Add(time.Hour)
	if b.Tick(now); c.State != Pending {
		t.Errorf("before its deadline the call is %s", c.State)
	}
	late := allow(c)
	late.At = c.Deadline
	if err := b.Decide(c.ID, late); !errors.Is(err, ErrSettled) || c.State != Pending {
		t.Errorf("allowing at the deadline, before the clock came: %v, %s", err, c.State)
	}
	if b.Tick(c.Deadline); c.State != Expired {
		t.Errorf("at its deadline the call is %s", c.State)
	}
	if err := b.Decide(c.ID, allow(c)); !errors.Is(err, ErrSettled) {
		t.Errorf("allowing what expired: %v", err)
	}
}

// T10: two processes of one session never both hold a batch.
func TestOpenOnce(t *testing.T) {
	b, c := oneCall(t, Ask)
	if err := b.Open(Hold{Holder: "h1"}, aAgent, now); !errors.Is(err, ErrWaiting) {
		t.Errorf("opening what waits: %v", err)
	}
	if err := b.Decide(c.ID, allow(c)); err != nil {
		t.Fatal(err)
	}
	for holder, want := range map[string]error{"h1": nil, "": ErrInvalid} {
		if err := b.Open(Hold{Holder: holder}, aAgent, now); !errors.Is(err, want) {
			t.Errorf("holder %q: %v, want %v", holder, err, want)
		}
	}
	if err := b.Open(Hold{Holder: "h1"}, aAgent, now); err != nil {
		t.Errorf("the same holder again: %v", err)
	}
	if err := b.Open(Hold{Holder: "h2"}, aAgent, now); !errors.Is(err, ErrOpened) {
		t.Errorf("another holder: %v", err)
	}
}

func TestReportOfAWaitingCallWithdrawsIt(t *testing.T) {
	b, c := oneCall(t, Ask)
	if err := b.Ran(c.ID, true, aAgent, now); err != nil || c.State != Withdrawn || c.Outcome.Kind != Done {
		t.Errorf("%v, %s, %+v", err, c.State, c.Outcome)
	}
}

func TestDigestBindsEverythingShown(t *testing.T) {
	b, c := oneCall(t, Ask)
	first := b.digest(c)
	for name, change := range map[string]func(*Batch, *Call){
		"input":                                 func(_ *Batch, c *Call) { c.Input = []byte(`{"command":"rm"}`) },
		"tool":                                  func(_ *Batch, c *Call) { c.Tool = "bash" },
		"kind":                                  func(_ *Batch, c *Call) { c.Kind = Question },
		"dir":                                   func(_ *Batch, c *Call) { c.Dir = "/" },
		"session":                               func(b *Batch, _ *Call) { b.Session = "s2" },
		"agent":                                 func(b *Batch, _ *Call) { b.Agent = "key_b" },
		"a field that moves into its neighbour": func(b *Batch, c *Call) { b.Agent, b.Session = "key_as", "" },
	} {
		b2, c2 := *b, *c
		change(&b2, &c2)
		if b2.digest(&c2) == first {
			t.Errorf("%s: the digest stayed the same", name)
		}
	}
}

// S7: a question is answered whole, and nothing else is.
func TestAnswersMatchTheQuestions(t *testing.T) {
	for name, tt := range map[string]struct {
		answers map[string]string
		want    error
	}{
		"all":             {map[string]string{"Which?": "a", "How?": "b"}, nil},
		"none":            {nil, ErrInvalid},
		"some":            {map[string]string{"Which?": "a"}, ErrInvalid},
		"an empty one":    {map[string]string{"Which?": "a", "How?": ""}, ErrInvalid},
		"another's":       {map[string]string{"Which?": "a", "How?": "b", "Why?": "c"}, ErrInvalid},
		"for a denial":    {map[string]string{"Which?": "a", "How?": "b"}, ErrInvalid},
		"denied, without": {nil, nil},
	} {
		b := &Batch{ID: "b", Agent: aAgent.ID}
		c := &Call{ID: "c", Kind: Question, Tool: "AskUserQuestion", Input: []byte(`{"questions":[{"question":"Which?"},{"question":"How?"}]}`)}
		b.Propose(c, aAgent, now)
		if err := b.Judge(c, Verdict{Effect: Ask}, now); err != nil {
			t.Fatal(err)
		}
		d := allow(c)
		d.Answers = tt.answers
		if name == "for a denial" || name == "denied, without" {
			d.State = Denied
		}
		if err := b.Decide("c", d); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// What is consumed can't be taken back; before that, holding it does not help.
func TestRevoke(t *testing.T) {
	for name, begin := range map[string]func(*Batch) error{
		"nobody holds it": func(*Batch) error { return nil },
		"held":            func(b *Batch) error { return b.Open(Hold{Holder: "h"}, aAgent, now) },
	} {
		b, c := oneCall(t, Allow)
		if err := begin(b); err != nil {
			t.Fatal(err)
		}
		if b.Revoke(mira, "stop", now); c.State != Revoked || !b.Ready() {
			t.Errorf("%s: %s", name, c.State)
		}
	}
	b, c := oneCall(t, Allow)
	if err := b.Open(Hold{Holder: "h", Consume: true}, aAgent, now); err != nil {
		t.Fatal(err)
	}
	if b.Revoke(mira, "stop", now); c.State != Allowed {
		t.Errorf("what was consumed is %s", c.State)
	}
}
