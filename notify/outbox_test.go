package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// in runs a test in virtual time.
func in(t *testing.T, fn func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) { fn(t, newRig(t, nil)) })
}

// pass lets time go by until all that follows is done.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestACallThatWaitsIsToldAndTakenBack(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box)
		r.ask("Read") // allowed by rule: nobody has to know
		call := r.ask("Write")
		pass(time.Second)
		r.want("asked Write")
		if n := r.phone.last(); n.Title != "Approval Needed: shop" || n.Text != "Tool 'Write' requires approval\nAgent: Claude Code\nProject: shop\nRisk: medium" ||
			n.Link != "http://127.0.0.1:7474/#"+call {
			t.Errorf("said %+v", n)
		}
		asked := r.phone.last().Thread
		r.decide(call, gatelatch.Denied)
		pass(time.Second)
		r.want("asked Write", "settled Write")
		if n := r.phone.last(); n.Thread != asked || n.Outcome != "denied" || n.By != "mira" || !strings.Contains(n.Text, "denied by mira") {
			t.Errorf("taken back with %+v", n)
		}
	})
}

// SEC-51: names only, whatever the kind of message.
func TestNoticesHoldNothingOfTheInput(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Rules = []Rule{{To: []string{"phone"}, Remind: time.Minute, Reminders: 1}}
		r.start(r.box)
		call := r.ask("Write")
		pass(2 * time.Minute)
		r.decide(call, gatelatch.Allowed)
		pass(time.Minute)
		r.want("asked Write", "reminder Write", "settled Write")
		for _, n := range r.phone.got {
			if strings.Contains(fmt.Sprintf("%+v", n), canary) {
				t.Errorf("%+v", n)
			}
		}
	})
}

func TestInputIsAnOptInAndMasked(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Targets[0].Input = true
		r.start(r.box)
		const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
		r.input = `{"command":"push --token ` + token + `"}`
		r.ask("Write")
		r.ask("tool-" + token)
		pass(time.Second)
		for _, n := range r.phone.got {
			if !strings.HasPrefix(n.Input, `{"command":"push --token `) || strings.Contains(fmt.Sprintf("%+v", n), token) {
				t.Errorf("told %+v", n)
			}
		}
		if len(r.phone.got) != 2 {
			t.Errorf("%d were told", len(r.phone.got))
		}
	})
}

func TestWhatIsDecidedFirstIsNotTold(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Rules = []Rule{{To: []string{"phone"}, After: time.Minute}}
		r.start(r.box)
		call := r.ask("Write")
		pass(30 * time.Second)
		r.decide(call, gatelatch.Allowed)
		pass(10 * time.Minute)
		r.want()
		if ms := r.messages(); len(ms) != 1 || ms[0].State != gatelatch.MessageDropped {
			t.Errorf("left %+v", ms)
		}
	})
}

// REL-14: bounded tries, further and further apart, and then the dead letter.
func TestFailuresAreTriedAgainAndEnd(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.phone.fails = func(int) error { return errors.New("no route") }
		missed := 0
		r.box.Missed = func(string) { missed++ }
		r.start(r.box)
		r.ask("Write")
		pass(2 * time.Hour)
		if missed != tries {
			t.Errorf("%d failures were counted", missed)
		}
		m := r.messages()[0]
		if m.State != gatelatch.MessageDead || m.Tries != tries || m.Error != "no route" || r.phone.tries != tries {
			t.Errorf("%d sends, %+v", r.phone.tries, m)
		}
		for i := range tries - 1 {
			gap, want := r.phone.at[i+1].Sub(r.phone.at[i]), min(longest, firstWait<<i)
			if gap < want/2 || gap > want*3/2+time.Second {
				t.Errorf("try %d came after %s, want about %s", i+2, gap, want)
			}
		}
	})
}

func TestAWeakChannelDeliversOnce(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.phone.fails = func(try int) error {
			if try < 3 {
				return errors.New("busy")
			}
			return nil
		}
		r.start(r.box)
		r.ask("Write")
		pass(time.Hour)
		r.want("asked Write")
	})
}

func TestPermanentErrorsAndPanicsAreNotTriedAgain(t *testing.T) {
	for name, fails := range map[string]func(int) error{
		"permanent": func(int) error { return permanent(errors.New("401")) },
		"panic":     func(int) error { panic("out of order") },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, r *rig) {
				r.phone.fails = fails
				r.start(r.box)
				r.ask("Write")
				pass(time.Hour)
				if m := r.messages()[0]; m.State != gatelatch.MessageDead || r.phone.tries != 1 {
					t.Errorf("%d sends, %+v", r.phone.tries, m)
				}
			})
		})
	}
}

func TestABusyServerIsGivenItsTime(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.phone.fails = func(try int) error {
			if try == 1 {
				return &BusyError{errors.New("429"), 5 * time.Minute}
			}
			return nil
		}
		r.start(r.box)
		r.ask("Write")
		pass(4 * time.Minute)
		r.want()
		pass(2 * time.Minute)
		r.want("asked Write")
	})
}

func TestRemindersEndWithTheirNumberOrTheCall(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.Rules = []Rule{{To: []string{"phone"}, Remind: 10 * time.Minute, Reminders: 2}}
		r.start(r.box)
		r.ask("Write")
		pass(2 * time.Hour)
		r.want("asked Write", "reminder Write", "reminder Write")
		call := r.ask("Edit")
		pass(15 * time.Minute)
		r.decide(call, gatelatch.Allowed)
		pass(time.Hour)
		r.want("asked Write", "reminder Write", "reminder Write", "asked Edit", "reminder Edit", "settled Edit")
	})
}

func TestRulesSayWhoAndWhen(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		quiet, err := ParseQuiet("22:00-07:00")
		if err != nil {
			t.Fatal(err)
		}
		mail := &recorder{}
		r.box.Targets = append(r.box.Targets, &Target{Channel: mail, Name: "mail", Type: "email"})
		r.box.Rules = []Rule{
			{Tool: "Edit", To: nil},
			{Risk: []Risk{High}, To: []string{"phone", "mail"}},
			{Project: "*/shop", Agent: "Claude*", To: []string{"mail"}, Quiet: quiet},
		}
		now := time.Now()
		pass(time.Date(now.Year(), now.Month(), now.Day(), 23, 0, 0, 0, time.Local).Sub(now)) // into the quiet
		r.start(r.box)
		for _, tool := range []string{"Edit", "Bash", "Write"} {
			r.ask(tool)
		}
		pass(time.Hour)
		r.want("asked Bash")
		if got := mail.kinds(); len(got) != 1 || got[0] != "asked Bash" {
			t.Errorf("mail at night: %q", got)
		}
		pass(7*time.Hour + time.Minute)
		if got := mail.kinds(); len(got) != 2 || got[1] != "asked Write" {
			t.Errorf("mail in the morning: %q", got)
		}
	})
}

func TestWhoLooksAtThePageIsToldLater(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.box.PageDelay, r.box.Looking = time.Minute, func() bool { return true }
		r.start(r.box)
		r.ask("Write")
		pass(50 * time.Second)
		r.want()
		pass(20 * time.Second)
		r.want("asked Write")
	})
}

// Two gateways over one store say everything once.
func TestTwoGatewaysSendOnce(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box, r.another())
		var want []string
		for range 15 {
			r.ask("Write")
			want = append(want, "asked Write")
		}
		pass(5 * time.Minute)
		r.want(want...)
	})
}

// A gateway that dies with a message leaves it to the next.
func TestAClaimEndsWithItsLease(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		dead := r.another()
		dead.holder = "box_dead"
		dead.rates, dead.busy = map[share]*bucket{}, map[string]int{}
		r.ask("Write")
		if _, err := dead.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out, _, err := dead.take(t.Context()); err != nil || len(out) != 1 {
			t.Fatalf("%d claimed, %v", len(out), err)
		}
		r.start(r.box)
		pass(lease - time.Second)
		r.want()
		pass(2 * time.Second)
		r.want("asked Write")
	})
}

// What happened while no gateway ran is told by the next one, and what was told
// before is not told again.
func TestARestartForgetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(memory.Options{})
		r := newRig(t, store)
		ctx, stop := context.WithCancel(t.Context())
		first := r.ask("Write") // before there was any outbox
		ended := make(chan struct{})
		go func() { defer close(ended); r.box.Run(ctx) }()
		pass(time.Second)
		stop()
		<-ended
		r.ask("Edit")
		r.decide(first, gatelatch.Allowed)
		again := newRig(t, store)
		again.phone, again.box.Targets = r.phone, r.box.Targets
		again.start(again.box)
		pass(time.Minute)
		got := r.phone.kinds()
		if len(got) != 3 || got[0] != "asked Write" || !strings.Contains(strings.Join(got[1:], ","), "asked Edit") || !strings.Contains(strings.Join(got[1:], ","), "settled Write") {
			t.Errorf("sent %q", got)
		}
	})
}

func TestAnAgentThatAsksWithoutEndIsSlowedDown(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box)
		for range 100 {
			r.ask("Write")
		}
		pass(10 * time.Minute)
		if n := len(r.phone.kinds()); n < burst+15 || n > burst+25 {
			t.Errorf("%d messages in ten minutes", n)
		}
	})
}

func TestOldMessagesAreForgotten(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box)
		r.decide(r.ask("Write"), gatelatch.Denied)
		r.ask("Write")
		pass(time.Minute)
		if len(r.messages()) == 0 {
			t.Fatal("nothing was told")
		}
		pass(keep + 2*time.Hour)
		if ms := r.messages(); len(ms) != 0 {
			t.Errorf("%d are left", len(ms))
		}
	})
}

func TestAnAgentThatAsksWithoutEndDelaysNobodyElse(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box)
		for range 100 {
			r.ask("Write")
		}
		pass(time.Minute)
		r.name = "s2" // of the same key
		r.ask("Edit")
		r.agent = r.gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_b", Name: "other"})
		r.ask("Glob")
		pass(10 * time.Second)
		for _, want := range []string{"asked Edit", "asked Glob"} {
			if got := r.phone.kinds(); !slices.Contains(got, want) {
				t.Errorf("sent %d, and not %q", len(got), want)
			}
		}
	})
}

// A session is only a name.
func TestInventedSessionsAreSlowedDownTogether(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start(r.box)
		for i := range 300 {
			r.name = fmt.Sprint("s", i)
			r.ask("Write")
		}
		pass(5 * time.Minute)
		if n, each := len(r.phone.kinds()), together*int(5*time.Minute/drip); n < together*burst+each-5 || n > together*burst+each+5 {
			t.Errorf("%d messages in five minutes", n)
		}
		pass(time.Hour)
		if n := len(r.phone.kinds()); n != 300 {
			t.Errorf("%d in all", n)
		}
		pass(time.Hour)
		r.ask("Write")
		pass(time.Minute)
		if n := len(r.box.rates); n > 2 {
			t.Errorf("%d rates are kept", n)
		}
	})
}
