package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/render"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// desk is a person at a model, with a clock that stands still between keys.
type desk struct {
	t   *testing.T
	m   *Model
	now time.Time
}

func newDesk(t *testing.T, width, height int, calls ...api.Call) *desk {
	t.Helper()
	d := &desk{t, NewModel(), start}
	d.m.Resize(width, height, d.now)
	d.m.Connected(true, d.now)
	d.m.Status(api.Status{Version: "test"})
	for _, c := range calls {
		d.m.Put(c, d.now)
	}
	return d
}

// keys presses each key after the card has been in sight for long enough.
func (d *desk) keys(keys ...Key) (wants []Want) {
	d.t.Helper()
	for _, k := range keys {
		d.now = d.now.Add(armTime)
		wants = append(wants, d.m.Press(k, d.now)...)
	}
	return wants
}

func (d *desk) screen() string {
	d.t.Helper()
	var b strings.Builder
	lines := d.m.View(d.now)
	if len(lines) != d.m.height {
		d.t.Errorf("%d lines on %d rows", len(lines), d.m.height)
	}
	for _, l := range lines {
		if l.width() > d.m.width {
			d.t.Errorf("a line of %d columns on %d: %s", l.width(), d.m.width, l)
		}
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func (d *desk) sees(texts ...string) {
	d.t.Helper()
	screen := d.screen()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			d.t.Errorf("%q is not on the screen:\n%s", text, screen)
		}
	}
}

// decided is the one decision among wants.
func (d *desk) decided(wants []Want) (out Decide) {
	d.t.Helper()
	n := 0
	for _, w := range wants {
		if x, ok := w.(Decide); ok {
			out, n = x, n+1
		}
	}
	if n != 1 {
		d.t.Fatalf("%d decisions in %v\n%s", n, wants, d.screen())
	}
	return out
}

// bash is a call as the gateway would show it.
func bash(id, command string, touches ...api.Touch) api.Call {
	input, _ := json.Marshal(map[string]string{"command": command})
	c := &gatelatch.Call{Tool: "Bash", Kind: gatelatch.Permission, Input: input}
	out := api.Call{
		ID: id, Kind: "permission", Tool: "Bash", State: pending, Digest: "sum of " + command, Created: start, Dir: "/srv/shop",
		Session: api.Session{ID: "s", Name: "Agent", Project: "/srv/shop"}, Batch: api.BatchInfo{Size: 1, Position: 1, Waiting: 1},
		Card: render.Call(c, nil), Claim: "just a test",
		Verdict:  api.Verdict{Effect: "ask", Reasons: []api.Reason{{Effect: "ask", Layer: "user", Rule: "Bash(git push:*)", Source: "policy.yaml:4", Message: "Pushes are asked about", Part: "git push"}}},
		Remember: []api.Remember{{Scope: "session", Match: "Bash(git push:*)", Offers: []api.Offer{{Match: "Bash(git push:*)", Also: []string{"git push --force"}}, {Match: "Bash(git push)"}}}, {Scope: "project", Refused: "it is none"}},
	}
	out.Card.Touches = touches
	return out
}

func TestTheCardShowsWhatThePageShows(t *testing.T) {
	t.Parallel()
	c := bash("cal_1", "git push && rm /etc/x\u202e", api.Touch{Does: "delete", What: "/etc/x"}, api.Touch{Does: "net", What: "example.org"}, api.Touch{Does: "repository"})
	c.Batch = api.BatchInfo{Size: 3, Position: 2, Waiting: 2}
	c.Context = api.Context{Prompt: "ship it", Via: "a helper", Said: "I will push."}
	c.Left = &start
	c.Bound = &api.Bound{Files: []api.BoundFile{{Path: "x.sh", Sum: "1"}, {Path: "y.sh"}}, Unbound: "code", Server: &api.Server{Name: "mail", Launch: "run mail"}}
	d := newDesk(t, 120, 50, c)
	d.sees("Runs a script that can't be read", "Bash · Agent · project /srv/shop · call 2 of 3 of a batch", "Reads none", "Deletes 1 path: /etc/x", "Network 1 place: example.org",
		"Also changes the repository.", "│ git push && rm /etc/x⟨U+202E⟩", "Asked because: git push Pushes are asked about", "[Bash(git push:*), user layer, policy.yaml:4]",
		"The agent says (not checked):\n┆ just a test", "┆ ship it", "┆ a helper", "┆ I will push.", "2 calls of this batch wait",
		"Nobody waits for the answer", "for x.sh as it is now", "for y.sh while there is no such file", "server mail as it is set up now: “run mail”", "Content not bound: It runs code")
	c.Card.Touches = []api.Touch{{Does: "unknown"}, {Does: "read", What: "a · Deletes none"}}
	d.m.Put(c, d.now)
	d.sees("Deletes not known", "Reads 1 path: “a · Deletes none”", "does what nobody can know")
}

func TestKeysCountOnlyOnWhatWasInSight(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, bash("cal_1", "git push"), bash("cal_2", "git pull"))
	early := func(what string) {
		t.Helper()
		if wants := d.m.Press("a", d.now.Add(armTime-1)); len(wants) > 0 {
			t.Errorf("%s: a key counted too early", what)
		}
		// Held down, a key never counts.
		for range 40 {
			d.now = d.now.Add(armTime / 10)
			if wants := d.m.Press("a", d.now); len(wants) > 0 {
				t.Fatalf("%s: a key that is held down decided", what)
			}
		}
	}
	early("a card that appeared")
	got := d.decided(d.keys("a"))
	if got.Call.ID != "cal_1" || got.Decision.State != "allowed" || got.Decision.Digest != "sum of git push" {
		t.Errorf("%+v", got)
	}
	if wants := d.keys("a"); len(wants) > 0 {
		t.Error("a second decision while one is under way")
	}
	after := got.Call
	after.State, after.Decided = "allowed", &api.Decided{State: "allowed", By: api.Actor{Name: "Mira"}}
	d.m.Decided(got, after, nil, d.now)
	d.sees("Allowed once: Runs “git push” (git push)", "> ", "│ git pull")
	early("the next card")

	edited := bash("cal_2", "git pull --rebase")
	d.now = d.now.Add(time.Hour)
	d.m.Put(edited, d.now)
	early("a card that changed")
	d.m.Resize(90, 24, d.now)
	early("a card on another screen")
	d.m.Press(KeyFocus, d.now)
	early("a person who was elsewhere")
	if got := d.decided(d.keys("d")); got.Decision.State != "denied" || got.Decision.Digest != edited.Digest {
		t.Errorf("%+v", got)
	}
}

func TestNewCallsMoveNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, bash("cal_1", "git push"))
	d.now = d.now.Add(armTime)
	before := strings.Split(d.screen(), "\n")
	for i := range 20 {
		d.m.Put(bash(fmt.Sprintf("cal_9%d", i), "git pull"), d.now)
	}
	after := strings.Split(d.screen(), "\n")
	for i, line := range before {
		if i != 0 && line != "" && line != after[i] {
			t.Errorf("row %d was %q and is %q", i, line, after[i])
		}
	}
	if !d.m.Rang() || d.m.Rang() {
		t.Error("the bell rings once for what came")
	}
	if got := d.decided(d.m.Press("d", d.now)); got.Call.ID != "cal_1" {
		t.Errorf("decided on %s", got.Call.ID)
	}
}

func TestOthersDecideFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 80, 24, bash("cal_1", "git push"), bash("cal_2", "git pull"))
	settled := bash("cal_1", "git push")
	settled.State, settled.Decided = "denied", &api.Decided{State: "denied", By: api.Actor{Kind: "person", Name: "Jon"}}
	d.m.Put(settled, d.now)
	d.sees("Already decided: denied by Jon.", "│ git push", "1 waiting")
	if wants := d.keys("a"); len(wants) > 0 {
		t.Error("a settled call was decided")
	}
	d.m.Put(bash("cal_1", "git push"), d.now)
	d.sees("This call is settled: denied by Jon.") // an answer that was overtaken changes nothing
	d.keys("j")
	if strings.Contains(d.screen(), "git push &&") || !strings.Contains(d.screen(), "│ git pull") {
		t.Errorf("a settled call stays when it is left:\n%s", d.screen())
	}
	sent := d.decided(d.keys("a"))
	d.m.Decided(sent, api.Call{}, &api.RemoteError{Status: 409, Body: api.Problem{Code: "settled", Decided: &api.Decided{State: "allowed", By: api.Actor{Name: "Jon"}}}}, d.now)
	d.sees("Already decided by Jon as allowed.")
	d.m.Decided(sent, api.Call{}, fmt.Errorf("%w: dial", client.ErrUnreachable), d.now)
	d.sees("Not sent: the gateway does not answer.")
	d.m.Decided(sent, api.Call{}, gatelatch.ErrChanged, d.now)
	d.sees("Not sent: the call changed.")
	d.m.Decided(sent, api.Call{}, errors.New("odd\x1b[2J"), d.now)
	d.sees("Not sent: odd⟨ESC⟩[2J.")
	d.m.Connected(false, d.now)
	d.sees("no connection, decisions are off")
	if wants := d.keys("d"); len(wants) > 0 {
		t.Error("decided without a connection")
	}
}

func TestAllowWaitsForWhatIsLong(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("echo line %d", i+1))
	}
	d := newDesk(t, 60, 24, bash("cal_1", strings.Join(lines, "\n")))
	d.sees("echo line 1\n", "lines between, not seen yet", "echo line 300\n", "Asked because", "Allow waits until")
	for _, k := range []Key{"a", "s"} {
		if wants := d.keys(k); len(wants) > 0 || d.m.prompt != nil {
			t.Errorf("%s works before all was seen", k)
		}
	}
	seen := map[string]bool{}
	pages := 0
	for ; !d.m.read && pages < 100; pages++ {
		for line := range strings.Lines(d.screen()) {
			seen[strings.TrimSpace(strings.TrimPrefix(line, "│ "))] = true
		}
		if wants := d.keys("a"); len(wants) > 0 {
			t.Fatal("allowed before all was seen")
		}
		d.keys(" ")
	}
	for _, line := range lines[:280] {
		if !seen[line] {
			t.Fatalf("%q was never on the screen, after %d pages", line, pages)
		}
	}
	d.m.Resize(40, 20, d.now) // what was read stays read
	if got := d.decided(d.keys("a")); got.Decision.State != "allowed" {
		t.Errorf("%+v", got)
	}
	d = newDesk(t, 60, 24, bash("cal_1", strings.Join(lines, "\n")))
	if got := d.decided(d.keys("d")); got.Decision.State != "denied" {
		t.Error("a denial waits for nothing")
	}
}

// Whatever the size, all lines of a call come by before it can be allowed.
func TestEveryLineComesByAtEverySize(t *testing.T) {
	t.Parallel()
	for height := leastHeight; height < 40; height++ {
		for _, width := range []int{leastWidth, 37, 80} {
			for _, n := range []int{1, 5, 13, 40} {
				var lines []string
				for i := range n {
					lines = append(lines, fmt.Sprintf("x%d;", i+1))
				}
				d := newDesk(t, width, height, bash("cal_1", strings.Join(lines, "\n")))
				all := d.screen()
				for i := 0; !d.m.read && i < 200; i++ {
					d.keys(" ")
					all += d.screen()
				}
				for _, line := range append(lines, "Asked because") {
					if !strings.Contains(all, line) {
						t.Fatalf("%dx%d: %q of %d lines was not seen", width, height, line, n)
					}
				}
				d.decided(d.keys("a"))
			}
		}
	}
}

func TestTooSmallAScreenDecidesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, leastWidth-1, 24, bash("cal_1", "git push"))
	d.sees("1 wait. Make this")
	for _, w := range d.keys("a", "d", "s", KeyEnter) {
		t.Errorf("wants %v on a screen where nobody can read", w)
	}
}
