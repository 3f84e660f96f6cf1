package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/policy/review"
)

// rulesFile writes a policy beside which nothing else is.
func rulesFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	writeFile(t, path, "version: 1\n"+text)
	return path
}

// cli runs a command that needs no gateway, with nobody to ask.
func cli(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRootCmd()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// offline is cli where there is no policy.yaml.
func offline(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return cli(t, append(args, "--config", t.TempDir())...)
}

func TestPolicyExplain(t *testing.T) {
	file := rulesFile(t, "deny: ['Bash(git push:*)']\n")
	out, err := offline(t, "policy", "explain", "--policy", file, "Bash", "ls && git push -f")
	if err != nil || !strings.Contains(out, "deny: it is denied") || !strings.Contains(out, "ls && git push -f\n               ^^^^^^^^^^^\n") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = offline(t, "policy", "explain", "--json", "--policy", file, "Bash", "git push")
	var v gatelatch.Verdict
	if err != nil || json.Unmarshal([]byte(out), &v) != nil || v.Effect != gatelatch.Deny || v.Reasons[0].Rule != "Bash(git push:*)" || v.Reasons[0].End != 8 {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := offline(t, "policy", "explain", "--policy", "/nowhere/x.yaml", "Bash", "ls"); err == nil {
		t.Errorf("rules that are not there: %s", out)
	}
	if out, err := offline(t, "policy", "explain", "--policy", file, "--mode", "acceptEdits", "Edit", "a.go"); err != nil || !strings.Contains(out, "chosen by a person\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := offline(t, "policy", "explain", "--mode", "yolo", "Bash", "ls"); err == nil {
		t.Errorf("a mode that is not there: %s", out)
	}
	if out, err := offline(t, "policy", "explain", "--policy", rulesFile(t, "denny: []\n"), "Bash", "ls"); err == nil {
		t.Errorf("broken rules: %s", out)
	}
}

func TestPolicyTest(t *testing.T) {
	rules := rulesFile(t, "allow: [Bash(git status)]\n")
	table := filepath.Join(t.TempDir(), "rules_test.yaml")
	writeFile(t, table, "version: 1\ntests:\n  - {tool: Bash, command: git status, expect: allow}\n")
	if out, err := offline(t, "policy", "test", "--policy", rules, table); err != nil || out != "1 tests, all as expected\n" {
		t.Errorf("%v\n%s", err, out)
	}
	writeFile(t, table, "version: 1\ntests:\n  - {tool: Bash, command: git status, expect: deny}\n")
	out, err := offline(t, "policy", "test", "--policy", rules, table)
	if err == nil || !strings.Contains(out, "rules_test.yaml:3: Bash git status\n  want deny\n  got  allow: allowed by the rule Bash(git status), rules.yaml:2\n") {
		t.Errorf("%v\n%s", err, out)
	}
	var got tested
	out, err = offline(t, "policy", "test", "--json", "--policy", rules, table)
	if err == nil || json.Unmarshal([]byte(out), &got) != nil || got.Failed != 1 || got.Tests[0].OK {
		t.Errorf("%v\n%s", err, out)
	}
	writeFile(t, table, "version: 1\ntests: []\n")
	if _, err := offline(t, "policy", "test", table); err == nil {
		t.Error("no tests are no success")
	}
}

// asks makes messages different.
var asks atomic.Int64

// decideAll proposes commands and answers them.
func decideAll(t *testing.T, opt gatewayOptions, answer string, commands ...string) {
	t.Helper()
	for _, c := range commands {
		id := ask(t, opt, fmt.Sprintf("%s %d", t.Name(), asks.Add(1)), c).Calls[0].ID
		if answer != "" {
			mustRun(t, opt, answer, id)
		}
	}
}

func TestPolicyLearnsFromWhatHappened(t *testing.T) {
	opt := testGateway(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	decideAll(t, opt, "", "cargo doc")      // waits
	decideAll(t, opt, "allow", "cargo fmt") // which nobody takes
	mustRun(t, opt, "pause")                // denies the one, revokes the other
	decideAll(t, opt, "", "git push")       // is denied by the pause
	mustRun(t, opt, "unpause")
	decideAll(t, opt, "allow", "cargo check", "cargo check", "git push", "git push", "echo '\u202e<&>'")
	decideAll(t, opt, "deny", "git push")
	decideAll(t, opt, "", "pwd")

	file := filepath.Join(t.TempDir(), "history.jsonl")
	text := mustRun(t, opt, "policy", "history")
	writeFile(t, file, text)
	states := map[string]int{}
	for line := range strings.Lines(text) {
		var r history.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		states[r.Effect.String()+" "+string(r.State)+" by "+r.By]++
		if strings.Contains(string(r.Input), "echo") && string(r.Input) != `{"command":"echo '`+"\u202e"+`<&>'"}` {
			t.Errorf("the input is not the one that was decided: %s", r.Input)
		}
	}
	want := map[string]int{"ask allowed by person": 5, "ask denied by person": 1, "allow allowed by policy": 1, "ask denied by pause": 1, "ask revoked by pause": 1}
	if fmt.Sprint(states) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", states, want)
	}

	for _, from := range [][]string{nil, {"--from", file}} {
		out := mustRun(t, opt, append([]string{"policy", "suggest", "--config", opt.config}, from...)...)
		if !strings.HasPrefix(out, "Bash(cargo check)\n    saves 2 questions\n") || strings.Contains(out, "git push") || !strings.Contains(out, "saved 2 of 8 questions") {
			t.Errorf("%v: %s", from, out)
		}
		good, bad := rulesFile(t, "allow: [Bash(cargo check)]\n"), rulesFile(t, "allow: [Bash(git push)]\n")
		out = mustRun(t, opt, append([]string{"policy", "backtest", good}, from...)...)
		if !strings.Contains(out, "vanished: 2, new: 1") {
			t.Errorf("%v: %s", from, out)
		}
		out, err := command(t, opt, append([]string{"policy", "backtest", bad}, from...)...)
		if err == nil || !strings.Contains(out, "a person refused, now allowed  1\n") || !strings.Contains(out, "Bash git push  (allowed by the rule Bash(git push), rules.yaml:2)") {
			t.Errorf("%v: %v\n%s", from, err, out)
		}
		out, err = command(t, opt, append([]string{"policy", "backtest", "--json", bad}, from...)...)
		var res history.Result
		if err == nil || json.Unmarshal([]byte(out), &res) != nil || res.Opened.Count != 1 || res.Vanish != 3 {
			t.Errorf("%v: %v\n%s", from, err, out)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBar(t *testing.T) {
	b := &bar{verb: "judged", total: 300}
	for n, want := range map[int]string{
		0:   "[..............................]   0%  0 of 300 calls judged",
		150: "[###############...............]  50%  150 of 300 calls judged",
		300: "[##############################] 100%  300 of 300 calls judged",
		400: "[##############################] 100%  400 of 300 calls judged",
	} {
		if got := b.line(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := (&bar{verb: "fetched"}).line(7); got != "7 calls fetched" {
		t.Errorf("%q", got)
	}
}

func TestPolicyCheck(t *testing.T) {
	good, risky, broken := rulesFile(t, "allow: [Read(./**)]\n"), rulesFile(t, "allow:\n  - Read(./**)\n  - Read(./a)\n"), rulesFile(t, "allow: ['Bash(python:*)']\n")
	if out, err := offline(t, "policy", "check", good, "--strict"); err != nil || out != "Nothing to report.\n" {
		t.Errorf("%v\n%s", err, out)
	}
	out, err := offline(t, "policy", "check", risky)
	if want := risky + ":4: warning: Read(./a): it adds nothing to Read(./**) in line 3 [shadowed]\n  hint: "; err != nil || !strings.HasPrefix(out, want) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := offline(t, "policy", "check", risky, "--strict"); err == nil {
		t.Error("warnings pass --strict")
	}
	out, err = offline(t, "policy", "check", good, broken)
	if err == nil || !strings.Contains(out, broken+":2: error: Bash(python:*): python runs what its arguments say") {
		t.Errorf("%v\n%s", err, out)
	}
	var found struct{ Findings []review.Finding }
	out, err = offline(t, "policy", "check", risky, "--json")
	if err != nil || json.Unmarshal([]byte(out), &found) != nil || len(found.Findings) != 1 || found.Findings[0].Code != "shadowed" {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := offline(t, "policy", "check"); err != nil || !strings.Contains(out, "the built-in rules hold") {
		t.Errorf("without a file: %v\n%s", err, out)
	}
}

func TestPolicyDiff(t *testing.T) {
	one, two := rulesFile(t, "deny: ['Bash(git push:*)']\n"), rulesFile(t, "allow: [Bash(make)]\n")
	run := func(args ...string) (string, error) { return cli(t, append([]string{"policy", "diff"}, args...)...) }
	out, err := run(one, two)
	if err != nil || !strings.HasPrefix(out, "The new rules are wider: they let more through.\n") ||
		!strings.Contains(out, "wider: Bash git push\n  old  deny   denied by the rule Bash(git push:*), rules.yaml:2\n  new  ask    connects to other machines and changes the repository: git push\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run(one, two, "--exit-code"); err == nil {
		t.Error("they differ")
	}
	if out, err := run(one, one, "--exit-code"); err != nil || out != "The rules are the same.\n" {
		t.Errorf("%v\n%s", err, out)
	}
	var d review.Difference
	if out, err := run(one, two, "--json"); err != nil || json.Unmarshal([]byte(out), &d) != nil || d.Relation != review.Wider {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run(one, one+".none"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestPolicyImportClaude(t *testing.T) {
	home, project, config := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for dir, text := range map[string]string{
		home:    `{"permissions":{"allow":["Bash(npm run test:*)","Bash(python:*)"],"deny":["Read(.env)"]}}`,
		project: `{"permissions":{"allow":["Edit(/src/**)"]}}`,
	} {
		if err := os.Mkdir(filepath.Join(dir, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, ".claude", "settings.json"), text)
	}
	run := func(args ...string) (string, error) {
		return cli(t, append([]string{"policy", "import", "claude", "--project", project, "--managed", "/nowhere/m.json", "--config", config}, args...)...)
	}
	out, err := run()
	for _, want := range []string{"- Bash(npm run test:*)\n", "# left out: Bash(python:*): python runs", "- Read(**/.env)\n", "- path: " + project + "\n", "- Write(" + project + "/src/**/*)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%v: no %q\n%s", err, want, out)
		}
	}
	file := filepath.Join(config, "policy.yaml")
	if out, err := run("--write"); err == nil || !strings.Contains(out, "+  - Bash(npm run test:*)") {
		t.Errorf("written without a yes: %v\n%s", err, out)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there")
	}
	if out, err := run("--write", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	set, err := policy.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, r := range set.Rules() {
		texts = append(texts, r.Text)
	}
	for _, want := range []string{"Read(./**)", "Bash(npm run test:*)", "Edit(" + project + "/src/**/*)"} { // the first is built in
		if !slices.Contains(texts, want) {
			t.Errorf("no %s in %q", want, texts)
		}
	}
	if out, err := run("--json"); err != nil || !strings.Contains(out, `"left_out": [`) {
		t.Errorf("%v\n%s", err, out)
	}
	writeFile(t, filepath.Join(home, ".claude", "settings.json"), "{")
	if out, err := run(); err == nil {
		t.Errorf("settings that can't be read: %s", out)
	}
}

func TestPolicySchema(t *testing.T) {
	if out, err := cli(t, "policy", "schema"); err != nil || out != string(policy.Schema) || !json.Valid([]byte(out)) {
		t.Errorf("%v\n%s", err, out)
	}
}
