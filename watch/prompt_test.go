package watch

import (
	"maps"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
)

// text is the keys that type a text.
func text(s string) (out []Key) {
	for _, r := range s {
		out = append(out, Key(string(r)))
	}
	return out
}

func TestDenyingWithWords(t *testing.T) {
	t.Parallel()
	for key, want := range map[Key]api.Decision{
		"D": {State: "denied", Note: "not today"},
		"r": {State: "denied", Note: "not today", Reply: true},
		"X": {State: "denied", Note: "not today", Interrupt: true},
	} {
		d := newDesk(t, 120, 24, bash("cal_1", "git push"))
		d.keys(key)
		d.keys(text("not todax")...)
		d.keys(KeyBackspace, "y")
		d.sees("> not today", "│ git push")
		want.Digest = "sum of git push"
		if got := d.decided(d.keys(KeyEnter)).Decision; got.Note != want.Note || got.Reply != want.Reply || got.Interrupt != want.Interrupt || got.Digest != want.Digest || got.State != want.State {
			t.Errorf("%s: %+v", key, got)
		}
	}
	d := newDesk(t, 120, 24, bash("cal_1", "git push"))
	if wants := d.keys("D", KeyEnter); len(wants) > 0 {
		t.Error("a denial with words, without words")
	}
	d.m.Paste("a\r\nb")
	d.sees("> a\n> b")
	if wants := d.keys(KeyEscape); len(wants) > 0 || d.m.prompt != nil {
		t.Error("escape does not go back")
	}
	d.m.Paste("a")
	if d.m.busy || d.m.prompt != nil {
		t.Error("a pasted text pressed keys")
	}
}

func TestARuleIsShownAndConfirmed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 120, 24, bash("cal_1", "git push"))
	d.keys("p")
	d.sees("This can't be remembered: it is none.")
	d.keys("A")
	d.sees("nothing to remember")
	d.keys("s")
	d.sees("Allow, and remember for this session: Bash(git push:*)", "Also allows: git push --force", "(1 of 2)")
	if wants := d.keys(KeyEnter); len(wants) > 0 {
		t.Error("made a rule without a word")
	}
	d.keys("y")
	if wants := d.m.Press(KeyTab, d.now); len(wants) > 0 {
		t.Error("Tab decided")
	}
	d.sees("for this session: Bash(git push)\n", "(2 of 2)")
	d.keys("y")
	if wants := d.m.Press(KeyTab, d.now); len(wants) > 0 || d.m.prompt.text != "" {
		t.Error("a word for one rule counts for another")
	}
	d.m.Press("y", d.now)
	if wants := d.m.Press(KeyEnter, d.now); len(wants) > 0 {
		t.Error("a rule was made that was not in sight for long enough")
	}
	got := d.decided(d.keys(KeyEnter)).Decision
	if got.Remember == nil || *got.Remember != (api.Terms{Scope: "session", Match: "Bash(git push:*)"}) || got.State != "allowed" || got.Digest == "" {
		t.Errorf("%+v", got)
	}

	long := bash("cal_1", "git push")
	long.Remember[0].Offers = []api.Offer{{Match: "Bash(" + strings.Repeat("x", 4000) + ")"}}
	d = newDesk(t, 120, 24, long)
	d.keys("s")
	d.sees("Make this window larger for that")
}

func TestWhatIsGraveNeedsAWord(t *testing.T) {
	t.Parallel()
	for name, touches := range map[string][]api.Touch{
		"web-01.example.org": {{Does: "net", What: "web-01.example.org"}, {Does: "read", What: "/srv/.env", Secret: true}},
		"sudo":               {{Does: "privilege", What: "sudo"}},
		"x":                  {{Does: "delete", What: "/etc/x", Outside: true}},
		"allow":              {{Does: "delete", What: "/etc/x y", Outside: true}},
	} {
		d := newDesk(t, 120, 24, bash("cal_1", "do it", touches...))
		if wants := d.keys("a", KeyEnter); len(wants) > 0 {
			t.Errorf("%s: allowed with one key", name)
		}
		d.sees("Type " + name + " to allow it once.")
		d.keys(text(name)...)
		d.decided(d.keys(KeyEnter))

		d = newDesk(t, 120, 24, bash("cal_1", "do it", touches...))
		d.keys("s", "y")
		if wants := d.keys(KeyEnter); len(wants) > 0 {
			t.Errorf("%s: remembered with one key", name)
		}
	}
}

func TestQuestionsAndPlans(t *testing.T) {
	t.Parallel()
	ask := bash("cal_1", "x")
	ask.Kind, ask.Tool = "question", "AskUserQuestion"
	ask.Card = api.Card{Says: "Asks you 2 questions", Blocks: []api.Block{{Kind: "questions", Questions: []api.Question{
		{Key: "Which\x1b?", Question: "Which⟨ESC⟩?", Options: []api.Option{{Value: "a", Label: "a"}, {Value: "b", Label: "b", Description: "one\n  3 c"}}},
		{Key: "How?", Question: "How?", Multi: true, Options: []api.Option{{Value: "fast", Label: "fast"}, {Value: "well", Label: "well"}}},
	}}}}
	d := newDesk(t, 80, 30, ask)
	d.sees("┆ Which⟨ESC⟩?", "  2 b: one⟨LF⟩  3 c", "choose any number")
	if wants := d.keys("s"); len(wants) > 0 || d.m.prompt != nil {
		t.Error("a question was remembered")
	}
	d.keys("a", "2", KeyEnter)
	d.sees("Question 2 of 2")
	d.keys(text("2, 1")...)
	got := d.decided(d.keys(KeyEnter)).Decision
	if want := map[string]string{"Which\x1b?": "b", "How?": "fast, well"}; got.State != "allowed" || !maps.Equal(got.Answers, want) {
		t.Errorf("%+v", got)
	}
	if got := chosen(api.Question{Options: []api.Option{{Value: "a"}, {Value: "b"}}}, "1 2"); got != "1 2" {
		t.Errorf("two answers to one question: %q", got)
	}

	plan := bash("cal_2", "x")
	plan.Kind = "plan"
	for key, choice := range map[Key]string{"a": "startEditing", "c": "clearContextAndStart"} {
		if got := newDesk(t, 120, 24, plan); got.decided(got.keys(key)).Decision.Choice != choice {
			t.Errorf("%s does not %s", key, choice)
		}
	}
	if wants := newDesk(t, 120, 24, bash("cal_1", "x")).keys("c"); len(wants) > 0 {
		t.Error("c is for plans")
	}
}

func TestEditingNeedsAnotherLook(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 120, 24, bash("cal_1", "git push"))
	wants := d.keys("e")
	if len(wants) != 1 {
		t.Fatalf("%v", wants)
	}
	e, ok := wants[0].(Edit)
	if !ok {
		t.Fatalf("%T", wants[0])
	}
	after := bash("cal_1", "git push --dry-run")
	after.Edited = &api.Edited{By: api.Actor{Name: "Mira"}}
	d.m.Edited(e.Call, after, nil, d.now)
	d.sees("Saved. It still waits", "Edited by Mira", "--dry-run")
	if wants := d.m.Press("a", d.now.Add(armTime-1)); len(wants) > 0 {
		t.Error("allowed unseen")
	}
}

func TestHelpNamesEveryKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 120, 24, bash("cal_1", "git push"))
	d.keys("?")
	for key, a := range acts {
		d.sees(string(key) + strings.Repeat(" ", 10-len(key)) + strings.Fields(a.does)[0])
	}
	if wants := d.keys("a"); len(wants) > 0 {
		t.Error("a key decided behind the help")
	}
	if wants := d.keys("q"); len(wants) != 1 {
		t.Error("q does not quit")
	}
}
