package notify

import (
	"errors"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

// pressed is a rig whose phone has buttons, with a call that was told.
func pressed(t *testing.T, fn func(t *testing.T, r *rig, call string, n Notice)) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Public, r.box.Targets[0].Buttons = "https://gate.example", true
		r.start(r.box)
		call := r.ask("Write")
		pass(time.Second)
		fn(t, r, call, r.phone.last())
	})
}

func (r *rig) press(secret string, want error) {
	r.t.Helper()
	if _, err := r.box.Press(r.t.Context(), r.gate, secret); !errors.Is(err, want) {
		r.t.Errorf("pressed: %v, want %v", err, want)
	}
}

func (r *rig) state(call string, want gatelatch.State) *gatelatch.Decision {
	r.t.Helper()
	l, err := r.person.Call(r.t.Context(), call)
	if err != nil || l.State != want {
		r.t.Fatalf("the call is %s, %v; want %s", l.State, err, want)
	}
	return l.Decided
}

// SEC-12
func TestAButtonDecidesOnceInThePersonsName(t *testing.T) {
	pressed(t, func(_ *testing.T, r *rig, call string, n Notice) {
		r.press(n.Allow, nil)
		if by := r.state(call, gatelatch.Allowed).By; by.Kind != gatelatch.PersonActor || by.Name != "Mira via ntfy" || by.ID != "ntfy:phone" {
			t.Errorf("decided by %+v", by)
		}
		r.press(n.Allow, gatelatch.ErrConflict)
		r.press(n.Deny, gatelatch.ErrConflict)
		r.state(call, gatelatch.Allowed)
	})
	pressed(t, func(_ *testing.T, r *rig, call string, n Notice) {
		r.press(n.Deny, nil)
		r.state(call, gatelatch.Denied)
	})
}

func TestButtonsThatDecideNothing(t *testing.T) {
	for name, fn := range map[string]func(r *rig, call string, n Notice) error{
		"decided elsewhere": func(r *rig, call string, _ Notice) error {
			r.decide(call, gatelatch.Denied)
			return gatelatch.ErrSettled
		},
		"changed since": func(r *rig, call string, _ Notice) error {
			l, err := r.person.Call(t.Context(), call)
			if err == nil {
				_, err = r.person.Edit(t.Context(), call, l.Digest, []byte(`{"command":"other"}`))
			}
			if err != nil {
				t.Fatal(err)
			}
			return gatelatch.ErrChanged
		},
		"too old": func(*rig, string, Notice) error {
			pass(buttonLife)
			return gatelatch.ErrForbidden
		},
		"a channel without buttons": func(r *rig, _ string, _ Notice) error {
			r.box.Targets[0].Buttons = false
			return gatelatch.ErrForbidden
		},
	} {
		t.Run(name, func(t *testing.T) {
			pressed(t, func(_ *testing.T, r *rig, call string, n Notice) {
				want := fn(r, call, n)
				r.press(n.Allow, want)
				if l, err := r.person.Call(r.t.Context(), call); err != nil || l.State == gatelatch.Allowed {
					r.t.Errorf("it is %s, %v", l.State, err)
				}
			})
		})
	}
	pressed(t, func(_ *testing.T, r *rig, call string, n Notice) {
		for _, forged := range []string{"", ".", "msg_1", n.ID, n.ID + ".", n.Allow + "x", n.Allow[:len(n.Allow)-1], "msg_x" + n.Allow} {
			r.press(forged, gatelatch.ErrNotFound)
		}
		r.state(call, gatelatch.Pending)
		r.press(n.Allow, nil)
	})
}

// The store keeps hashes only: who reads it can press nothing.
func TestSecretsOfButtonsAreNotKept(t *testing.T) {
	pressed(t, func(_ *testing.T, r *rig, _ string, n Notice) {
		m := r.messages()[0]
		if m.Allows != gatelatch.SumOf([]byte(n.Allow)) || m.Denies != gatelatch.SumOf([]byte(n.Deny)) {
			t.Errorf("kept %+v", m)
		}
	})
}

func TestWhoGetsNoAllowButton(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Targets[0].Buttons = true
		r.start(r.box)
		r.ask("Write")
		pass(time.Second)
		if n := r.phone.last(); n.Allow+n.Deny != "" {
			t.Errorf("without a public address: %+v", n)
		}
	})
	in(t, func(t *testing.T, r *rig) {
		r.box.Public, r.box.Targets[0].Buttons = "https://gate.example", true
		r.start(r.box)
		r.ask("Bash")
		pass(time.Second)
		if n := r.phone.last(); n.Risk != High || n.Allow != "" || n.Deny == "" {
			t.Errorf("a high risk: %+v", n)
		}
	})
}
