package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// An agent never runs what only people may, whatever allows it.
func TestApproverCommandsAreDenied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "harmless")
	if err := os.WriteFile(filepath.Join(dir, "gatelatch"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "gatelatch"), link); err != nil {
		t.Fatal(err)
	}
	everything := rules(t, `
allow: [Bash, "Bash(gatelatch:*)", "Bash(gatelatch allow:*)"]
skip: {bash: true}
mode: bypassPermissions
exec: {security: full, ask: 'off'}
`)
	chosen := &gatelatch.Session{Agent: "key_a", Project: "/p", Chosen: gatelatch.ModeChoice{Mode: gatelatch.ModeBypass}}
	grants := []*gatelatch.Grant{
		{ID: "grt_1", Match: "Bash(gatelatch allow:*)", Scope: gatelatch.ForSession, Agent: "key_a"},
		{ID: "grt_2", Match: "Bash(gatelatch:*)", Scope: gatelatch.ForSession, Agent: "key_a"},
	}
	wraps := []string{
		"%s", "env %s", "env A=1 %s", "A=1 %s", "command %s", "exec %s", "nohup %s &", "sudo %s", "timeout 5 %s", "nice -n 3 %s", "time %s", "xargs %s",
		"sh -c '%s'", `bash -lc "%s"`, "ls; %s", "ls && %s", "true | %s", "(%s)", "{ %s; }", "if true; then %s; fi", "for i in 1 2; do %s; done",
		"echo $(%s)", "echo `%s`", "eval '%s'", "setsid %s", "find . -exec %s \\;", "f() { %s; }; f", "env sh -c 'sleep 5; %s' &", "cat <(%s)",
		"stdbuf -o0 %s", "watch -n1 %s", "trap '%s' EXIT", "%s >/dev/null 2>&1",
	}
	names := []string{"gatelatch", "/usr/local/bin/gatelatch", "./bin/gatelatch", "../gatelatch", "gatelatch.exe", `"gatelatch"`, "gate''latch", `g\atelatch`, link}
	for _, verb := range []string{"allow cal_1", "deny cal_1", "keys add x --role admin", "policy apply x.yaml", "mode s bypassPermissions --for 1h", "open --print", "login", "unpause",
		"--state /x allow cal_1", "edit cal_1", "grants revoke g", "restore f", "somethingnew", "uninstall claude", "watch", `al""low cal_1`, "$X cal_1"} {
		for i, name := range names {
			for j, wrap := range wraps {
				if i > 0 && j > 0 && i != 1 { // every name plainly, every wrapper with two names
					continue
				}
				line := strings.ReplaceAll(wrap, "%s", name+" "+verb)
				if strings.Contains(wrap, "'") && strings.Contains(name, "'") || strings.Contains(wrap, `"%s"`) && strings.ContainsAny(name+verb, `"$`) {
					continue // the quotes would end
				}
				v := everything.Judge(t.Context(), bash(line), chosen, grants)
				if v.Effect != gatelatch.Deny {
					t.Errorf("%s: %s, %+v", line, v.Effect, v.Reasons)
				}
			}
		}
	}
	if v := everything.Judge(t.Context(), bash("go run ./cmd/gatelatch allow cal_1"), chosen, nil); v.Effect != gatelatch.Deny {
		t.Errorf("by go run: %+v", v)
	}
}

// What decides nothing is judged as any command, and so is what only speaks of it.
func TestOtherCommandsAreNot(t *testing.T) {
	t.Parallel()
	all := rules(t, "allow: [Bash]")
	for _, line := range []string{
		"gatelatch --help", "gatelatch", "gatelatch allow --help", "gatelatch policy check x.yaml", "gatelatch doctor", "gatelatch ls --json", "gatelatch hook claude --state /x",
		"echo gatelatch allow cal_1", `git commit -m "gatelatch allow is documented"`, "grep -r 'gatelatch allow' docs", "cat gatelatch", "ls gatelatch", "go build ./cmd/gatelatch", "go test ./cmd/gatelatch -run allow",
		"gatelatch-hook --version", "mygatelatch allow x",
	} {
		v := all.Judge(t.Context(), bash(line), &gatelatch.Session{Project: "/p"}, nil)
		for _, r := range v.Reasons {
			if r.Effect == gatelatch.Deny {
				t.Errorf("%s: %s", line, r.Message)
			}
		}
	}
}
