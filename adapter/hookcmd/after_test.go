package hookcmd

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatelatch/gatelatch"
)

// over is an event at the end of something, of a sub-agent if there is one.
func over(name, sub string) string {
	return `{"session_id":"s1","cwd":"/p","prompt_id":"p1","agent_id":"` + sub + `","hook_event_name":"` + name + `"}`
}

func ofSub(raw string) string {
	return strings.Replace(raw, `"prompt_id"`, `"agent_id":"a1","agent_type":"Explore","prompt_id"`, 1)
}

// What the terminal answered, or left, does not stay on the page.
func TestEventsThatEndATurn(t *testing.T) {
	for name, tt := range map[string]struct {
		event     string
		main, sub bool // still waits
	}{
		"prompt":        {over("UserPromptSubmit", ""), false, true},
		"stop":          {over("Stop", ""), false, true},
		"failed stop":   {over("StopFailure", ""), false, true},
		"sub-agent":     {over("SubagentStop", "a1"), true, false},
		"another one":   {over("SubagentStop", "a2"), true, true},
		"nobody knows":  {over("SubagentStop", ""), true, true},
		"end":           {over("SessionEnd", ""), false, false},
		"start":         {over("SessionStart", ""), true, true},
		"sub's start":   {over("SubagentStart", "a1"), true, true},
		"mode denied":   {strings.Replace(preBash, "PreToolUse", "PermissionDenied", 1), false, true},
		"other session": {strings.Replace(over("SessionEnd", ""), `"s1"`, `"s2"`, 1), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				answers(t, claude(g, "h1", true), preBash, func() {})
				answers(t, claude(g, "h2", true), ofSub(bash("touch sub", "toolu_2")), func() {})
				if got := answers(t, claude(g, "h3", true), tt.event, func() {}); got != "{}" {
					t.Errorf("answered %s", got)
				}
				p, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
				if err != nil {
					t.Fatal(err)
				}
				var main, sub bool
				for _, c := range p.Calls {
					main, sub = main || c.Batch.Subagent == "", sub || c.Batch.Subagent == "a1"
				}
				if main != tt.main || sub != tt.sub {
					t.Errorf("the main agent's waits: %v, the sub-agent's: %v; want %v, %v", main, sub, tt.main, tt.sub)
				}
			})
		})
	}
}

// Trap 15: a person sees which sub-agent asks.
func TestTrap15SubagentIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, stop := newGate(t)
		defer stop()
		answers(t, claude(g, "h1", true), ofSub(preBash), func() {})
		p, err := g.As(person).List(t.Context(), gatelatch.Query{Pending: true})
		if err != nil || len(p.Calls) != 1 || p.Calls[0].Batch.Context.Via != "Explore a1" {
			t.Errorf("%+v, %v", p.Calls, err)
		}
	})
}

// What a person changed is told, in the event that can tell it.
func TestModelIsToldOfAnEdit(t *testing.T) {
	edit := func(t *testing.T, g *gatelatch.Gate) {
		t.Helper()
		c := waiting(t, g)
		if _, err := g.As(person).Edit(t.Context(), c.ID, c.Digest, []byte(`{"command":"touch y"}`)); err != nil {
			t.Fatal(err)
		}
		decide(t, g, gatelatch.Decision{State: gatelatch.Allowed})
	}
	post := strings.Replace(bash("touch y", "toolu_1"), "PreToolUse", "PostToolUse", 1)
	for name, attended := range map[string]bool{"headless": false, "terminal": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				raw := preBash
				if attended {
					answers(t, claude(g, "h1", true), preBash, func() {})
					raw = permission(preBash)
				}
				got := answers(t, claude(g, "h2", attended), raw, func() { edit(t, g) })
				if !strings.Contains(got, `"updatedInput":{"command":"touch y"}`) {
					t.Fatalf("answered %s", got)
				}
				const told = `"additionalContext":"The user changed this call before allowing it.`
				after := answers(t, claude(g, "h3", attended), post, func() {})
				if strings.Contains(got, told) == attended || strings.Contains(after, told) != attended {
					t.Errorf("the answer: %s\nafter the call: %s", got, after)
				}
			})
		})
	}
}

// S3, D5: stop ends the turn, in each event's own way, also for what else waits
// in it. The words, which hosts keep from the agent, come with the next prompt.
func TestInterrupt(t *testing.T) {
	stopNow := gatelatch.Decision{State: gatelatch.Denied, Note: "wrong branch", Interrupt: true}
	for name, tt := range map[string]struct {
		raw, want string
	}{
		"PreToolUse":        {preBash, `{"continue":false,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"User denied the request: wrong branch"},"stopReason":"User denied the request: wrong branch"}`},
		"PermissionRequest": {permission(preBash), `{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true,"message":"User denied the request: wrong branch"},"hookEventName":"PermissionRequest"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				other := make(chan string, 1)
				got := answers(t, claude(g, "h1", false), tt.raw, func() {
					c := waiting(t, g)
					go func() {
						a, err := claude(g, "h2", false).Answer(t.Context(), read(t, bash("touch other", "toolu_2")))
						if err != nil {
							t.Error(err)
						}
						other <- string(a.Out)
					}()
					synctest.Wait()
					d := stopNow
					d.Digest = c.Digest
					if _, err := g.As(person).Decide(t.Context(), c.ID, d); err != nil {
						t.Fatal(err)
					}
				})
				if got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				if o := <-other; !strings.Contains(o, `"continue":false`) {
					t.Errorf("the other call of the turn: %s", o)
				}
				next := answers(t, claude(g, "h3", true), over("UserPromptSubmit", ""), func() {})
				if !strings.Contains(next, "The user stopped the turn before this and said: wrong branch") {
					t.Errorf("the next prompt: %s", next)
				}
			})
		})
	}
}

// V3, S8: a plan goes on in the mode that the person picked, edited or not.
func TestPlans(t *testing.T) {
	plan := strings.NewReplacer(`"Bash"`, `"ExitPlanMode"`, `{"command":"touch x && y","description":"Create x"}`, `{"plan":"1. do","planFilePath":"/p/plan.md"}`).Replace(preBash)
	for name, tt := range map[string]struct {
		d    gatelatch.Decision
		want string
	}{
		"approved":  {gatelatch.Decision{State: gatelatch.Allowed}, `"decision":{"behavior":"allow","updatedInput":{"plan":"1. do","planFilePath":"/p/plan.md"}}`},
		"with mode": {gatelatch.Decision{State: gatelatch.Allowed, Mode: gatelatch.ModeAcceptEdits}, `"updatedPermissions":[{"destination":"session","mode":"acceptEdits","type":"setMode"}]`},
		"refused":   {gatelatch.Decision{State: gatelatch.Denied, Reply: true, Note: "smaller steps"}, `"message":"The user did not allow this and answers: smaller steps"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, stop := newGate(t)
				defer stop()
				got := answers(t, claude(g, "h1", true), permission(plan), func() { decide(t, g, tt.d) })
				if !strings.Contains(got, tt.want) {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}
