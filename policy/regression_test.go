package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/shell"
)

// The numbers are those of docs/regressions.md.

func TestRule14PrefixesCoverWordsOnly(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: ['Bash(echo:*)', 'Bash(cat:*)', 'Bash(git log:*)']")
	for command, want := range map[string]gatelatch.Effect{
		"echo hi": gatelatch.Allow, "git log -5": gatelatch.Allow,
		"echo hi > x": gatelatch.Ask, "echo hi >> x": gatelatch.Ask, "cat < x": gatelatch.Ask, "cat <<EOF\nx\nEOF": gatelatch.Ask, "cat <<< x": gatelatch.Ask, "echo x >| y": gatelatch.Ask, "echo x &> y": gatelatch.Ask,
		"echo $(id)": gatelatch.Ask, "echo `id`": gatelatch.Ask, "cat <(id)": gatelatch.Ask, "echo $X": gatelatch.Ask, "echo *": gatelatch.Ask,
		"echo hi; id": gatelatch.Ask, "echo hi && id": gatelatch.Ask, "echo hi | sh": gatelatch.Ask, "echo hi & id": gatelatch.Ask, "echo hi\nid": gatelatch.Ask,
		"git logx": gatelatch.Ask, "git log-5": gatelatch.Ask, "gitlog": gatelatch.Ask,
	} {
		if got := judge(t, s, bash(command)); got.Effect != want {
			t.Errorf("%q: got %s, want %s", command, got.Effect, want)
		}
	}
}

func TestRule18DenialsHoldInEveryMode(t *testing.T) {
	t.Parallel()
	s := rules(t, "deny: ['Bash(rm:*)', Edit(/p/x), mcp__a__b]\nskip: {edits: true, bash: true, mcp: true}\nexec: {security: full}")
	for _, mode := range append(gatelatch.Modes(), "", "unknown") {
		for _, c := range []*gatelatch.Call{bash("rm x"), bash("sudo sh -c 'rm x'"), call("Write", `{"file_path":"/p/x"}`), call("mcp__a__b", `{}`)} {
			sess := &gatelatch.Session{Project: "/p", Mode: string(mode), Chosen: gatelatch.ModeChoice{Mode: mode}}
			if v := s.Judge(t.Context(), c, sess, granted(gatelatch.ForSession, "Bash(rm x)", "Edit(/p/**)", "mcp__a__b")); v.Effect != gatelatch.Deny {
				t.Errorf("%s: %s %s: got %s", mode, c.Tool, c.Input, v.Effect)
			}
		}
	}
}

func TestTrap7NothingHidesACommand(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [Bash]\ndeny: ['Bash(rm:*)']")
	for _, command := range []string{
		"echo hi > $(rm x)", "cat <<EOF\n$(rm x)\nEOF", "diff <(rm x) y", "echo > `rm x`", "FOO=1 rm x", "bash -lc 'rm x'", "env rm x", "env -i A=b rm x", "xargs rm", "find . -exec rm {} +", "find . -exec rm {} ';'",
		"sudo -u root rm x", "timeout 5 rm x", "nice -n 5 rm x", "/bin/rm x", "RM x", "if true; then rm x; fi", "f() { rm x; }; f", "(rm x)", "{ rm x; }", "true && rm x", "true || rm x", "! rm x", "eval 'rm x'", "ls | xargs -n1 rm",
	} {
		if got := judge(t, s, bash(command)); got.Effect != gatelatch.Deny {
			t.Errorf("%q: got %s: %s", command, got.Effect, messages(got))
		}
	}
	for _, command := range []string{"git -c core.pager=x log", "sed -i s/a/b/ x", "awk 'BEGIN{system(\"x\")}'", "sed -n 'w x' y", "sed 's/a/b/e' x", "tar --to-command=x", "npx x", "python3 -c 1"} {
		if err := rules(t, "").Covers("Bash("+command+")", bash(command), session, gatelatch.ForSession); err == nil {
			t.Errorf("%q may be remembered", command)
		}
	}
	if err := rules(t, "").Covers("Bash(git status)", bash("git status"), session, gatelatch.ForSession); err != nil {
		t.Errorf("nothing may be remembered: %v", err)
	}
}

// A denial says what was met, and neither how to get around it nor that the
// tool is gone for good.
func TestTrap17DenialsDoNotCoach(t *testing.T) {
	t.Parallel()
	s := rules(t, "deny: ['Bash(rm:*)', Read(/etc/**)]\nexec: {security: allowlist, ask: 'off'}")
	for _, c := range []*gatelatch.Call{bash("rm x"), bash("make"), call("Read", `{"file_path":"/etc/x"}`), call("X", `{"a":1,"A":1}`)} {
		text := strings.ToLower(judge(t, s, c).Denial())
		for _, word := range []string{"instead", "try", "use ", "never", "policy.yaml", "skip", "bypass"} {
			if text == "" || strings.Contains(text, word) {
				t.Errorf("%s: %q", c.Input, text)
			}
		}
	}
}

func FuzzJudge(f *testing.F) {
	sets := []*Set{
		Default(),
		mustParse("allow: [Bash, 'Bash(*)', Read, Write(**), mcp__a, X, 'WebFetch(domain:a.b)', Skill(x), {rule: mcp__b__c, where: {'a[].b': {matches: 'x.*'}, n: {at_least: 1}}}]\nask: [Read(./**/.env*), {rule: mcp__a__*, where: {u: {domain: a.b}, p: {under: ~/x}}}]\ndeny: ['Bash(rm:*)', Edit(~/x/**)]"),
		mustParse("mode: bypassPermissions\nskip: {edits: true, bash: true, skills: true, mcp: true}\nprojects: [{path: ~/x, allow: [X]}]"),
		mustParse("exec: {security: full, ask: 'off'}"),
	}
	for _, seed := range []struct{ tool, input, dir, project string }{
		{"Bash", `{"command":"ls; rm x"}`, "/p", "/p"}, {"Bash", `{"command":"ls 'x"}`, "", ""}, {"Read", `{"file_path":"~/x/../.env"}`, "/p", "/"}, {"Glob", `{"pattern":"{..,x}/*"}`, "/p", "/p"},
		{"mcp__a__b", `{"u":"https://a.b","p":"~/x/y"}`, "", "/p"}, {"mcp__b__c", `{"a":[{"b":"xy"}],"n":1e3}`, "", ""}, {"WebFetch", `{"url":"https://u@a.b"}`, "", ""}, {"X", `{"a":1,"A":2}`, "", ""}, {"", `{`, "", ""},
	} {
		f.Add(seed.tool, []byte(seed.input), seed.dir, seed.project)
	}
	f.Fuzz(func(t *testing.T, tool string, input []byte, dir, project string) {
		c := &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: input, Dir: dir}
		sess := &gatelatch.Session{Project: project}
		for _, s := range sets {
			facts := s.Read(c, sess)
			v := s.JudgeFacts(facts, nil)
			switch {
			case len(v.Reasons) == 0 || v.Reasons[0].Effect != v.Effect:
				t.Fatalf("a verdict without its reason: %+v", v)
			case strictjson.Check(input) != nil && v.Effect != gatelatch.Deny:
				t.Fatalf("an input with two readings: got %s", v.Effect)
			case facts.shell != nil && v.Effect == gatelatch.Allow && shell.Analyse(facts.shell.src).Err != "":
				t.Fatalf("a command that can't be read is allowed: %q", facts.shell.src)
			case facts.refused == "" && !slices.Equal(scan(s, facts), indexed(s, facts)):
				t.Fatalf("the index misses a rule")
			case s.JudgeFacts(facts, nil).Effect != v.Effect:
				t.Fatalf("judging again gives another verdict")
			}
		}
	})
}

func mustParse(yaml string) *Set {
	s, err := Parse("policy.yaml", []byte("version: 1\n"+yaml))
	if err != nil {
		panic(err)
	}
	return s
}

// Trap 10: what an agent says that a command is for does not make it another
// one. Of any other tool, each field counts.
func TestTrap10DescriptionsOfCommandsDoNotMatter(t *testing.T) {
	t.Parallel()
	s := rules(t, "")
	for _, description := range []string{"", "Push", "Delete everything"} {
		c := call("Bash", `{"command":"git push origin main","description":"`+description+`"}`)
		c.Dir = "/p"
		if v := s.Judge(t.Context(), c, session, granted(always, "Bash(git push origin main)")); v.Effect != gatelatch.Allow || v.Grant == "" {
			t.Errorf("%q: %s", description, v.Effect)
		}
		if match, err := s.Remember(c, session, always); err != nil || match != "Bash(git push origin main)" {
			t.Errorf("%q: %s, %v", description, match, err)
		}
	}
}
