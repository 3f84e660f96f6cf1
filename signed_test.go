package gatelatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
)

var word = &gatelatch.Signature{Passkey: "key_p", Text: "what was signed", Sig: []byte{1}}

// An allow that needs a passkey's word is refused without it and waits on; a
// denial never needs one, nor what was decided already and is said again.
func TestAllowWithoutASignature(t *testing.T) {
	w := newQuickWorld(t)
	w.gate.Signs = func(c *gatelatch.Call, d gatelatch.Decision) bool { return c.Tool == "ask" || d.Remember != nil }
	person := w.gate.As(mira)
	decide := func(b *gatelatch.Batch, d gatelatch.Decision) error {
		d.Digest = b.Calls[0].Digest
		_, err := person.Decide(t.Context(), b.Calls[0].ID, d)
		return err
	}
	b, denied := w.propose(message("m1", "ask")), w.propose(message("m2", "ask"))
	for name, d := range map[string]gatelatch.Decision{
		"once": {State: gatelatch.Allowed}, "remembered": {State: gatelatch.Allowed, Remember: &gatelatch.Terms{Scope: gatelatch.Always, Match: "ask"}},
	} {
		if err := decide(b, d); !errors.Is(err, gatelatch.ErrUnsigned) || w.state(b.ID) != gatelatch.Pending {
			t.Errorf("%s, unsigned: %v, and the call is %s", name, err, w.state(b.ID))
		}
	}
	if gs, err := person.Grants(t.Context(), false, 10); err != nil || len(gs) != 0 {
		t.Errorf("it was remembered: %v, %v", gs, err)
	}
	if err := decide(denied, gatelatch.Decision{State: gatelatch.Denied}); err != nil {
		t.Errorf("a denial: %v", err)
	}
	if err := decide(b, gatelatch.Decision{State: gatelatch.Allowed, Signed: word}); err != nil {
		t.Fatal(err)
	}
	if err := decide(b, gatelatch.Decision{State: gatelatch.Allowed}); err != nil {
		t.Errorf("the same again, of which the answer was lost: %v", err)
	}
	es, err := person.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	signed := 0
	for _, e := range es {
		var body struct{ Signed *gatelatch.Signature }
		if e.Kind == gatelatch.CallDecided && json.Unmarshal(e.Body, &body) == nil && body.Signed != nil && body.Signed.Text == word.Text {
			signed++
		}
	}
	if signed != 1 {
		t.Errorf("%d decisions in the trail hold the signature, want 1", signed)
	}
}

// ruledMode is byTool whose rules give a mode.
type ruledMode struct {
	byTool
	mode gatelatch.Mode
}

func (m ruledMode) ModeOf(*gatelatch.Session) (gatelatch.Mode, string) { return m.mode, "" }

func TestModesThatLoosenNeedASignature(t *testing.T) {
	const plan, usual, edits, bypass = gatelatch.ModePlan, gatelatch.ModeDefault, gatelatch.ModeAcceptEdits, gatelatch.ModeBypass
	type terms = gatelatch.ModeTerms
	for name, tt := range map[string]struct {
		rules    gatelatch.Mode
		has      terms
		next     terms
		unsigned bool // is enough
	}{
		"stricter than usual":         {next: terms{Mode: plan}, unsigned: true},
		"as usual":                    {next: terms{Mode: usual}, unsigned: true},
		"edits":                       {next: terms{Mode: edits}},
		"bypass":                      {next: terms{Mode: bypass, For: time.Hour}},
		"out of plan":                 {has: terms{Mode: plan}, next: terms{Mode: usual}},
		"out of plan, to edits":       {has: terms{Mode: plan}, next: terms{Mode: edits}},
		"out of the rules' plan":      {rules: plan, next: terms{Mode: usual}},
		"the rules' own edits":        {rules: edits, next: terms{Mode: edits}, unsigned: true},
		"bypass ends":                 {has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: usual}, unsigned: true},
		"bypass, less":                {has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: bypass, For: time.Minute}, unsigned: true},
		"bypass, longer":              {has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: bypass, For: 2 * time.Hour}},
		"bypass, then edits for ever": {has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: edits}},
		"bypass that is over":         {has: terms{Mode: bypass, For: time.Second}, next: terms{Mode: bypass, For: time.Second}},
		"bypass to the rules' plan":   {rules: plan, has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: plan}, unsigned: true},
		"bypass past the rules' plan": {rules: plan, has: terms{Mode: bypass, For: time.Hour}, next: terms{Mode: usual}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newQuickWorldOf(t, ruledMode{mode: tt.rules})
				w.gate.Signs = func(*gatelatch.Call, gatelatch.Decision) bool { return true }
				w.from("s1", "/p", "m0")
				if tt.has.Mode != "" {
					tt.has.Signed = word
					w.mode(tt.has)
				}
				<-time.After(10 * time.Second)
				choose := func() error {
					_, err := w.gate.As(mira).SetMode(context.WithoutCancel(t.Context()), agentA.ID, "s1", tt.next)
					return err
				}
				if err := choose(); (err == nil) != tt.unsigned || err != nil && !errors.Is(err, gatelatch.ErrUnsigned) {
					t.Errorf("unsigned: %v", err)
				}
				tt.next.Signed = word
				if err := choose(); err != nil {
					t.Errorf("signed: %v", err)
				}
			})
		})
	}
}

func newQuickWorldOf(t *testing.T, p gatelatch.Policy) *world {
	w := newQuickWorld(t)
	w.stop()
	w.policy = p
	w.start()
	return w
}
