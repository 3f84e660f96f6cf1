package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func rules(t testing.TB, yaml string) *Set {
	t.Helper()
	s, err := Parse("policy.yaml", []byte("version: 1\n"+yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func brokenSet() *Set {
	s := newSet()
	s.broken = "broken"
	return s.sum()
}

func call(tool string, input any) *gatelatch.Call {
	raw, ok := input.(string)
	if !ok {
		b, err := json.Marshal(input)
		if err != nil {
			panic(err)
		}
		raw = string(b)
	}
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: []byte(raw)}
}

func bash(command string) *gatelatch.Call {
	c := call("Bash", map[string]any{"command": command})
	c.Dir = "/p"
	return c
}

func judge(t testing.TB, s gatelatch.Policy, c *gatelatch.Call) gatelatch.Verdict {
	t.Helper()
	v := s.Judge(t.Context(), c, nil, nil)
	if len(v.Reasons) == 0 || v.Reasons[0].Effect != v.Effect || v.Policy == "" {
		t.Errorf("%s %s: a verdict without its reason: %+v", c.Tool, c.Input, v)
	}
	for _, r := range v.Reasons {
		if r.Message == "" || r.Layer == "" {
			t.Errorf("%s %s: a reason without words: %+v", c.Tool, c.Input, r)
		}
	}
	return v
}

func messages(v gatelatch.Verdict) string {
	var out []string
	for _, r := range v.Reasons {
		out = append(out, r.Message)
	}
	return strings.Join(out, "; ")
}

func TestDefaultRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		situation string
		call      *gatelatch.Call
		want      gatelatch.Effect
	}{
		{"a listed tool", call("TodoWrite", `{"todos":[]}`), gatelatch.Allow},
		{"a tool nobody knows", call("Frobnicate", `{}`), gatelatch.Ask},
		{"a plain command", bash("ls -la src"), gatelatch.Allow},
		{"an exact command", bash("date"), gatelatch.Allow},
		{"an exact command and more", bash("date -s 2020-01-01"), gatelatch.Ask},
		{"git status where no repository is", bash("git status"), gatelatch.Allow},
		{"reading elsewhere", bash("cat /etc/passwd"), gatelatch.Ask},
		{"a temporary file", bash("tail /tmp/build.log"), gatelatch.Allow},
		{"all temporary files", bash("grep -r x /tmp"), gatelatch.Ask},
		{"commands that only read, in a chain", bash("cd src && grep -rn foo . | head -5"), gatelatch.Allow},
		{"another program of that name", bash("./ls"), gatelatch.Ask},
		{"another case", bash("LS"), gatelatch.Ask},
		{"T3: a redirection", bash("ls > /etc/passwd"), gatelatch.Ask},
		{"T3: a declaration before it", bash("export PAGER=evil; ls"), gatelatch.Ask},
		{"T3: an assignment in front", bash("LD_PRELOAD=./x.so ls"), gatelatch.Ask},
		{"T3: an evaluated subscript", bash("[[ -v 'a[$(rm x)]' ]]; ls"), gatelatch.Ask},
		{"T3: a co-process", bash("ls; coproc rm > f"), gatelatch.Ask},
		{"T4: a command field of another tool", call("mcp__x__delete_everything", `{"command":"ls"}`), gatelatch.Ask},
		{"T4: a tool that looks like Bash", call("bash", `{"command":"ls"}`), gatelatch.Ask},
		{"T2: a second command in capitals", call("Bash", `{"command":"ls","COMMAND":"rm x"}`), gatelatch.Deny},
		{"no command", call("Bash", `{}`), gatelatch.Ask},
		{"a command that is no text", call("Bash", `{"command":["ls"]}`), gatelatch.Ask},
		{"an input that is no object", call("Bash", `"ls"`), gatelatch.Ask},
		{"known fields", call("Bash", `{"command":"ls","description":"x","timeout":5,"run_in_background":true}`), gatelatch.Allow},
		{"without the sandbox", call("Bash", `{"command":"ls","dangerouslyDisableSandbox":true}`), gatelatch.Ask},
		{"with the sandbox", call("Bash", `{"command":"ls","dangerouslyDisableSandbox":false}`), gatelatch.Allow},
		{"an unknown field", call("Bash", `{"command":"ls","env":{"PATH":"."}}`), gatelatch.Ask},
		{"a name in another case", call("Bash", `{"Command":"ls"}`), gatelatch.Ask},
		{"input that is no JSON", call("TodoWrite", `{`), gatelatch.Deny},
	} {
		t.Run(tt.situation, func(t *testing.T) {
			t.Parallel()
			tt.call.Dir = "/p"
			if got := Default().Judge(t.Context(), tt.call, &gatelatch.Session{Project: "/p"}, nil); got.Effect != tt.want {
				t.Errorf("got %s, want %s: %s", got.Effect, tt.want, messages(got))
			}
		})
	}
}

func TestQuestionsAndPlansAreForPeople(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [AskUserQuestion, ExitPlanMode, TodoWrite]\ndeny: [Bash]")
	for tool, kind := range map[string]gatelatch.Kind{"AskUserQuestion": gatelatch.Question, "ExitPlanMode": gatelatch.Plan, "TodoWrite": ""} {
		c := call(tool, `{}`)
		c.Kind = kind
		if got := judge(t, s, c); got.Effect != gatelatch.Ask {
			t.Errorf("%s: got %s", tool, got.Effect)
		}
	}
	c := bash("ls")
	c.Kind = gatelatch.Question
	if got := judge(t, s, c); got.Effect != gatelatch.Deny {
		t.Errorf("a question does not escape a deny: got %s", got.Effect)
	}
}

func TestStricterWins(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules string
		want  gatelatch.Effect
	}{
		"allow":                {"allow: [X]", gatelatch.Allow},
		"ask beats allow":      {"allow: [X]\nask: [X]", gatelatch.Ask},
		"in any order":         {"ask: [X]\nallow: [X]", gatelatch.Ask},
		"deny beats both":      {"allow: [X]\ndeny: [X]\nask: [X]", gatelatch.Deny},
		"every tool is asked":  {`{allow: [X], ask: ["*"]}`, gatelatch.Ask},
		"every tool is denied": {`{allow: [X], deny: ["*"]}`, gatelatch.Deny},
		"another tool's rule":  {"deny: [Y, XX, x]\nallow: [X]", gatelatch.Allow},
		"nothing is said":      {"allow: [Y]", gatelatch.Ask},
		"empty lists":          {"allow:\nask: []\ndeny:", gatelatch.Ask},
	} {
		src := tt.rules
		if strings.HasPrefix(src, "{") {
			src = strings.NewReplacer("{", "", "}", "", "], ", "]\n").Replace(src)
		}
		if got := judge(t, rules(t, src), call("X", `{}`)); got.Effect != tt.want {
			t.Errorf("%s: got %s, want %s", name, got.Effect, tt.want)
		}
	}
}

func TestToolNames(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [mcp__github__*, mcp__fs__read_*, mcp__one__tool, mcp__one__get*, mcp__bare]\ndeny: [mcp__evil*, mcp__bad]")
	for tool, want := range map[string]gatelatch.Effect{
		"mcp__github__list":       gatelatch.Allow,
		"mcp__github_other__list": gatelatch.Ask,
		"mcp__github__x__list":    gatelatch.Ask, // may be a server called github__x
		"mcp__github___list":      gatelatch.Ask, // or github_
		"mcp__GitHub__list":       gatelatch.Ask,
		"mcp__fs__read__file":     gatelatch.Ask,
		"mcp__one__get_x":         gatelatch.Allow,
		"mcp__bare":               gatelatch.Allow,
		"mcp__bare__x":            gatelatch.Allow,
		"mcp__bare__x__y":         gatelatch.Ask,
		"mcp__bare___x":           gatelatch.Ask,
		"mcp__bare_x":             gatelatch.Ask,
		"mcp__bad":                gatelatch.Deny,
		"mcp__bad__x__y":          gatelatch.Deny,
		"mcp__bad_x":              gatelatch.Ask,
		"mcp__evil___x":           gatelatch.Deny,
		"mcp__fs__read_file":      gatelatch.Allow,
		"mcp__fs__write_file":     gatelatch.Ask,
		"mcp__one__tool":          gatelatch.Allow,
		"mcp__one__tool2":         gatelatch.Ask,
		"mcp__evil__x":            gatelatch.Deny,
		"mcp__evil__a__b":         gatelatch.Deny,
	} {
		if got := judge(t, s, call(tool, `{}`)); got.Effect != want {
			t.Errorf("%s: got %s, want %s", tool, got.Effect, want)
		}
	}
}

func TestWebFetch(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: ['WebFetch(domain:example.com)', 'WebFetch(domain:*.below.net)', 'WebFetch(domain:bücher.example)']\ndeny: ['WebFetch(domain:evil.org)', 'WebFetch(domain:straße.de)']")
	for url, want := range map[string]gatelatch.Effect{
		"https://example.com":              gatelatch.Allow,
		"http://example.com:8080/x?y#z":    gatelatch.Allow,
		"https://docs.EXAMPLE.com/x":       gatelatch.Allow,
		"https://example.com./":            gatelatch.Allow,
		"https://example.com.evil.net":     gatelatch.Ask,
		"https://notexample.com":           gatelatch.Ask,
		"https://example.co":               gatelatch.Ask,
		"ftp://example.com":                gatelatch.Ask,
		"file:///etc/passwd":               gatelatch.Ask,
		"//example.com/x":                  gatelatch.Ask,
		"example.com":                      gatelatch.Ask,
		"https://u@example.com":            gatelatch.Ask,
		"https://example.com@other.net/":   gatelatch.Ask,
		`https://example.com\@other.net/`:  gatelatch.Ask,
		"https://example.com%2eother.net/": gatelatch.Ask,
		"https://exаmple.com/":             gatelatch.Ask, // a Cyrillic letter
		"\thttps://example.com":            gatelatch.Ask,
		"https://example.com/\n":           gatelatch.Ask,
		"https://evil.org/x":               gatelatch.Deny,
		"https://a.Evil.org/x":             gatelatch.Deny,
		`https:\\evil.org\x`:               gatelatch.Deny,
		"https://u@evil.org":               gatelatch.Deny,
		"https://notevil.org":              gatelatch.Ask,
		"https://evil.org.":                gatelatch.Deny,
		"https://ｅvil.org/":                gatelatch.Deny, // full width, as browsers map it
		"https://evil\u3002org/":           gatelatch.Deny, // so is this dot
		"https://%65vil.org/":              gatelatch.Deny,
		"https://straße.de/":               gatelatch.Deny,
		"https://xn--strae-oqa.de/":        gatelatch.Deny,
		"https://STRAßE.de/":               gatelatch.Deny,
		"https://xn--bcher-kva.example/":   gatelatch.Allow,
		"https://bücher.example/":          gatelatch.Ask, // programs differ in how they write it
		"https://a.below.net":              gatelatch.Allow,
		"https://a.b.below.net":            gatelatch.Allow,
		"https://below.net":                gatelatch.Ask,
		"https://.below.net":               gatelatch.Ask,
		"https://notbelow.net":             gatelatch.Ask,
		"":                                 gatelatch.Ask,
	} {
		if got := judge(t, s, call("WebFetch", map[string]string{"url": url})); got.Effect != want {
			t.Errorf("%s: got %s, want %s: %s", url, got.Effect, want, messages(got))
		}
	}
	if got := judge(t, s, call("WebFetch", `{"url":7}`)); got.Effect != gatelatch.Ask {
		t.Errorf("a number: got %s", got.Effect)
	}
}

func TestSkill(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [Skill(pdf)]\ndeny: [Skill(deploy)]")
	for name, want := range map[string]gatelatch.Effect{
		"pdf": gatelatch.Allow, "PDF": gatelatch.Ask, "pdf2": gatelatch.Ask, "deploy": gatelatch.Deny, "Deploy": gatelatch.Deny,
	} {
		if got := judge(t, s, call("Skill", map[string]string{"skill": name})); got.Effect != want {
			t.Errorf("%s: got %s, want %s", name, got.Effect, want)
		}
	}
}

func TestBrokenRuleOnlyTightens(t *testing.T) {
	t.Parallel()
	bad := newPattern('*', "[x") // Parse refuses this
	for effect, want := range map[gatelatch.Effect]gatelatch.Effect{
		gatelatch.Allow: gatelatch.Ask, gatelatch.Ask: gatelatch.Ask, gatelatch.Deny: gatelatch.Deny,
	} {
		l := &layer{name: layerUser, rules: []rule{{Rule: Rule{Effect: effect, Text: "Read([x)", Layer: layerUser, Source: "policy.yaml:3"}, tool: "Read", on: bad}}}
		l.rules[0].say()
		l.index = newIndex(l.rules)
		l.sum = "x"
		s := newSet(l)
		v := judge(t, s, call("Read", `{"file_path":"/[x"}`))
		if v.Effect != want || !slices.ContainsFunc(v.Errors, func(e string) bool { return strings.HasPrefix(e, "policy.yaml:3: Read([x)") }) {
			t.Errorf("%s: got %s with errors %q", effect, v.Effect, v.Errors)
		}
	}
}
