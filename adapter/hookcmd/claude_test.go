package hookcmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

var person = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m", Name: "mira"}

// newGate is the real gate over the real store, with a few rules.
func newGate(t *testing.T, hooks ...gatelatch.Hook) (*gatelatch.Gate, func()) {
	t.Helper()
	rules, err := policy.Parse("policy.yaml", []byte("version: 1\nallow:\n  - Bash(pwd)\ndeny:\n  - rule: Bash(rm:*)\n    why: deletes\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "g.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := gatelatch.New(s, rules, hooks...)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { g.Run(ctx) })
	stop := sync.OnceFunc(func() { cancel(); wg.Wait(); _ = s.Close() })
	t.Cleanup(stop)
	return g, stop
}

func claude(g *gatelatch.Gate, holder string, attended bool) *Claude {
	return &Claude{Service: g.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_a"}), Attended: attended, Project: "/p", Holder: holder}
}

func read(t *testing.T, raw string) hookInput {
	t.Helper()
	in, err := readClaude([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func bash(command, id string) string {
	return strings.NewReplacer("touch x && y", command, "toolu_1", id).Replace(preBash)
}

// waiting returns the only call that waits.
func waiting(t *testing.T, g *gatelatch.Gate) *gatelatch.Call {
	t.Helper()
	p, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
	if err != nil || len(p.Calls) != 1 {
		t.Fatalf("%d calls wait, %v", len(p.Calls), err)
	}
	return p.Calls[0].Call
}

func decide(t *testing.T, g *gatelatch.Gate, d gatelatch.Decision) {
	t.Helper()
	c := waiting(t, g)
	d.Digest = c.Digest
	if _, err := g.As(person).Decide(t.Context(), c.ID, d); err != nil {
		t.Fatal(err)
	}
}

// answers runs one event while act happens.
func answers(t *testing.T, c *Claude, raw string, act func()) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		a, err := c.Answer(t.Context(), read(t, raw))
		if err != nil {
			t.Error(err)
		}
		got <- strings.TrimSpace(string(a.Out))
	}()
	synctest.Wait()
	act()
	return <-got
}

func TestAnswers(t *testing.T) {
	allow := gatelatch.Decision{State: gatelatch.Allowed}
	deny := gatelatch.Decision{State: gatelatch.Denied, Note: "not today"}
	for name, tt := range map[string]struct {
		raw      string
		attended bool
		decide   *gatelatch.Decision
		want     string
	}{
		"policy allows": {bash("pwd", "t1"), false, nil,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Allowed by policy in Gatelatch","updatedInput":{"command":"pwd","description":"Create x"}}}`},
		"policy denies": {bash("rm x", "t1"), true, nil,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Denied by policy: deletes"}}`},
		"nobody at the terminal: a person allows": {preBash, false, &allow,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Allowed by mira in Gatelatch","updatedInput":{"command":"touch x && y","description":"Create x"}}}`},
		"nobody at the terminal: a person denies": {preBash, false, &deny,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"User denied the request: not today"}}`},
		"dialog: a person allows": {permission(preBash), true, &allow,
			`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"touch x && y","description":"Create x"}},"hookEventName":"PermissionRequest"}}`},
		"dialog: a person denies": {permission(preBash), true, &deny,
			`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"User denied the request: not today"},"hookEventName":"PermissionRequest"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				got := answers(t, claude(g, "h1", tt.attended), tt.raw, func() {
					if tt.decide != nil {
						decide(t, g, *tt.decide)
					}
				})
				if got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				stop()
			})
		})
	}
}

// With a person at the terminal PreToolUse asks at once; the PermissionRequest
// that follows has no id and waits on the same call.
func TestDialogAndPageShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		got := answers(t, claude(g, "h1", true), preBash, func() {})
		if !strings.Contains(got, `"permissionDecision":"ask"`) {
			t.Fatalf("PreToolUse answered %s", got)
		}
		first := waiting(t, g)
		got = answers(t, claude(g, "h2", true), permission(preBash), func() {
			if c := waiting(t, g); c.ID != first.ID {
				t.Error("the dialog asked a second time")
			}
			decide(t, g, gatelatch.Decision{State: gatelatch.Allowed})
		})
		if !strings.Contains(got, `"behavior":"allow"`) {
			t.Errorf("PermissionRequest answered %s", got)
		}
		stop()
	})
}

// P11: what the dialog would offer to remember is offered on the page, as far
// as policy would remember it. PreToolUse, which asked first, has none of it.
func TestSuggestionsOfTheDialog(t *testing.T) {
	const suggestions = `"permission_suggestions":[{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[` +
		`{"toolName":"Bash","ruleContent":"git commit -m:*"},{"toolName":"Bash","ruleContent":"git:*"}]},{"type":"setMode","mode":"acceptEdits"}],`
	for form, want := range map[string]bool{suggestions: true, `"permission_suggestions":"none",`: false} {
		synctest.Test(t, func(t *testing.T) {
			g, stop := newGate(t)
			ask := bash("git commit -m x", "toolu_1")
			answers(t, claude(g, "h1", true), ask, func() {})
			answers(t, claude(g, "h2", true), strings.Replace(permission(ask), "{", "{"+form, 1), func() {
				p, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
				if err != nil || len(p.Calls) != 1 {
					t.Fatalf("%d calls wait, %v", len(p.Calls), err)
				}
				offered := map[string]bool{}
				for _, o := range g.As(person).Offers(p.Calls[0], gatelatch.ForSession) {
					offered[o.Match] = true
				}
				if offered["Bash(git commit -m:*)"] != want || offered["Bash(git:*)"] {
					t.Errorf("offered %v", offered)
				}
				decide(t, g, gatelatch.Decision{State: gatelatch.Allowed})
			})
			stop()
		})
	}
}

func TestAnswersToQuestions(t *testing.T) {
	raw := strings.NewReplacer(`"Bash"`, `"AskUserQuestion"`, `{"command":"touch x && y","description":"Create x"}`,
		`{"questions":[{"question":"Which database?","header":"DB","multiSelect":false,"options":[{"label":"Postgres","description":"SQL"},{"label":"Mongo","description":"docs"}]}]}`).Replace(preBash)
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		got := answers(t, claude(g, "h1", false), raw, func() {
			decide(t, g, gatelatch.Decision{State: gatelatch.Allowed, Answers: map[string]string{"Which database?": "Postgres"}})
		})
		if !strings.Contains(got, `"updatedInput":{"questions":[{`) || !strings.Contains(got, `"answers":{"Which database?":"Postgres"}`) {
			t.Errorf("got %s", got)
		}
		stop()
	})
}

// Trap 1, REL-30: the hook denies before the host stops listening, and leaves
// the question. An agent that goes away takes it back.
func TestGivingUp(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(context.Context) (context.Context, context.CancelFunc)
		want  string
		state gatelatch.State
	}{
		"the host's limit": {limited, "time limit", gatelatch.Pending},
		"the agent goes away": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, stop := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, stop)
			return ctx, stop
		}, "stopped asking", gatelatch.Withdrawn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				ctx, cancel := tt.end(t.Context())
				defer cancel()
				_, err := claude(g, "h1", false).Answer(ctx, read(t, preBash))
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("gave up with %v", err)
				}
				p, err := g.As(person).List(t.Context(), gatelatch.Query{Limit: 1, Pending: tt.state == gatelatch.Pending})
				if err != nil || len(p.Calls) != 1 || p.Calls[0].State != tt.state {
					t.Errorf("the call is not %s: %+v, %v", tt.state, p.Calls, err)
				}
				stop()
			})
		})
	}
}

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Hour, errLimit)
}

func TestReportWithdrawsWhatTheTerminalAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		answers(t, claude(g, "h1", true), preBash, func() {})
		c := claude(g, "h2", true)
		if _, err := c.Answer(t.Context(), read(t, strings.Replace(preBash, "PreToolUse", "PostToolUse", 1))); err != nil {
			t.Fatal(err)
		}
		p, err := g.As(person).List(t.Context(), gatelatch.Query{})
		if err != nil || len(p.Calls) != 1 || p.Calls[0].State != gatelatch.Withdrawn || p.Calls[0].Outcome.Kind != gatelatch.Done {
			t.Errorf("%+v, %v", p.Calls, err)
		}
		stop()
	})
}

func TestAnotherProcessCannotTakeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		answers(t, claude(g, "h1", false), bash("pwd", "t1"), func() {})
		if _, err := claude(g, "h2", false).Answer(t.Context(), read(t, bash("pwd", "t1"))); !errors.Is(err, gatelatch.ErrOpened) {
			t.Errorf("a second process got %v", err)
		}
		stop()
	})
}

func TestLastWords(t *testing.T) {
	lines := []any{
		map[string]any{"type": "user", "message": map[string]any{"content": "old prompt"}},
		map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "old words"}}}},
		map[string]any{"type": "user", "message": map[string]any{"content": "please touch x"}},
		map[string]any{"type": "user", "isMeta": true, "message": map[string]any{"content": "meta"}},
		map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "I will."}, map[string]any{"type": "tool_use"}}}},
		map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "content": "x"}}}},
	}
	var text strings.Builder
	for _, l := range lines {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(string(raw) + "\n")
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte("{broken\n"+text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := lastWords(path), (gatelatch.Context{Prompt: "please touch x", Said: "I will."}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, path := range []string{"", "/nonexistent", t.TempDir(), "/dev/zero"} {
		if got := lastWords(path); got != (gatelatch.Context{}) {
			t.Errorf("%q: %+v", path, got)
		}
	}
}

type swap struct{}

func (swap) Name() string { return "swap" }
func (swap) Before(context.Context, *gatelatch.Call, *gatelatch.Session) (gatelatch.HookResult, error) {
	return gatelatch.HookResult{Input: []byte(`{"command":"terraform plan"}`)}, nil
}

// The terminal's dialog would run the agent's own input, so an input that a
// hook replaced is never left to it.
func TestReplacedInputIsDecidedHere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t, swap{})
		got := answers(t, claude(g, "h1", true), preBash, func() { decide(t, g, gatelatch.Decision{State: gatelatch.Allowed}) })
		if !strings.Contains(got, `"permissionDecision":"allow"`) || !strings.Contains(got, `"updatedInput":{"command":"terraform plan"}`) {
			t.Errorf("got %s", got)
		}
		stop()
	})
}
