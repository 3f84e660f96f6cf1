package policy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

var update = flag.Bool("update", false, "write testdata anew")

// explain writes a verdict as a person would read it.
func explain(v gatelatch.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Effect)
	for _, r := range v.Reasons {
		fmt.Fprintf(&b, "  %s [%s] %s", r.Effect, r.Layer, r.Message)
		if r.Rule != "" {
			fmt.Fprintf(&b, " | %s", r.Rule)
		}
		if r.Source != "" {
			fmt.Fprintf(&b, " at %s", r.Source)
		}
		if r.Part != "" {
			fmt.Fprintf(&b, " | %s %q", r.Field, r.Part)
		}
		if r.End > 0 {
			fmt.Fprintf(&b, " %d-%d", r.Start, r.End)
		}
		b.WriteString("\n")
	}
	if v.Limit > 0 {
		fmt.Fprintf(&b, "  within %s\n", v.Limit)
	}
	return b.String()
}

func TestExplanations(t *testing.T) {
	t.Parallel()
	set := rules(t, `
allow:
  - Read(/srv/**)
  - Bash(npm run:*)
  - mcp__fs__*
  - WebFetch(domain:example.com)
  - Write(/srv/**)
ask:
  - rule: Bash(npm publish:*)
    why: a release is for a person
deny:
  - rule: Bash(rm:*)
    why: use the trash
  - Read(**/.env*)
`)
	var got strings.Builder
	for _, c := range []*gatelatch.Call{
		bash("npm run test"), bash("npm publish"), bash("npm run test && rm x; sudo rm y"), bash("env npm run test"), bash("ls 'x"), bash("make"), bash("npm run x --out=.git/hooks/y"), call("mcp__fs__write", `{"files":[{"path":"/srv/.mcp.json"}]}`),
		bash("npm run test > f"), call("Bash", `{"command":"npm run x","shell":"zsh"}`), call("Bash", `{}`),
		call("Read", `{"file_path":"/srv/a"}`), call("Read", `{"file_path":"/srv/.env"}`), call("Read", `{"file_path":"a"}`), call("Read", `{"file_path":"/elsewhere"}`), call("Read", `{"file_path":"/srv/a "}`),
		call("Write", `{"file_path":"/srv/.git/config","content":""}`), call("WebFetch", `{"url":"https://me@example.com"}`),
		call("Other", `{}`), call("Other", `{"a":1,"A":2}`),
	} {
		fmt.Fprintf(&got, "%s %s\n%s\n", c.Tool, c.Input, explain(judge(t, set, c)))
	}
	golden(t, "explanations.golden", got.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// What the layers, modes and settings say, one call under each.
func TestExplanationsOfLayers(t *testing.T) {
	t.Parallel()
	parsedAs := func(name, tier, yaml string) *layer {
		l, err := parse(name, []byte("version: 1\n"+yaml), tier)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	machine := parsedAs("/etc/gatelatch/policy.yaml", layerMachine, "deny:\n- {rule: 'WebFetch(domain:pastebin.com)', why: nothing leaves by this}\n")
	user := parsedAs("policy.yaml", layerUser, `
allow:
- Read(/srv/**)
- {rule: mcp__gh__comment, where: {repo: {in: [acme/site, acme/docs]}}}
- {rule: Bash(make:*), until: 2029-01-01}
ask:
- {rule: mcp__bank__pay, where: {amount: {at_least: 100}}, within: 5m}
skip: {skills: true}
projects:
- path: /p
  mode: acceptEdits
  deny: [Edit(./vendor/**)]
`)
	own := parsedAs(ProjectFile, layerProject, "ask: ['Bash(make:*)', mcp__gh__comment]\nexec: {ask: always}\n")
	var got strings.Builder
	show := func(what string, s *Set, sess *gatelatch.Session, c *gatelatch.Call) {
		c.Dir = "/p"
		v := at(s, noon).Judge(t.Context(), c, sess, granted(gatelatch.ForSession, "Remembered"))
		fmt.Fprintf(&got, "%s: %s %s\n%s\n", what, c.Tool, c.Input, explain(v))
	}
	both, in := newSet(machine, user), &gatelatch.Session{Project: "/p"}
	show("the machine denies", both, nil, call("WebFetch", `{"url":"https://pastebin.com/x"}`))
	show("a condition holds", both, nil, call("mcp__gh__comment", `{"repo":"acme/docs"}`))
	show("a condition does not hold", both, nil, call("mcp__gh__comment", `{"repo":"acme/other"}`))
	show("a limit is passed", both, nil, call("mcp__bank__pay", `{"amount":100}`))
	show("a limit can't be read", both, nil, call("mcp__bank__pay", `{"amount":"100"}`))
	show("a rule has ended", both, nil, bash("make"))
	show("a switch", both, nil, call("Skill", `{"skill":"commit"}`))
	show("a grant", both, nil, call("Remembered", `{}`))
	show("the mode of a section", both, in, call("Write", `{"file_path":"a.go"}`))
	show("a rule of a section", both, in, call("Write", `{"file_path":"vendor/a.go"}`))
	show("outside of the project", both, in, call("Write", `{"file_path":"/q/a.go"}`))
	show("a person's choice", both, chose(gatelatch.ModeBypass), call("Unknown", `{}`))
	show("a protected path in spite of it", both, chose(gatelatch.ModeBypass), bash("echo x >> ~/.bashrc"))
	show("a command that can't be read in spite of it", both, chose(gatelatch.ModeBypass), bash("echo 'x"))
	show("plan mode", both, chose(gatelatch.ModePlan), call("mcp__gh__comment", `{"repo":"acme/docs"}`))
	show("plan mode, a command that reads", newSet(parsedAs("policy.yaml", layerUser, "allow: ['Bash(ls:*)']\n")), chose(gatelatch.ModePlan), bash("ls -la"))
	show("plan mode, reading", both, chose(gatelatch.ModePlan), call("Read", `{"file_path":"/srv/a"}`))
	with := (&project{source: source{layer: own}}).over(both)
	show("the project asks", with, in, call("mcp__gh__comment", `{"repo":"acme/docs"}`))
	show("the project's exec", with, in, bash("ls"))
	broken := (&project{source: source{problem: ProjectFile + ":3: unknown key \"alow\""}}).over(both)
	show("the project's file is broken", broken, in, call("Read", `{"file_path":"/srv/a"}`))
	listed := newSet(parsedAs("policy.yaml", layerUser, "exec: {security: allowlist, ask: 'off'}\n"))
	show("only what is listed", listed, nil, bash("make"))
	full := newSet(parsedAs("policy.yaml", layerUser, "exec: {security: full}\n"))
	show("everything that can be read", full, nil, bash("make | tee log"))
	golden(t, "layers.golden", got.String())
}
