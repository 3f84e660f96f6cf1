package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("a", maxMatched+1) + `"`
	for _, tt := range []struct {
		where, input  string
		allow, strict bool // whether a rule matches
	}{
		{"{repo: acme/site}", `{"repo":"acme/site"}`, true, true},
		{"{repo: acme/site}", `{"repo":"Acme/Site "}`, false, true},
		{"{repo: acme/site}", `{"Repo":"acme/site"}`, false, true},
		{"{repo: acme/site}", `{"repo":"acme/site2"}`, false, false},
		{"{repo: acme/site}", `{}`, false, false},
		{"{repo: acme/site}", `{"repo":null}`, false, true},
		{"{repo: acme/site}", `{"repo":["acme/site"]}`, false, true},
		{"{repo: acme/site}", `{"repo":7}`, false, true},
		{"{repo: acme/site}", `"acme/site"`, false, true},
		{"{n: 1}", `{"n":1}`, true, true},
		{"{n: 1}", `{"n":1.0}`, true, true},
		{"{n: 1}", `{"n":10e-1}`, true, true},
		{"{n: 1}", `{"n":2}`, false, false},
		{"{n: 1}", `{"n":"1"}`, false, true},
		{"{n: 9007199254740993}", `{"n":9007199254740992}`, false, false},
		{"{n: 0}", `{"n":-0}`, true, true},
		{"{n: 0}", `{"n":0e99999999}`, false, true}, // too costly to read
		{"{b: true}", `{"b":true}`, true, true},
		{"{b: true}", `{"b":false}`, false, false},
		{"{b: true}", `{"b":"true"}`, false, true},
		{"{b: {in: [x, 2]}}", `{"b":2}`, true, true},
		{"{b: {in: [x, 2]}}", `{"b":"2"}`, false, false},
		{"{b: {in: [x, 2]}}", `{"b":true}`, false, true},
		{"{a.b: x}", `{"a":{"b":"x"}}`, true, true},
		{"{a.b: x}", `{"a":{"c":"x"}}`, false, false},
		{"{a.b: x}", `{"a":"x"}`, false, true},
		{"{a.b: x}", `{"a":[{"b":"x"}]}`, false, true},
		{"{'f[]': x}", `{"f":["x","x"]}`, true, true},
		{"{'f[]': x}", `{"f":["x","y"]}`, false, true},
		{"{'f[]': x}", `{"f":["y"]}`, false, false},
		{"{'f[]': x}", `{"f":[]}`, false, false},
		{"{'f[]': x}", `{"f":"x"}`, false, true},
		{"{'f[].p': x}", `{"f":[{"p":"x"},{}]}`, false, true},
		{"{'f[].p': x}", `{"f":[{}]}`, false, false},
		{"{'f[].p': x}", `{"f":[{"p":1}]}`, false, true},
		{"{'f[][]': x}", `{"f":[["x"],["x"]]}`, true, true},
		{"{s: {matches: 'a|b'}}", `{"s":"a"}`, true, true},
		{"{s: {matches: 'a|b'}}", `{"s":"ab"}`, false, false},
		{"{s: {matches: 'a.c'}}", `{"s":"a\nc"}`, false, true},
		{"{s: {matches: 'a.c'}}", `{"s":"ABC"}`, false, true},
		{"{s: {matches: 'a*'}}", `{"s":` + long + `}`, false, true},
		{"{s: {matches: 'b'}}", `{"s":` + long + `}`, false, true},
		{"{s: {matches: 'b'}}", `{"s":1}`, false, true},
		{"{n: {at_least: 2, at_most: 3}}", `{"n":2}`, true, true},
		{"{n: {at_least: 2, at_most: 3}}", `{"n":3.0}`, true, true},
		{"{n: {at_least: 2, at_most: 3}}", `{"n":3.01}`, false, false},
		{"{n: {at_least: 2, at_most: 3}}", `{"n":1}`, false, false},
		{"{n: {at_least: 2}}", `{"n":1e400000000}`, false, true},
		{"{n: {at_least: 2}}", `{"n":"1"}`, false, true},
		{"{n: {present: true}}", `{"n":0}`, true, true},
		{"{n: {present: true}}", `{"N":0}`, false, true},
		{"{n: {present: true}}", `{}`, false, false},
		{"{n: {present: true}}", `{"n":null}`, false, true},
		{"{n: {present: false}}", `{}`, true, true},
		{"{n: {present: false}}", `{"n":0}`, false, false},
		{"{n: {present: false}}", `{"N":0}`, false, false},
		{"{n: {present: false}}", `{"n":null}`, false, true},
		{"{p: {under: ./src}}", `{"p":"src/a"}`, true, true},
		{"{p: {under: ./src}}", `{"p":"/p/src"}`, true, true},
		{"{p: {under: ./src}}", `{"p":"/p/SRC/x"}`, false, true},
		{"{p: {under: ./src}}", `{"p":"/p/src2/x"}`, false, false},
		{"{p: {under: ./src}}", `{"p":"src/../x"}`, false, false},
		{"{p: {under: ./src}}", `{"p":" /p/src/x"}`, false, true},
		{"{p: {under: /}}", `{"p":"/x"}`, true, true},
		{"{p: {under: .}}", `{"p":"/p"}`, true, true},
		{"{p: {under: ~/n}}", `{"p":"~/n/x"}`, false, true},
		{"{p: {under: ./src}}", `{"p":""}`, false, true},
		{"{p: {under: ./src}}", `{"p":7}`, false, true},
		{"{u: {domain: a.b}}", `{"u":"https://x.a.b/y"}`, true, true},
		{"{u: {domain: a.b}}", `{"u":"https://a.b.c/y"}`, false, false},
		{"{u: {domain: a.b}}", `{"u":"a.b"}`, false, true},
		{"{u: {domain: a.b}}", `{"u":""}`, false, true},
		{"{a: x, b: y}", `{"a":"x","b":"y"}`, true, true},
		{"{a: x, b: y}", `{"a":"x"}`, false, false},
	} {
		for list, want := range map[string]bool{"allow": tt.allow, "ask": tt.strict, "deny": tt.strict} {
			s := rules(t, fmt.Sprintf("%s:\n- {rule: mcp__x__y, where: %s}", list, tt.where))
			c := call("mcp__x__y", tt.input)
			c.Dir = "/p"
			v := s.Judge(t.Context(), c, &gatelatch.Session{Project: "/p"}, nil)
			if got := v.Reasons[0].Rule != ""; got != want {
				t.Errorf("%s: %s, %.60s: matches is %v", list, tt.where, tt.input, got)
			}
		}
	}
}

func TestConditionsNameTheirField(t *testing.T) {
	t.Parallel()
	v := judge(t, rules(t, "deny:\n- {rule: mcp__x__y, where: {'files[].path': {matches: '.*key'}}}"), call("mcp__x__y", `{"files":[{"path":"a"},{"path":"b.key"}]}`))
	if r := v.Reasons[0]; r.Field != "files[].path" || r.Part != "b.key" || r.Source != "policy.yaml:3" {
		t.Errorf("got %+v", r)
	}
}

func TestConditionsOnOtherTools(t *testing.T) {
	t.Parallel()
	s := rules(t, `
allow:
- {rule: Bash(ls:*), where: {timeout: {at_most: 60000}}}
- {rule: Write(/srv/**), where: {content: {matches: '[a-z ]*'}}}
deny:
- {rule: Edit, where: {new_string: {matches: '.*eval\(.*'}}}
`)
	for _, tt := range []struct {
		call *gatelatch.Call
		want gatelatch.Effect
	}{
		{call("Bash", `{"command":"ls","timeout":5}`), gatelatch.Allow},
		{call("Bash", `{"command":"ls"}`), gatelatch.Ask},
		{call("Bash", `{"command":"ls; x","timeout":5}`), gatelatch.Ask},
		{call("Write", `{"file_path":"/srv/a","content":"plain text"}`), gatelatch.Allow},
		{call("Write", `{"file_path":"/srv/a","content":"#!"}`), gatelatch.Ask},
		{call("Write", `{"file_path":"/else","content":"plain text"}`), gatelatch.Ask},
		{call("Edit", `{"file_path":"/srv/a","new_string":"x = eval(y)"}`), gatelatch.Deny},
	} {
		if got := judge(t, s, tt.call); got.Effect != tt.want {
			t.Errorf("%s %s: got %s, want %s: %s", tt.call.Tool, tt.call.Input, got.Effect, tt.want, messages(got))
		}
	}
}

func TestRulesEnd(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow:\n- {rule: X, until: 2030-01-01}\n- {rule: Y, until: 2001-01-01}\n- Z\ndeny:\n- {rule: Z, until: '2030-01-01T12:00:00+01:00'}")
	at := func(when string) (x, z gatelatch.Effect) {
		now, err := time.Parse(time.RFC3339, when)
		if err != nil {
			t.Fatal(err)
		}
		later := *s
		later.now = func() time.Time { return now }
		return judge(t, &later, call("X", `{}`)).Effect, judge(t, &later, call("Z", `{}`)).Effect
	}
	for when, want := range map[string][2]gatelatch.Effect{
		"2029-12-31T23:59:59Z": {gatelatch.Allow, gatelatch.Deny},
		"2030-01-01T00:00:00Z": {gatelatch.Ask, gatelatch.Deny},
		"2030-01-01T11:00:00Z": {gatelatch.Ask, gatelatch.Allow},
	} {
		if x, z := at(when); x != want[0] || z != want[1] {
			t.Errorf("%s: got %s, %s", when, x, z)
		}
	}
	if got := strings.Join(s.Warnings(), "; "); got != "policy.yaml:4: Y ended on 2001-01-01 and allows nothing" {
		t.Errorf("got %q", got)
	}
}

func TestRulesAsData(t *testing.T) {
	t.Parallel()
	got := rules(t, "ask:\n- {rule: Bash(git push:*), why: w, within: 5m, until: 2030-01-01, where: {a.b: 1, c: {in: [x, y]}}}").Rules()
	if len(got) != 1 {
		t.Fatalf("got %+v", got)
	}
	r := got[0]
	if r.Effect != gatelatch.Ask || r.Text != "Bash(git push:*)" || r.Tool != "Bash" || r.Pattern != "git push:*" || r.Layer != "user" || r.Source != "policy.yaml:3" ||
		r.Why != "w" || r.Within != 5*time.Minute || r.Until.Year() != 2030 || fmt.Sprint(r.Where) != "[a.b is 1 c in x, y]" {
		t.Errorf("got %+v", r)
	}
}

func TestForbiddingEditsAndReads(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [Read(/**), Glob(/**), Write(/**)]\ndeny: [Edit(/srv/**), Read(/etc/**)]\nask: [Write(/srv/**)]")
	for _, tt := range []struct {
		tool, path string
		want       gatelatch.Effect
	}{
		{"Edit", "/srv/x", gatelatch.Deny}, {"Write", "/srv/x", gatelatch.Deny}, {"MultiEdit", "/srv/x", gatelatch.Deny}, {"NotebookEdit", "/srv/x", gatelatch.Deny},
		{"Read", "/srv/x", gatelatch.Allow}, {"Read", "/etc/x", gatelatch.Deny}, {"Glob", "/etc", gatelatch.Deny}, {"Grep", "/etc/x", gatelatch.Deny}, {"LS", "/etc", gatelatch.Deny},
		{"Write", "/etc/x", gatelatch.Allow}, {"Edit", "/etc/x", gatelatch.Ask}, {"Glob", "/srv", gatelatch.Allow},
	} {
		if got := judge(t, s, call(tt.tool, map[string]any{pathTools[tt.tool].field: tt.path})); got.Effect != tt.want {
			t.Errorf("%s %s: got %s, want %s: %s", tt.tool, tt.path, got.Effect, tt.want, messages(got))
		}
	}
}

func TestJudgingThatTakesTooLongIsAsked(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow:\n- {rule: X, where: {a: {matches: '.*'}}}\n"+strings.Repeat("- Z\n", 20)+"deny:\n- {rule: Y, where: {a: b}}")
	slow := *s
	slow.budget = -1
	for tool, want := range map[string]gatelatch.Effect{"X": gatelatch.Ask, "Y": gatelatch.Deny, "Z": gatelatch.Ask} {
		if got := judge(t, &slow, call(tool, `{"a":"b"}`)); got.Effect != want || !strings.Contains(messages(got), "takes too long") {
			t.Errorf("%s: got %s: %s", tool, got.Effect, messages(got))
		}
	}
	if got := judge(t, s, call("Z", `{"a":"b"}`)); got.Effect != gatelatch.Allow {
		t.Errorf("in time: got %s", messages(got))
	}
}
