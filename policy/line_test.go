package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// reading is a project with links in it, where commands that only read may run.
func reading(t *testing.T, yaml string) func(command string) gatelatch.Verdict {
	t.Helper()
	top := t.TempDir()
	for _, dir := range []string{"p/src/private", "p/links", "p/.git", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "p/src/private/a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"p/out": "elsewhere", "p/in": "p/src", "p/links/out": "elsewhere"} {
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(top, "p")
	s := rules(t, "exec: {reads: allow}\n"+yaml)
	return func(command string) gatelatch.Verdict {
		c := bash(strings.ReplaceAll(command, "TOP", top))
		c.Dir = project
		return s.Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil)
	}
}

func TestLinesThatOnlyRead(t *testing.T) {
	t.Parallel()
	judge := reading(t, "")
	for command, want := range map[string]gatelatch.Effect{
		"ls":                                 gatelatch.Allow,
		"cat src/a | sort | uniq -c":         gatelatch.Allow,
		"cd src && ls -la; pwd":              gatelatch.Allow,
		"for f in a b; do cat $f; done":      gatelatch.Allow,
		"cat in/x":                           gatelatch.Allow, // a link that stays
		"ls 2>/dev/null || true":             gatelatch.Allow,
		"cat TOP/p/src/a":                    gatelatch.Allow,
		"git log --oneline -5":               gatelatch.Allow,
		"bash -c 'ls src'":                   gatelatch.Allow,
		"cat out/x":                          gatelatch.Ask, // a link that leaves
		"cat links/*":                        gatelatch.Ask,
		"cat src/*":                          gatelatch.Allow,
		"cat ../elsewhere/x":                 gatelatch.Ask,
		"cat TOP/elsewhere/x":                gatelatch.Ask,
		"cat /etc/passwd":                    gatelatch.Ask,
		"ls /tmp":                            gatelatch.Ask,
		"cat .env":                           gatelatch.Ask,
		"cat a > b":                          gatelatch.Ask,
		"ls; rm x":                           gatelatch.Ask,
		"find . -delete":                     gatelatch.Ask,
		"git log --output=x":                 gatelatch.Ask,
		"git -c core.pager=x log":            gatelatch.Ask,
		"frobnicate":                         gatelatch.Ask,
		"ls $(frobnicate)":                   gatelatch.Ask,
		"cat <<EOF\n$(rm x)\nEOF":            gatelatch.Ask,
		"make":                               gatelatch.Ask,
		"ls 'x":                              gatelatch.Ask,
		"":                                   gatelatch.Ask,
		"ls\u202e":                           gatelatch.Ask,
		"LD_PRELOAD=x ls":                    gatelatch.Ask,
		"ln -s /etc/passwd src/a; cat src/a": gatelatch.Ask,
	} {
		if v := judge(command); v.Effect != want {
			t.Errorf("%q: got %s, want %s: %s", command, v.Effect, want, messages(v))
		}
	}
}

// A rule for Read or Edit is about the shell, too.
func TestPathRulesCoverTheShell(t *testing.T) {
	t.Parallel()
	judge := reading(t, "allow: ['Bash(cp:*)', 'Bash(rm:*)']\nask: ['Read(**/notes*)']\ndeny: ['Read(./src/private/**)', 'Edit(./src/**)']\n")
	for command, want := range map[string]gatelatch.Effect{
		"cat src/a":                       gatelatch.Allow,
		"cat notes.txt":                   gatelatch.Ask,
		"head -3 < notes.txt":             gatelatch.Ask,
		"cat src/private/a":               gatelatch.Deny,
		"cat in/private/a":                gatelatch.Deny, // by its link
		"cd src; cat private/a":           gatelatch.Deny,
		"ls; bash -c 'cat src/private/a'": gatelatch.Deny,
		"cp a b":                          gatelatch.Allow,
		"cp a src/b":                      gatelatch.Deny,
		"echo x > src/b":                  gatelatch.Deny,
		"rm src/b":                        gatelatch.Deny,
		"grep -r x .":                     gatelatch.Deny, // goes into src/private
		"grep -r x src/private":           gatelatch.Deny,
		"ls -R":                           gatelatch.Allow,
		"rm -r .":                         gatelatch.Deny,
		"rm -r links":                     gatelatch.Allow,
	} {
		if v := judge(command); v.Effect != want {
			t.Errorf("%q: got %s, want %s: %s", command, v.Effect, want, messages(v))
		}
	}
}

// A rule with open words means what a command is for.
func TestWhatAPrefixMeans(t *testing.T) {
	t.Parallel()
	judge := reading(t, "allow: ['Bash(mv:*)', 'Bash(kill:*)', 'Bash(unzip:*)', 'Bash(tar:*)', 'Bash(tar -xf:*)', 'Bash(sort:*)', 'Bash(curl:*)']\n")
	for command, want := range map[string]gatelatch.Effect{
		"mv a b":                gatelatch.Allow,
		"kill 12":               gatelatch.Allow,
		"unzip a.zip":           gatelatch.Allow,
		"tar -tf a":             gatelatch.Allow,
		"tar -xf a":             gatelatch.Allow, // its own rule
		"tar -xvf a":            gatelatch.Ask,
		"tar -xf a -C /etc":     gatelatch.Ask,
		"sort a":                gatelatch.Allow,
		"sort -o a b":           gatelatch.Ask,
		"curl https://x.org":    gatelatch.Allow,
		"curl -o f https://x.y": gatelatch.Ask,
		"mv a .git/hooks/x":     gatelatch.Ask,
	} {
		if v := judge(command); v.Effect != want {
			t.Errorf("%q: got %s, want %s: %s", command, v.Effect, want, messages(v))
		}
	}
}

// Each command of a line needs its own rule, and says why it has none.
func TestLinesAreCoveredCommandByCommand(t *testing.T) {
	t.Parallel()
	judge := reading(t, "allow: ['Bash(npm run:*)', 'Bash(go vet:*)', 'Bash(git log:*)', 'Bash(git commit -m done)', 'Bash(mytool:*)']\n")
	for command, want := range map[string]string{
		"npm run test && go vet ./...":          "",
		"cd src && npm run test 2>&1 | tail -5": "",
		"timeout 60 npm run test":               "",
		"(npm run test)":                        "",
		"git commit -m done":                    "",
		"mytool x --y":                          "",
		"npm run test > log":                    "writes TOP/p/log",
		"npm run test && npm publish":           "npm publish",
		"npm run test $X":                       "npm run",
		"NODE_OPTIONS=x npm run test":           "NODE_OPTIONS",
		"sudo npm run test":                     "sudo",
		"git log --output=x":                    "writes TOP/p/x",
		"git commit -m done --amend":            "git commit",
		"mytool x; othertool":                   "nobody described the program othertool",
		"mytool x <<E\nE":                       "",
		"mytool .git/hooks/x":                   "protected path",
		"cd src && npm run test":                "",
		"cd ../elsewhere && npm run test":       "npm run",
		"cd out && npm run test":                "npm run", // a link that leaves
		"cd $X && npm run test":                 "npm run",
		"export PATH=./bin; npm run test":       "PATH",
		"npm() { rm -rf x; }; npm run test":     "rm",
	} {
		v := judge(command)
		allowed := want == "" && !strings.Contains(command, "<<")
		if (v.Effect == gatelatch.Allow) != allowed {
			t.Errorf("%q: got %s: %s", command, v.Effect, messages(v))
		}
		_, tail, _ := strings.Cut(want, "TOP")
		if !strings.Contains(messages(v), tail) {
			t.Errorf("%q: says %s, not %q", command, messages(v), want)
		}
		if !allowed && slices.ContainsFunc(v.Reasons, func(r gatelatch.Reason) bool { return r.Effect == gatelatch.Allow }) {
			t.Errorf("%q: a rule says that it allows this: %s", command, messages(v))
		}
	}
}
