package policy

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ yaml, want string }{
		"an empty file":                {"", "policy.yaml:1: the file is empty"},
		"only a comment":               {"# x\n", "policy.yaml:1:"},
		"no version":                   {"allow: [X]", "policy.yaml:1: version: 1 is missing"},
		"another version":              {"version: 2", `policy.yaml:1: version "2" is not known`},
		"a version as text":            {"version: '1'", `version "1" is not known`},
		"another number for one":       {"version: 0x1", "is not known"},
		"an unknown key":               {"version: 1\nalow: [X]", `policy.yaml:2: unknown key "alow"`},
		"a key in another case":        {"version: 1\nAllow: [X]", `policy.yaml:2: unknown key "Allow"`},
		"a key twice":                  {"version: 1\nallow: [X]\nallow: [Y]", `policy.yaml:3: the key "allow" is there twice`},
		"a list twice by merging":      {"version: 1\n<<: {allow: [X]}", "policy.yaml:2:"},
		"a second document":            {"version: 1\n---\nversion: 1", "policy.yaml:2: a second document"},
		"broken YAML":                  {"version: 1\nallow: [X\ndeny: {", "policy.yaml:"},
		"a list instead of keys":       {"- X", "policy.yaml:1: expected keys"},
		"a text instead of a list":     {"version: 1\ndeny: X", "policy.yaml:2: deny is a list"},
		"a number as a rule":           {"version: 1\ndeny:\n- X\n- 12", "policy.yaml:4: expected a text"},
		"a list as a rule":             {"version: 1\ndeny: [[X]]", "expected a text"},
		"an alias":                     {"version: 1\nask: [&a X]\ndeny: [*a]", "policy.yaml:3: expected a text"},
		"an unquoted star":             {"version: 1\ndeny: [*]", "policy.yaml:2:"},
		"an unknown key of a rule":     {"version: 1\ndeny:\n- {rule: X, when: y}", `policy.yaml:3: unknown key "when"`},
		"a time on a rule that denies": {"version: 1\ndeny:\n- {rule: X, within: 10m}", "policy.yaml:3: within is how long"},
		"a time on a rule that allows": {"version: 1\nallow:\n- within: 10m\n  rule: X", "policy.yaml:3: within is how long"},
		"a time without a unit":        {"version: 1\nask:\n- {rule: X, within: 10}", "policy.yaml:3: within is a time"},
		"a time that is over":          {"version: 1\nask:\n- {rule: X, within: -10m}", "within is a time"},
		"no time":                      {"version: 1\nask:\n- {rule: X, within: 0s}", "within is a time"},
		"a list of times":              {"version: 1\nask:\n- {rule: X, within: [10m]}", "within is a time"},
		"a time alone":                 {"version: 1\nask:\n- {within: 10m}", "policy.yaml:3:"},
		"a rule with a colon":          {"version: 1\ndeny:\n- Bash(a: b)", "put quotes around a rule"},
		"a rule without its text":      {"version: 1\ndeny:\n- {why: x}", "policy.yaml:3:"},
		"a rule's key twice":           {"version: 1\ndeny:\n- {rule: X, rule: Y}", "there twice"},
		"an empty rule":                {"version: 1\ndeny: ['']", "no tool name"},
		"no closing bracket":           {"version: 1\ndeny: ['Bash(ls']", "does not end in )"},
		"text behind the bracket":      {"version: 1\ndeny: ['Bash(ls) x']", "does not end in )"},
		"an empty pattern":             {"version: 1\ndeny: ['Bash()']", "the pattern is empty"},
		"a blank in a tool":            {"version: 1\ndeny: ['Ba sh']", "no tool name"},
		"a star in a tool":             {"version: 1\ndeny: ['m*p']", "no tool name"},
		"a star on another tool":       {"version: 1\ndeny: ['Task*']", "only names of MCP tools"},
		"allowing everything":          {"version: 1\nallow: ['*']", "can't allow every tool"},
		"allowing every server":        {"version: 1\nallow: ['mcp__*']", "name the whole server"},
		"allowing half a server":       {"version: 1\nallow: ['mcp__git*']", "name the whole server"},
		"a pattern nobody knows":       {"version: 1\ndeny: ['Task(x)']", "Task takes no pattern"},
		"a pattern of an MCP tool":     {"version: 1\nallow: ['mcp__x__y(z)']", "takes no pattern"},
		"a star inside a command":      {"version: 1\nallow: ['Bash(git * main)']", "only at the end"},
		"a star on a word":             {"version: 1\nallow: ['Bash(npm run*)']", "only at the end"},
		"a substitution":               {"version: 1\nallow: ['Bash(ls $(x))']", "not plain words"},
		"a pipe":                       {"version: 1\ndeny: ['Bash(curl | sh)']", "not plain words"},
		"allowing a wrapper":           {"version: 1\nallow: ['Bash(env:*)']", "no rule can allow it"},
		"allowing a wrapper by path":   {"version: 1\nallow: ['Bash(/usr/bin/python3 x.py)']", "no rule can allow it"},
		"allowing a reserved word":     {"version: 1\nallow: ['Bash(if x)']", "never one plain command"},
		"allowing an assignment":       {"version: 1\nallow: ['Bash(A=1 x)']", "never one plain command"},
		"a broken glob":                {"version: 1\ndeny: ['Read(./[a)']", "not a valid glob"},
		"dots in a path":               {"version: 1\ndeny: ['Read(../x)']", ". and .."},
		"two slashes":                  {"version: 1\ndeny: ['Read(//etc/**)']", "one slash"},
		"allowing a path of nowhere":   {"version: 1\nallow: ['Read(src/**)']", "say where: ./src/** in the project"},
		"a domain without its mark":    {"version: 1\nallow: ['WebFetch(example.com)']", "WebFetch(domain:example.com)"},
		"a domain with a star inside":  {"version: 1\nallow: ['WebFetch(domain:a.*.example.com)']", "a domain is"},
		"a domain of a star":           {"version: 1\nallow: ['WebFetch(domain:*)']", "a domain is"},
		"a domain with odd letters":    {"version: 1\nallow: [\"WebFetch(domain:ex\\u200bample.com)\"]", "a domain is"},
		"a domain with a port":         {"version: 1\nallow: ['WebFetch(domain:example.com:80)']", "a domain is"},
		"a skill with a star":          {"version: 1\nallow: ['Skill(p*)']", "in full"},
		"an end that is no date":       {"version: 1\ndeny:\n- {rule: X, until: soon}", "policy.yaml:3: until is a date"},
		"an end without a zone":        {"version: 1\ndeny:\n- {rule: X, until: '2027-01-31T18:00:00'}", "until is a date"},
		"a condition that is no map":   {"version: 1\ndeny:\n- {rule: X, where: y}", "policy.yaml:3: expected keys"},
		"a condition without a value":  {"version: 1\ndeny:\n- {rule: X, where: {y: }}", "takes one value"},
		"an empty condition":           {"version: 1\ndeny:\n- {rule: X, where: {y: {}}}", "a condition is a value"},
		"an unknown condition":         {"version: 1\ndeny:\n- {rule: X, where: {y: {like: z}}}", `unknown condition "like"`},
		"a field of nothing":           {"version: 1\ndeny:\n- {rule: X, where: {a..b: z}}", "is no field"},
		"a field with an index":        {"version: 1\ndeny:\n- {rule: X, where: {'a[0]': z}}", "is no field"},
		"a list of nothing":            {"version: 1\ndeny:\n- {rule: X, where: {a: {in: []}}}", "in takes a list"},
		"a list in a list":             {"version: 1\ndeny:\n- {rule: X, where: {a: {in: [[1]]}}}", "expected a text, a number"},
		"a pattern that is too long":   {"version: 1\ndeny:\n- {rule: X, where: {a: {matches: '" + strings.Repeat("a", 1001) + "'}}}", "at most 1000"},
		"a pattern that is broken":     {"version: 1\ndeny:\n- {rule: X, where: {a: {matches: '('}}}", "policy.yaml:3: the pattern can't be read"},
		"a pattern that breaks out":    {"version: 1\nallow:\n- {rule: X, where: {a: {matches: 'x)|(?:.*'}}}", "the pattern can't be read"},
		"an octal number":              {"version: 1\ndeny:\n- {rule: X, where: {a: 010}}", "expected a text, a number"},
		"a hexadecimal limit":          {"version: 1\ndeny:\n- {rule: X, where: {a: {at_least: 0x8}}}", "takes a number"},
		"a limit without end":          {"version: 1\ndeny:\n- {rule: X, where: {a: {at_least: .inf}}}", "takes a number"},
		"a limit that is no number":    {"version: 1\ndeny:\n- {rule: X, where: {a: {at_most: x}}}", "takes a number"},
		"a folder that is a glob":      {"version: 1\ndeny:\n- {rule: X, where: {a: {under: ./s*}}}", "under takes a folder"},
		"a folder of nowhere":          {"version: 1\ndeny:\n- {rule: X, where: {a: {under: src}}}", "say where"},
		"an address as a domain":       {"version: 1\ndeny:\n- {rule: X, where: {a: {domain: 'https://x'}}}", "a domain is"},
		"presence of elements":         {"version: 1\ndeny:\n- {rule: X, where: {'a[]': {present: true}}}", "leave out []"},
		"presence that is no bool":     {"version: 1\ndeny:\n- {rule: X, where: {a: {present: 1}}}", "true or false"},
		"an example that fails":        {"version: 1\nallow:\n- rule: Bash(git status)\n  match:\n  - git status\n  - git status -s", "policy.yaml:6: Bash(git status) does not match this example"},
		"an example that must fail":    {"version: 1\ndeny:\n- rule: Read(./src/**)\n  not_match: [src2/x, src/x]", "policy.yaml:4: Read(./src/**) matches this example"},
		"an example of another tool":   {"version: 1\ndeny:\n- {rule: mcp__a__b, match: x}", "it is an object"},
		"an example that is a list":    {"version: 1\ndeny:\n- {rule: Bash, match: [[x]]}", "a text or an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("policy.yaml", []byte(tt.yaml))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "policy.yaml:") {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for _, yaml := range []string{
		"version: 1", "version: 1\nallow:\n", "version: 1\nallow: [X]\nask: [Y]\ndeny: ['*', mcp__*]",
		"version: 1\ndeny:\n- rule: Bash(rm:*)\n  why: gone is gone",
		"version: 1\nask:\n- rule: Bash(git push:*)\n  within: 10m\n- {rule: X, within: 1h30m, why: y}",
		"version: 1\nallow: [\"Bash(grep 'a*b' x)\"]\ndeny: [\"Bash(rm '*')\"]",
		"version: 1\ndeny: ['Bash(sudo:*)', 'Bash(find . -delete)', 'Bash(A=1:*)', Read(.env), Read(src/**)]",
		"version: 1\nallow: [Bash, 'Bash(*)', 'Bash(npm run *)', Read(**), Read(**/x), Read(./x), Read(~/x), Read(/x), 'WebFetch(domain:localhost)']",
		"version: 1\nallow:\n- {rule: X, until: 2027-01-31}\n- {rule: Y, until: '2027-01-31T18:00:00+01:00'}",
		"version: 1\nallow:\n- rule: Bash(npm run:*)\n  match: [npm run test, npm run]\n  not_match: [npm runx, npm run x > f, npm run x && rm y]",
		"version: 1\nallow:\n- {rule: Edit(./src/**), match: src/a.go, not_match: [lib/a.go, src/../lib/a.go, /src/a.go]}\ndeny:\n- {rule: Read(~/.ssh/**), match: ~/.ssh/id, not_match: /x/.ssh/id}",
		"version: 1\ndeny:\n- {rule: 'WebFetch(domain:a.b)', match: 'https://x.a.b/y', not_match: 'https://a.b.c'}\n- {rule: Skill(x), match: x, not_match: y}",
		"version: 1\ndeny:\n- {rule: mcp__a__*, where: {n: {at_least: 3}}, match: [{n: 3}, '{\"n\":4}'], not_match: [{n: 2}, {}]}",
		"version: 1\nallow:\n- {rule: Bash(ls:*), where: {timeout: {at_most: 5}}, match: {command: ls, timeout: 5}, not_match: [ls, {command: ls, timeout: 6}]}",
	} {
		if _, err := Parse("policy.yaml", []byte(yaml)); err != nil {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	a, b := rules(t, "allow: [X]"), rules(t, "allow: [Y]")
	if a.Hash() == b.Hash() || a.Hash() != rules(t, "allow: [X]").Hash() || a.Hash() == Default().Hash() {
		t.Errorf("got %s, %s", a.Hash(), b.Hash())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(defaultRules)
	f.Add([]byte("version: 1\nallow: [&a X, *a]\ndeny:\n- {rule: 'Bash(rm:*)', why: x}"))
	f.Add([]byte("version: 1\nmode: plan\nskip: {edits: true}\nexec: {security: full, ask: off}\nprojects: [{path: ~/a, allow: [X]}]"))
	f.Add([]byte("version: 1\nask:\n- {rule: mcp__a__b, within: 5m, until: 2030-01-01, where: {'a[].b': {in: [1, x, true]}, c: {matches: 'a|b', present: true}}, match: {a: [{b: 1}], c: a}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := parse("policy.yaml", data, layerProject); err == nil {
			for _, r := range newSet(l).Rules() {
				if r.Effect == gatelatch.Allow {
					t.Fatalf("a project allows %s", r.Text)
				}
			}
		}
		s, err := Parse("policy.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "policy.yaml:") {
				t.Fatalf("%v does not say where", err)
			}
			return
		}
		judge(t, s, bash("ls -la"))
	})
}
