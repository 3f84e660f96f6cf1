package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func granted(scope gatelatch.Scope, matches ...string) []*gatelatch.Grant {
	var out []*gatelatch.Grant
	for i, match := range matches {
		out = append(out, &gatelatch.Grant{
			ID: fmt.Sprintf("g%d", i), Match: match, Scope: scope, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "k", Name: "Ada"},
		})
	}
	return out
}

func TestGrantAllowsWhatNoRuleSpeaksAbout(t *testing.T) {
	t.Parallel()
	for scope, want := range map[gatelatch.Scope]string{
		gatelatch.ForSession: "allowed by Ada for this session", gatelatch.Always: "allowed by Ada always",
	} {
		v := rules(t, "").Judge(t.Context(), bash("git push origin main"), session, granted(scope, "Bash(ls)", "Bash(git push origin main)"))
		r := v.Reasons[0]
		if v.Effect != gatelatch.Allow || v.Grant != "g1" || len(v.Errors) != 0 || v.Policy == "" ||
			r.Layer != "grant" || r.Rule != "Bash(git push origin main)" || r.Message != want || r.End != len("git push origin main") {
			t.Errorf("got %+v", v)
		}
	}
}

func TestGrantOfTheProjectNeedsTheProject(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for dir, want := range map[string]gatelatch.Effect{
		top + "/project": gatelatch.Allow, top + "/project/src": gatelatch.Allow, top + "/alias/src": gatelatch.Allow,
		top + "/secret": gatelatch.Ask, top + "/project/out": gatelatch.Ask, "": gatelatch.Ask, "src": gatelatch.Ask, top + "/project2": gatelatch.Ask,
	} {
		c, sess := in(top, "Bash", map[string]any{"command": "make test"})
		c.Dir = dir
		v := rules(t, "").Judge(t.Context(), c, sess, granted(gatelatch.ForProject, "Bash(make test)"))
		if v.Effect != want {
			t.Errorf("%q: got %s", dir, v.Effect)
		}
		if want == gatelatch.Allow && v.Reasons[0].Message != "allowed by Ada in this project" {
			t.Errorf("got %q", v.Reasons[0].Message)
		}
	}
}

func TestGrantNeverBeatsARuleOrAConcern(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "ask: ['Bash(git push:*)', mcp__x__y, 'Read(**/.env*)']\ndeny: ['Bash(rm:*)', Task]")
	for name, tt := range map[string]struct {
		tool  string
		input map[string]any
		match string
		want  gatelatch.Effect
	}{
		"a rule asks":            {"Bash", map[string]any{"command": "git push"}, "Bash(git push)", gatelatch.Ask},
		"a rule denies":          {"Bash", map[string]any{"command": "rm x"}, "Bash(rm x)", gatelatch.Deny},
		"a tool is asked":        {"mcp__x__y", map[string]any{}, "mcp__x__y", gatelatch.Ask},
		"a tool is denied":       {"Task", map[string]any{}, "Task", gatelatch.Deny},
		"a file is asked":        {"Read", map[string]any{"file_path": ".env"}, "Read(" + top + "/project/.env)", gatelatch.Ask},
		"a protected path":       {"Write", map[string]any{"file_path": ".git/config"}, "Edit(" + top + "/project/**)", gatelatch.Ask},
		"by another name":        {"Write", map[string]any{"file_path": "config/hooks/x"}, "Edit(" + top + "/project/**)", gatelatch.Ask},
		"named by a command":     {"Bash", map[string]any{"command": "git add .git/config"}, "Bash(git add:*)", gatelatch.Ask},
		"named by an MCP tool":   {"mcp__x__z", map[string]any{"a": "/h/.ssh/x"}, "mcp__x__z", gatelatch.Ask},
		"named by another tool":  {"apply_patch", map[string]any{"a": "/h/.ssh/x"}, "apply_patch", gatelatch.Ask},
		"an unknown field":       {"Bash", map[string]any{"command": "ls", "env": "x"}, "Bash(ls)", gatelatch.Ask},
		"outside of the sandbox": {"Bash", map[string]any{"command": "ls", "dangerouslyDisableSandbox": true}, "Bash(ls)", gatelatch.Ask},
		"a path with a blank":    {"Read", map[string]any{"file_path": "src/a.go "}, "Read(" + top + "/project/**)", gatelatch.Ask},
		"a user in an address":   {"WebFetch", map[string]any{"url": "https://u@example.com"}, "WebFetch(domain:example.com)", gatelatch.Ask},
		"a link out":             {"Write", map[string]any{"file_path": "out/x"}, "Edit(" + top + "/project/**)", gatelatch.Ask},
		"the grant, to compare":  {"Write", map[string]any{"file_path": "in/x"}, "Edit(" + top + "/project/**)", gatelatch.Allow},
	} {
		c, sess := in(top, tt.tool, tt.input)
		v := s.Judge(t.Context(), c, sess, granted(gatelatch.ForSession, tt.match))
		if v.Effect != tt.want || (v.Grant != "") != (tt.want == gatelatch.Allow) {
			t.Errorf("%s: got %s by %q: %s", name, v.Effect, v.Grant, messages(v))
		}
	}
	c := call("AskUserQuestion", `{}`)
	c.Kind = gatelatch.Question
	if v := s.Judge(t.Context(), c, session, granted(gatelatch.Always, "AskUserQuestion")); v.Effect != gatelatch.Ask {
		t.Errorf("a question: got %s", v.Effect)
	}
	if v := brokenSet().Judge(t.Context(), bash("ls"), session, granted(gatelatch.Always, "Bash(ls)")); v.Effect != gatelatch.Deny {
		t.Errorf("a broken policy: got %s", v.Effect)
	}
}

// wider are matchers that only an edited store can hold.
var wider = map[string]*gatelatch.Call{
	"Bash":                     bash("ls"),
	"Bash(*)":                  bash("ls"),
	"Bash(git:*)":              bash("git push"),
	"Bash(npm run:*)":          bash("npm run x"),
	"Bash(./x.sh)":             bash("./x.sh"),
	"Bash(docker run x ls)":    bash("docker run x ls"),
	"Bash(git -c a=b log)":     bash("git -c a=b log"),
	"Bash(env ls)":             bash("env ls"),
	"Bash(make)":               bash("make"),
	"*":                        bash("ls"),
	"mcp__x__*":                call("mcp__x__y", `{}`),
	"mcp__x__y":                call("mcp__x__y", `{}`),
	"mcp__x__execute":          call("mcp__x__execute", `{}`),
	"Tool":                     call("Tool", `{"Command":"ls"}`),
	"Read":                     call("Read", `{"file_path":"/p/a"}`),
	"Read(/p/**)":              call("Read", `{"file_path":"/p/a"}`),
	"Read(**)":                 call("Read", `{"file_path":"/p/a"}`),
	"Read(./a)":                call("Read", `{"file_path":"/p/a"}`),
	"Edit(/p/**)":              call("Edit", `{"file_path":"/p/a"}`),
	"Grep(/p)":                 call("Grep", `{"path":"/p","pattern":"x"}`),
	"WebFetch":                 call("WebFetch", `{"url":"https://example.com"}`),
	"WebFetch(domain:com)":     call("WebFetch", `{"url":"https://example.com"}`),
	"Skill(pdf)":               call("Skill", `{"skill":"pdf"}`),
	"Bash(" + "ls":             bash("ls"),
	"Bash(ls\u200b)":           bash("ls"),
	"ExitPlanMode":             call("ExitPlanMode", `{}`),
	strings.Repeat("x", 9<<10): call("X", `{}`),
}

func TestEditedStoreWidensNothing(t *testing.T) {
	t.Parallel()
	s := rules(t, "")
	for match, c := range wider {
		if v := s.Judge(t.Context(), c, session, granted(gatelatch.Always, match)); v.Effect != gatelatch.Ask || v.Grant != "" {
			t.Errorf("%.40s: got %s", match, v.Effect)
		}
		if err := s.Covers(match, c, session, gatelatch.Always); err == nil {
			t.Errorf("%.40s may be remembered", match)
		}
	}
	for _, scope := range []gatelatch.Scope{"", gatelatch.Once, "for ever"} {
		v := s.Judge(t.Context(), bash("ls"), session, granted(scope, "Bash(ls)"))
		if v.Effect != gatelatch.Ask || len(v.Errors) != 1 {
			t.Errorf("%q: got %s, %q", scope, v.Effect, v.Errors)
		}
	}
}

func TestGrantThatDoesNotParseIsSaid(t *testing.T) {
	t.Parallel()
	v := rules(t, "").Judge(t.Context(), bash("ls"), session, granted(gatelatch.Always, "Bash(ls", "Bash(ls)", "Bash(x"))
	if v.Effect != gatelatch.Allow || v.Grant != "g1" || len(v.Errors) != 1 || !strings.HasPrefix(v.Errors[0], "grant g0: Bash(ls: ") {
		t.Errorf("got %+v", v)
	}
}

func TestPrefixLooksAtTheRest(t *testing.T) {
	t.Parallel()
	s, grants := rules(t, ""), granted(gatelatch.ForSession, "Bash(git commit -m:*)", "Bash(git status:*)")
	for command, want := range map[string]gatelatch.Effect{
		"git commit -m x":              gatelatch.Allow,
		"git commit -m":                gatelatch.Allow,
		"git commit -mx":               gatelatch.Ask, // words are whole
		"git committed -m x":           gatelatch.Ask,
		"git status -s":                gatelatch.Allow,
		"git statusx":                  gatelatch.Ask,
		"git status --exec=x":          gatelatch.Ask,
		"git status ext::x":            gatelatch.Ask,
		"git -c a=b status":            gatelatch.Ask,
		"git status > f":               gatelatch.Ask,
		"git status; ls":               gatelatch.Ask,
		"git status $(ls)":             gatelatch.Ask,
		"git status <<E\nE":            gatelatch.Ask,
		"A=1 git status":               gatelatch.Ask,
		"env git status":               gatelatch.Ask,
		"/usr/bin/git status":          gatelatch.Ask,
		"git commit -m x --upload-p=y": gatelatch.Ask,
	} {
		if v := s.Judge(t.Context(), bash(command), session, grants); v.Effect != want {
			t.Errorf("%q: got %s", command, v.Effect)
		}
	}
}

func TestCompiledGrantsAreBounded(t *testing.T) {
	t.Parallel()
	s := rules(t, "")
	var matches []string
	for i := range maxGrants + 10 {
		matches = append(matches, fmt.Sprintf("Bash(ls %d)", i))
	}
	s.Judge(t.Context(), bash("ls"), session, granted(gatelatch.Always, matches...))
	if n := len(s.grants.kept); n == 0 || n > maxGrants {
		t.Errorf("%d are kept", n)
	}
	s.Judge(t.Context(), bash("ls"), session, granted(gatelatch.Always, strings.Repeat("x", maxMatch+1)))
	for key := range s.grants.kept {
		if len(key.match) > maxMatch {
			t.Error("a matcher without bounds is kept")
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	s := rules(t, `
ask:
  - rule: Bash(git push:*)
    within: 10m
  - {within: 1h, rule: "Bash(git:*)", why: x}
  - mcp__x__*
deny:
  - Bash(git push -f)`)
	for command, want := range map[string]string{
		"git push": "10m0s", "git status": "1h0m0s", "git push -f": "0s", "ls": "0s",
	} {
		if got := judge(t, s, bash(command)); got.Limit.String() != want {
			t.Errorf("%s: got %s", command, got.Limit)
		}
	}
	if got := judge(t, s, call("mcp__x__y", `{}`)); got.Limit != 0 {
		t.Errorf("a rule without: got %s", got.Limit)
	}
}

func BenchmarkJudgeWithGrants(b *testing.B) {
	s := rules(b, "ask: ['Bash(git push:*)']")
	var matches []string
	for i := range 200 {
		matches = append(matches, fmt.Sprintf("Bash(git commit -m %d)", i))
	}
	grants, c := granted(gatelatch.ForSession, slices.Concat(matches, []string{"Bash(ls -la)"})...), bash("ls -la")
	for b.Loop() {
		if s.Judge(b.Context(), c, session, grants).Effect != gatelatch.Allow {
			b.Fatal("not allowed")
		}
	}
}
