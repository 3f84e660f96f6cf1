package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func at(s *Set, now time.Time) *Set {
	with := *s
	with.now = func() time.Time { return now }
	return &with
}

func chose(mode gatelatch.Mode) *gatelatch.Session {
	return &gatelatch.Session{Project: "/p", Chosen: gatelatch.ModeChoice{
		Mode: mode, Until: noon.Add(time.Hour), By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "k", Name: "Ada"},
	}}
}

func TestModes(t *testing.T) {
	t.Parallel()
	s := at(rules(t, "allow: [Read(./**), Bash(ls:*), Bash(touch:*), mcp__a__get, Write(./out/**), 'WebFetch(domain:a.b)']\nask: [Edit(./ask/**), Bash(curl:*)]\ndeny: [Edit(./deny/**), Bash(rm:*)]"), noon)
	edit := func(path string) *gatelatch.Call { return call("Edit", map[string]any{"file_path": path}) }
	question := call("AskUserQuestion", `{}`)
	question.Kind = gatelatch.Question
	for _, tt := range []struct {
		what                              string
		call                              *gatelatch.Call
		plan, normal, acceptEdits, bypass gatelatch.Effect
	}{
		{"a read that is allowed", call("Read", `{"file_path":"/p/a"}`), gatelatch.Allow, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"a read that is not", call("Read", `{"file_path":"/q/a"}`), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"a page", call("WebFetch", `{"url":"https://a.b"}`), gatelatch.Allow, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"a command that is allowed and reads", bash("ls"), gatelatch.Allow, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"a command that is allowed and writes", bash("touch x"), gatelatch.Ask, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"a command that reads and is not allowed", bash("cat x"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"a command that is not", bash("make"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"a compound command", bash("make && make test | tee log"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"a command that is asked", bash("curl x"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"a command that is denied", bash("make; rm x"), gatelatch.Deny, gatelatch.Deny, gatelatch.Deny, gatelatch.Deny},
		{"a command nobody can read", bash("make 'x"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"an odd field", call("Bash", `{"command":"make","env":{}}`), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"an edit inside", edit("/p/src/a"), gatelatch.Ask, gatelatch.Ask, gatelatch.Allow, gatelatch.Allow},
		{"an edit outside", edit("/q/a"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"an edit that dots lead outside", edit("/p/../q/a"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"an edit that is allowed", call("Write", `{"file_path":"/p/out/a"}`), gatelatch.Ask, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"an edit that is asked", edit("/p/ask/a"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"another tool's edit", call("Write", `{"file_path":"/p/deny/a"}`), gatelatch.Deny, gatelatch.Deny, gatelatch.Deny, gatelatch.Deny},
		{"a protected path", edit("/p/.git/config"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"hidden characters", edit("/p/a\u200b"), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"a path that is none", edit(""), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"an MCP tool", call("mcp__a__get", `{}`), gatelatch.Ask, gatelatch.Allow, gatelatch.Allow, gatelatch.Allow},
		{"another one", call("mcp__a__set", `{}`), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Allow},
		{"a tool nobody knows, with a protected path", call("Frob", `{"x":"/p/.git/x"}`), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"a question", question, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"leaving plan mode", call("ExitPlanMode", `{}`), gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		{"an input with two readings", call("Frob", `{"a":1,"A":1}`), gatelatch.Deny, gatelatch.Deny, gatelatch.Deny, gatelatch.Deny},
	} {
		for mode, want := range map[gatelatch.Mode]gatelatch.Effect{
			gatelatch.ModePlan: tt.plan, gatelatch.ModeDefault: tt.normal, gatelatch.ModeAcceptEdits: tt.acceptEdits, gatelatch.ModeBypass: tt.bypass,
			"odd": tt.normal, "": tt.normal,
		} {
			tt.call.Dir = "/p"
			v := s.Judge(t.Context(), tt.call, chose(mode), nil)
			if v.Effect != want {
				t.Errorf("%s, %s: got %s, want %s: %s", mode, tt.what, v.Effect, want, messages(v))
			}
			if byMode := v.Effect == gatelatch.Allow && tt.normal != gatelatch.Allow; (v.Mode == mode) != byMode && mode != "" {
				t.Errorf("%s, %s: the verdict's mode is %q", mode, tt.what, v.Mode)
			}
			if planned := chose(mode); true {
				planned.Mode = "plan"
				if got := s.Judge(t.Context(), tt.call, planned, nil); got.Effect != tt.plan {
					t.Errorf("%s, %s, the host plans: got %s", mode, tt.what, got.Effect)
				}
				planned.Chosen, planned.Mode = gatelatch.ModeChoice{}, "bypassPermissions"
				if got := s.Judge(t.Context(), tt.call, planned, nil); got.Effect != tt.normal {
					t.Errorf("%s: the host's word counts: got %s", tt.what, got.Effect)
				}
			}
		}
	}
}

func TestModesSayWhoChoseThem(t *testing.T) {
	t.Parallel()
	s := at(rules(t, ""), noon)
	v := s.Judge(t.Context(), call("X", `{}`), chose(gatelatch.ModeBypass), nil)
	if r := v.Reasons[0]; r.Layer != "session" || !strings.Contains(r.Message, "Ada") || !strings.HasSuffix(r.Message, "until 2030-01-01 13:00 UTC") {
		t.Errorf("got %+v", r)
	}
	if v := at(s, noon.Add(time.Hour)).Judge(t.Context(), call("X", `{}`), chose(gatelatch.ModeBypass), nil); v.Effect != gatelatch.Ask || v.Mode != "" {
		t.Errorf("after its end: got %s", v.Effect)
	}
	v = rules(t, "mode: bypassPermissions").Judge(t.Context(), call("X", `{}`), nil, nil)
	if r := v.Reasons[0]; v.Effect != gatelatch.Allow || r.Layer != "user" || r.Source != "policy.yaml:2" || v.Mode != "" {
		t.Errorf("of a file: got %+v", r)
	}
}

func TestModeOfFiles(t *testing.T) {
	t.Parallel()
	s := rules(t, "mode: bypassPermissions\nprojects:\n- {path: /p, mode: default}\n- {path: /p/q, mode: acceptEdits}\n- {path: /r, mode: plan}")
	for project, want := range map[string]gatelatch.Mode{
		"": gatelatch.ModeBypass, "/x": gatelatch.ModeBypass, "/p": gatelatch.ModeDefault, "/p/x": gatelatch.ModeDefault, "/p/q": gatelatch.ModeAcceptEdits, "/p/q/x": gatelatch.ModeAcceptEdits,
		"/r": gatelatch.ModePlan, "/R/x": gatelatch.ModePlan, "/P/q": gatelatch.ModeBypass,
	} {
		sess := &gatelatch.Session{Project: project}
		if got := s.modeFor(s.Read(call("X", `{}`), sess)); got.mode != want {
			t.Errorf("%s: got %s, want %s", project, got.mode, want)
		}
		sess.Chosen = gatelatch.ModeChoice{Mode: gatelatch.ModeAcceptEdits}
		if got := s.modeFor(s.Read(call("X", `{}`), sess)); got.mode != gatelatch.ModeAcceptEdits {
			t.Errorf("%s: a person's choice: got %s", project, got.mode)
		}
		sess.Mode = string(gatelatch.ModePlan)
		if got, source := s.ModeOf(sess); got != want || !strings.HasPrefix(source, "policy.yaml:") {
			t.Errorf("%s: without what was chosen and what the host says: got %s, %q", project, got, source)
		}
	}
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	calls := map[string]*gatelatch.Call{
		"edits": call("Write", `{"file_path":"/q/a"}`), "bash": bash("make | tee x"), "skills": call("Skill", `{"skill":"x"}`), "mcp": call("mcp__a__b", `{}`),
	}
	for on := range calls {
		s := rules(t, "skip: {"+on+": true}\nprojects:\n- {path: /p, skip: {"+on+": false}}")
		for name, c := range calls {
			want := gatelatch.Ask
			c.Dir = "/p"
			if name == on {
				want = gatelatch.Allow
			}
			if v := judge(t, s, c); v.Effect != want || want == gatelatch.Allow && v.Reasons[0].Source != "policy.yaml:2" {
				t.Errorf("skip %s: %s: got %s: %s", on, name, v.Effect, messages(v))
			}
			for _, project := range []string{"/p", "/P"} {
				if v := s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil); v.Effect != gatelatch.Ask {
					t.Errorf("skip %s, but not in %s: %s: got %s", on, project, name, v.Effect)
				}
			}
		}
	}
	all := rules(t, "skip: {edits: true, bash: true, skills: true, mcp: true}\nask: [Skill(x), mcp__a__c]\ndeny: [Bash(rm:*)]")
	for _, c := range []*gatelatch.Call{
		call("Skill", `{"skill":"x"}`), call("mcp__a__c", `{}`), bash("make; rm x"), bash("make 'x"), call("Read", `{"file_path":"/q"}`), call("Other", `{}`), call("Write", `{"file_path":"/q/.bashrc"}`), call("Write", `{}`),
	} {
		if v := judge(t, all, c); v.Effect == gatelatch.Allow {
			t.Errorf("%s %s: allowed: %s", c.Tool, c.Input, messages(v))
		}
	}
}

// O9: approval is needed if ask is always, or on-miss with an allow-list and the
// analysis failed or the list is not satisfied.
func TestExec(t *testing.T) {
	t.Parallel()
	for security, byAsk := range map[string]map[string][4]gatelatch.Effect{ // listed, other, compound, not readable
		"deny": {
			"off": {}, "on-miss": {}, "always": {},
		},
		"allowlist": {
			"off":     {gatelatch.Allow, gatelatch.Deny, gatelatch.Deny, gatelatch.Deny},
			"on-miss": {gatelatch.Allow, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
			"always":  {gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		},
		"full": {
			"off":     {gatelatch.Allow, gatelatch.Allow, gatelatch.Allow, gatelatch.Ask},
			"on-miss": {gatelatch.Allow, gatelatch.Allow, gatelatch.Allow, gatelatch.Ask},
			"always":  {gatelatch.Ask, gatelatch.Ask, gatelatch.Ask, gatelatch.Ask},
		},
	} {
		for ask, want := range byAsk {
			s := rules(t, "allow: ['Bash(ls:*)']\ndeny: ['Bash(rm:*)']\nexec: {security: "+security+", ask: "+ask+"}")
			for i, command := range []string{"ls -la", "make", "ls | make > x", "ls 'x"} {
				c := bash(command)
				c.Dir = "/p"
				if v := judge(t, s, c); v.Effect != want[i] {
					t.Errorf("security %s, ask %s: %s: got %s, want %s: %s", security, ask, command, v.Effect, want[i], messages(v))
				}
			}
			if v := judge(t, s, bash("make; rm x")); v.Effect != gatelatch.Deny {
				t.Errorf("security %s, ask %s: a denial: got %s", security, ask, v.Effect)
			}
			if v := judge(t, s, call("Other", `{}`)); v.Effect != gatelatch.Ask {
				t.Errorf("security %s, ask %s: another tool: got %s", security, ask, v.Effect)
			}
		}
	}
	s := rules(t, "exec: {security: allowlist, ask: 'off'}\nmode: bypassPermissions\nskip: {bash: true}")
	if v := judge(t, s, bash("make")); v.Effect != gatelatch.Deny {
		t.Errorf("a mode or a switch weakens exec: got %s", v.Effect)
	}
	if v := s.Judge(t.Context(), bash("ls"), session, granted(gatelatch.ForSession, "Bash(ls)")); v.Effect != gatelatch.Allow || v.Grant == "" {
		t.Errorf("what is remembered is on the list: got %s", v.Effect)
	}
}
