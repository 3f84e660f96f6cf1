package policy

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func TestBashAllowsPlainCommandsOnly(t *testing.T) {
	t.Parallel()
	s := rules(t, `allow: ["Bash(npm run:*)", "Bash(go test *)", "Bash(git status)", "Bash(touch 'a b')"]`)
	for command, want := range map[string]gatelatch.Effect{
		"npm run":                  gatelatch.Allow,
		"npm run test":             gatelatch.Allow,
		"npm  run 'test'":          gatelatch.Allow,
		"npm running":              gatelatch.Ask,
		"npm":                      gatelatch.Ask,
		"npm 'run test'":           gatelatch.Ask,
		"/usr/bin/npm run test":    gatelatch.Ask,
		"npm run test && rm x":     gatelatch.Ask,
		"npm run $(rm x)":          gatelatch.Ask,
		"npm run test > f":         gatelatch.Ask,
		"npm run *":                gatelatch.Ask,
		"A=1 npm run test":         gatelatch.Ask,
		"env npm run test":         gatelatch.Ask,
		"go test ./cmd":            gatelatch.Allow,
		"go test":                  gatelatch.Allow,
		"go tests":                 gatelatch.Ask,
		"git status":               gatelatch.Allow,
		"git status -s":            gatelatch.Ask,
		"git status # x":           gatelatch.Allow,
		"touch 'a b'":              gatelatch.Allow,
		"touch a b":                gatelatch.Ask,
		"npm run test\nrm x":       gatelatch.Ask,
		"npm run 'x":               gatelatch.Ask,
		strings.Repeat("x", 99999): gatelatch.Ask,
		"":                         gatelatch.Ask,
	} {
		if got := judge(t, s, bash(command)); got.Effect != want {
			t.Errorf("%.40q: got %s, want %s: %s", command, got.Effect, want, messages(got))
		}
	}
}

func TestBareBashAllowsPlainCommandsOnly(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"Bash", `"Bash(*)"`} {
		s := rules(t, "allow: ["+rule+"]")
		for command, want := range map[string]gatelatch.Effect{
			"make all": gatelatch.Allow, "make; rm x": gatelatch.Allow, "sh -c ls": gatelatch.Ask, "ls > f": gatelatch.Ask, "> f": gatelatch.Ask, "x=1": gatelatch.Ask,
		} {
			if got := judge(t, s, bash(command)); got.Effect != want {
				t.Errorf("%s, %q: got %s, want %s", rule, command, got.Effect, want)
			}
		}
	}
}

// denied are ways to run rm -rf y that a rule against rm must see.
var denied = []string{
	"rm -rf y", "/bin/rm -rf y", "RM -rf y", "r''m -rf y", `\rm -rf y`, `r\m -rf y`, "rm  -rf   y",
	"ls; rm -rf y", "ls && rm -rf y", "ls | rm -rf y", "ls & rm -rf y", "ls\nrm -rf y", "(rm -rf y)", "{ rm -rf y; }",
	"echo $(rm -rf y)", "echo `rm -rf y`", `echo "$(rm -rf y)"`, "cat <(rm -rf y)", "echo > $(rm -rf y)", "cat <<E\n$(rm -rf y)\nE",
	"if rm -rf y; then :; fi", "f() { rm -rf y; }", "for i in 1; do rm -rf y; done", "case x in x) rm -rf y;; esac", "! rm -rf y", "time rm -rf y",
	"A=1 rm -rf y", "rm -rf y > f", "rm -rf $x y", "rm -rf y*",
	"env rm -rf y", "env -i A=1 rm -rf y", "sudo -u x rm -rf y", "xargs -n1 rm -rf y", "timeout 5 nice rm -rf y", "find . -exec rm -rf y ;",
	"sh -c 'rm -rf y'", `bash -lc "cd x && rm -rf y"`, "eval rm -rf y", "eval 'rm -rf y'", `sh -c "sh -c 'rm -rf y'"`, "ssh host 'rm -rf y'",
	"command rm -rf y", "exec rm -rf y", "coproc rm -rf y", "ls; coproc rm > f", "trap 'rm -rf y' EXIT", "PAGER='rm -rf y' git log", "export PAGER='rm -rf y'",
	"[[ -v 'a[$(rm -rf y)]' ]]; ls", "test -v 'a[$(rm -rf y)]'", "{rm,-rf,y}", "$x rm -rf y",
	`python3 -c 'import os; os.system("rm -rf y")'`, `node -e 'require("child_process").execFileSync("rm",["-rf","y"])'`,
	"ls 'x; rm -rf y", "ls # x \\\nrm -rf y", "<&-rm -rf y", "ls;\rrm -rf y", strings.Repeat("ls; ", 30000) + "rm -rf y",
}

func TestBashDeniesWhateverCouldRun(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [Bash]\ndeny: ['Bash(rm:*)']")
	for _, command := range denied {
		if got := judge(t, s, bash(command)); got.Effect != gatelatch.Deny {
			t.Errorf("%.60q: got %s: %s", command, got.Effect, messages(got))
		}
	}
	for _, command := range []string{"ls rm", "echo 'rm -rf y'", "git rm x", "grep rm f", "git commit -m 'rm -rf y'", "rmdir x", "farm x"} {
		if got := judge(t, s, bash(command)); got.Effect != gatelatch.Allow {
			t.Errorf("%q: got %s: %s", command, got.Effect, messages(got))
		}
	}
}

func TestBashDenyByWords(t *testing.T) {
	t.Parallel()
	s := rules(t, "allow: [Bash]\ndeny: ['Bash(git push:*)', 'Bash(/opt/x:*)']\nask: ['Bash(npm publish)', 'Bash(dd of=/dev/sda:*)', 'Bash(make)', 'Bash(git remote add up)']")
	for command, want := range map[string]gatelatch.Effect{
		"git push":                      gatelatch.Deny,
		"git push --force":              gatelatch.Deny,
		"sudo git push":                 gatelatch.Deny,
		"git pushy":                     gatelatch.Ask,
		"git -C . push":                 gatelatch.Deny,
		"git --no-pager push":           gatelatch.Deny,
		"git -c a=b push -f":            gatelatch.Deny,
		"/usr/bin/git -C . push x":      gatelatch.Deny,
		"sudo -n git -C . push":         gatelatch.Deny,
		"sudo x git; git -C . push":     gatelatch.Deny,
		"git commit push":               gatelatch.Deny, // -C takes a word, commit does not: who knows
		"push git":                      gatelatch.Allow,
		"git":                           gatelatch.Allow,
		"echo git push":                 gatelatch.Allow,
		"make":                          gatelatch.Ask,
		"make x":                        gatelatch.Allow,
		"make make":                     gatelatch.Allow,
		"npm --loud publish":            gatelatch.Ask,
		"npm publish publish":           gatelatch.Ask,
		"npm":                           gatelatch.Allow,
		"git remote -v add -f up":       gatelatch.Ask,
		"git remote up":                 gatelatch.Ask, // nobody knows what that is
		"git add remote up":             gatelatch.Allow,
		"git remote add up url":         gatelatch.Allow,
		"/opt/x y":                      gatelatch.Deny,
		"x y":                           gatelatch.Allow,
		"npm publish":                   gatelatch.Ask,
		"npm publish --dry-run":         gatelatch.Allow, // the rule is exact
		"env npm publish --dry-run":     gatelatch.Ask,
		"'dd of=/dev/sda":               gatelatch.Ask,
		`python -c 'f(["git","push"])'`: gatelatch.Deny,
	} {
		if got := judge(t, s, bash(command)); got.Effect != want {
			t.Errorf("%q: got %s, want %s: %s", command, got.Effect, want, messages(got))
		}
	}
}

func TestBashDenyLooksIntoAnInputItCannotRead(t *testing.T) {
	t.Parallel()
	s := rules(t, "deny: ['Bash(rm:*)']")
	for _, input := range []string{`{"command":["rm","x"]}`, `{"Command":"rm x"}`, `["ls; rm x"]`} {
		if got := judge(t, s, call("Bash", input)); got.Effect != gatelatch.Deny {
			t.Errorf("%s: got %s", input, got.Effect)
		}
	}
}

func TestReasonsPointAtTheCommand(t *testing.T) {
	t.Parallel()
	command := "ls ü; git push; ls; git push -f"
	v := judge(t, rules(t, "deny: ['Bash(git push:*)']"), bash(command))
	var got []string
	for _, r := range v.Reasons {
		if r.Part != command[r.Start:r.End] || r.Source != "policy.yaml:2" || r.Layer != "user" || r.Rule != "Bash(git push:*)" {
			t.Errorf("got %+v", r)
		}
		got = append(got, r.Part)
	}
	if len(got) != 2 || got[0] != "git push" || got[1] != "git push -f" {
		t.Errorf("got %q", got)
	}
	if v := judge(t, rules(t, "deny: ['Bash(rm:*)']"), bash(strings.Repeat("rm x;", 1000))); len(v.Reasons) != maxHits {
		t.Errorf("got %d reasons", len(v.Reasons))
	}
}

func TestCommandsThatNameProtectedPaths(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "allow: [Bash, 'Bash(cp:*)']")
	for command, want := range map[string]gatelatch.Effect{
		"cp a src/b":                           gatelatch.Allow,
		"cp":                                   gatelatch.Allow,
		"cp a .gitignore":                      gatelatch.Allow,
		"cp a loop/x":                          gatelatch.Allow,
		"cp a " + strings.Repeat("long", 1000): gatelatch.Allow,
		"git clone https://example.com/x.git":  gatelatch.Allow,
		"cp a .git/hooks/pre-commit":           gatelatch.Ask,
		"cp a sub/../.git/config":              gatelatch.Ask,
		"cp a '.GIT/config'":                   gatelatch.Ask,
		"cp a config/hooks/x":                  gatelatch.Ask, // a link to .git
		"cp a in/../config/x":                  gatelatch.Ask,
		"cp --target-directory=.git/hooks a":   gatelatch.Ask,
		"cp --target-directory=config/hooks a": gatelatch.Ask,
		"cp -t.git a":                          gatelatch.Ask,
		"dd if=a of=.bashrc":                   gatelatch.Ask,
		"curl -d x=@.bashrc":                   gatelatch.Ask,
		"docker run -v .git:x":                 gatelatch.Ask,
		"ls .git":                              gatelatch.Allow,
		"tee '~/.ssh/config'":                  gatelatch.Ask,
		"cp a /etc/claude-code/x.json":         gatelatch.Ask,
		"cp a /r/x.git/hooks/post-update":      gatelatch.Ask,
		"ls" + strings.Repeat(" deep/"+strings.Repeat("x/", 30), 120): gatelatch.Allow,
	} {
		c, sess := in(top, "Bash", map[string]any{"command": command})
		if got := s.Judge(t.Context(), c, sess, nil); got.Effect != want {
			t.Errorf("%.60q: got %s, want %s: %s", command, got.Effect, want, messages(got))
		}
	}
	c, sess := in(top, "Bash", map[string]any{"command": "cp" + strings.Repeat(" a", 3500)})
	c.Dir += strings.Repeat("/d", 20)
	if got := s.Judge(t.Context(), c, sess, nil); got.Effect != gatelatch.Ask {
		t.Errorf("too many to look at: got %s", got.Effect)
	}
}
