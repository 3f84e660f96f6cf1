package review

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

// A Severity says how much a finding matters.
type Severity string

// Severities.
const (
	Error   Severity = "error"   // the file can't be read
	Warning Severity = "warning" // a rule does not do what it seems to, or more
	Info    Severity = "info"
)

// A Finding is something about a rule that its author may want to know.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Rule     string   `json:"rule,omitempty"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// Lint reads a policy file and says what is wrong or risky in it. name is that
// of the file: one of a project's own folder is held to what it may say.
func Lint(name string, data []byte, now time.Time) []Finding {
	set, err := policy.Parse(name, data)
	if err != nil {
		return []Finding{broken(name, err)}
	}
	l := linter{name: name, now: now, rules: set.Rules(), examples: examples(data)}
	own := strings.HasSuffix(filepath.ToSlash(name), policy.ProjectFile)
	for i, r := range l.rules {
		if own && r.Effect == gatelatch.Allow {
			l.add(r, Error, "unreadable", "write what to allow into your own policy.yaml, under projects", "a project's file can only ask and deny")
		}
		l.rule(i)
	}
	for i := range l.rules {
		l.overlaps(i)
	}
	l.settings(data)
	slices.SortStableFunc(l.found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return l.found
}

// broken takes "file:line: message" apart.
func broken(name string, err error) Finding {
	f := Finding{Severity: Error, Code: "unreadable", File: name, Line: 1, Message: err.Error()}
	if rest, ok := strings.CutPrefix(f.Message, name+":"); ok {
		line, message, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(line); err == nil {
			f.Line, f.Message = n, message
		}
	}
	return f
}

type linter struct {
	name     string
	now      time.Time
	rules    []policy.Rule
	examples map[int]bool // lines of rules that have some
	found    []Finding
}

func (l *linter) add(r policy.Rule, s Severity, code, hint, format string, args ...any) {
	l.found = append(l.found, Finding{
		Severity: s, Code: code, File: l.name, Line: line(r), Rule: r.Text, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// line is where the rule stands.
func line(r policy.Rule) int {
	n, _ := strconv.Atoi(r.Source[strings.LastIndexByte(r.Source, ':')+1:]) // 0 if it says none
	return n
}

func place(r policy.Rule) string { return fmt.Sprintf("%s in line %d", r.Text, line(r)) }

// rule looks at one rule.
func (l *linter) rule(i int) {
	r := l.rules[i]
	if !r.Until.IsZero() && !l.now.Before(r.Until) {
		l.add(r, Warning, "ended", "remove it, or give it another end", "it ended on %s and does nothing", r.Until.Format(time.DateOnly))
		return
	}
	if why, hint := tooBroad(r); why != "" {
		l.add(r, Warning, "too-broad", hint, "%s", why)
		if !l.examples[line(r)] {
			l.add(r, Info, "no-examples", "add match: and not_match: with calls that you mean and don't mean", "it allows much and has no examples")
		}
	}
	if r.Effect == gatelatch.Deny && r.Why == "" {
		l.add(r, Info, "no-why", "add why: the agent and people are told it", "it denies and does not say why")
	}
	l.covered(i)
}

// covered looks for another rule that leaves nothing for this one to do.
func (l *linter) covered(i int) {
	r := l.rules[i]
	for j, other := range l.rules {
		ended := !other.Until.IsZero() && !l.now.Before(other.Until)
		if i == j || ended || !covers(other, r) {
			continue
		}
		switch {
		case other.Effect < r.Effect:
			l.add(r, Warning, "never", "remove one of them, or make the other narrower", "it never counts: %s comes before it for all of it", place(other))
			return
		case other.Effect == r.Effect && (!covers(r, other) || j < i):
			l.add(r, Warning, "shadowed", "remove it, or remove the wider one", "it adds nothing to %s", place(other))
			return
		}
	}
}

// overlaps looks for stricter rules that take a part of what this one says,
// where neither lies within the other.
func (l *linter) overlaps(i int) {
	r := l.rules[i]
	for _, other := range l.rules {
		around := r
		around.Effect = other.Effect
		if other.Effect >= r.Effect || covers(other, r) || covers(around, other) {
			continue
		}
		if example := common(r, other); example != "" {
			l.add(r, Info, "overlap", "", "%s also speaks about some of it and wins, for example about %s", place(other), example)
		}
	}
}

// common returns a call that both rules are about, "" if none was found.
func common(a, b policy.Rule) string {
	if a.Tool != b.Tool || len(a.Where)+len(b.Where) > 0 || a.Project != b.Project {
		return ""
	}
	sets := [2]*policy.Set{}
	for i, r := range []policy.Rule{a, b} {
		text, err := yaml.Marshal(map[string]any{"version": 1, r.Effect.String(): []string{r.Text}})
		if err != nil {
			return ""
		}
		if sets[i], err = policy.Parse("", text); err != nil {
			return ""
		}
	}
	for _, s := range append(samples(a), samples(b)...) {
		c, sess := s.call()
		v, w := sets[0].JudgeFacts(sets[0].ReadAsWritten(c, sess), nil), sets[1].JudgeFacts(sets[1].ReadAsWritten(c, sess), nil)
		if v.Effect == a.Effect && v.Reasons[0].Rule != "" && w.Effect == b.Effect && w.Reasons[0].Rule != "" {
			return s.text
		}
	}
	return ""
}

// examples returns the lines of rules that have examples.
func examples(data []byte) map[int]bool {
	out := map[int]bool{}
	walk(data, func(mapping, key, _ *yaml.Node) {
		if key.Value == "match" || key.Value == "not_match" {
			out[mapping.Line] = true
		}
	})
	return out
}

// settings looks at what widens without a rule.
func (l *linter) settings(data []byte) {
	walk(data, func(_, key, value *yaml.Node) {
		why := risky[key.Value+": "+value.Value]
		if why != "" {
			l.found = append(l.found, Finding{Severity: Warning, Code: "too-broad", File: l.name, Line: key.Line,
				Rule: key.Value + ": " + value.Value, Message: why, Hint: "allow by rules, or choose a mode for one session"})
		}
	})
}

var risky = map[string]string{
	"mode: bypassPermissions": "whatever no rule speaks about runs, in every session",
	"bash: true":              "every command that no rule speaks about runs",
	"mcp: true":               "every MCP tool that no rule speaks about runs",
	"security: full":          "every command that no rule speaks about runs",
}

// walk calls fn for every key of every mapping.
func walk(data []byte, fn func(mapping, key, value *yaml.Node)) {
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil {
		return
	}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				fn(n, child, n.Content[i+1])
			}
			visit(child)
		}
	}
	visit(&root)
}
