package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// judged is what the built-in rules say about a command line in dir.
func judged(t *testing.T, command, dir, project string) gatelatch.Verdict {
	t.Helper()
	c := bash(command)
	c.Dir = dir
	return Default().Judge(t.Context(), c, &gatelatch.Session{Project: project}, nil)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What only looks is asked about where a file of the project makes it run code,
// and the question names the file.
func TestProjectFilesThatRunCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, file, text string }{
		{"yarn why x", ".yarnrc.yml", "nodeLinker: x\nyarnPath: .yarn/releases/yarn.cjs\n"},
		{"yarn --version", ".yarnrc.yml", "yarnPath: ./x.cjs\n"},
		{"yarn why x", ".yarnrc.yml", "\"yarnPath\": ./x.cjs\n"},
		{"yarn why x", ".yarnrc.yml", "\"yarn\\x50ath\": ./x.cjs\n"},
		{"yarn why x", ".yarnrc.yml", "plugins:\n  - path: x.cjs\n"},
		{"yarn list", ".yarnrc", "yarn-path \"./x.js\"\n"},
		{"pnpm ls", ".pnpmfile.cjs", ""},
		{"pnpm ls", "pnpm-workspace.yaml", "packages: [a]\npnpmfile: x.cjs\n"},
		{"pnpm -r why x", ".npmrc", "script-shell=./x\n"},
		{"npm ls", ".npmrc", "  script-shell = ./x\n"},
		{"npm view x", ".npmrc", "registry=https://example.com/${HOME}/\n"},
		{"npm outdated", ".npmrc", "git=./x\n"},
		{"cargo tree", ".cargo/config.toml", "[build]\nrustc-wrapper = \"./x\"\n"},
		{"cargo metadata", ".cargo/config", "build.rustc = \"./x\"\n"},
		{"cargo metadata", ".cargo/config.toml", "build = { \"rustc\" = \"./x\" }\n"},
		{"cargo tree", ".cargo/config.toml", "[env]\nA = \"b\"\n"},
		{"cargo --version", "rust-toolchain.toml", "[toolchain]\npath = \"./x\"\n"},
		{"rustup show", "rust-toolchain", "./x\n"},
		{"terraform validate", ".terraform/providers/x", ""},
		{"packer validate a.pkr.hcl", "packer-plugin-x", ""},
	} {
		t.Run(tt.command+" "+tt.file, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			if v := judged(t, tt.command, project, project); v.Effect != gatelatch.Allow {
				t.Fatalf("without the file: %v: %s", v.Effect, messages(v))
			}
			writeFile(t, filepath.Join(project, tt.file), tt.text)
			name, _, _ := strings.Cut(tt.file, "/x")
			if v := judged(t, tt.command, project, project); v.Effect != gatelatch.Ask || !strings.Contains(messages(v), name) {
				t.Errorf("with it: %v: %s", v.Effect, messages(v))
			}
			sub := filepath.Join(project, "sub")
			writeFile(t, filepath.Join(sub, "a"), "")
			above := !strings.HasPrefix(tt.command, "terraform") && !strings.HasPrefix(tt.command, "packer")
			if v := judged(t, tt.command, sub, project); (v.Effect == gatelatch.Ask) != above {
				t.Errorf("in a folder below: %v: %s", v.Effect, messages(v))
			}
		})
	}
}

func TestProjectFilesThatRunNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, file, text string }{
		{"yarn why x", ".yarnrc.yml", "nodeLinker: node-modules\n# yarnPath: x\nenableGlobalCache: true\n"},
		{"npm ls", ".npmrc", "registry=https://example.com/\n//example.com/:_authToken=${TOKEN}\nsave-exact=true\n"},
		{"pnpm ls", "pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n"},
		{"cargo tree", ".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nlinker = \"clang\"\nrustflags = [\"-C\", \"x\"]\n[alias]\nb = \"build\"\n"},
		{"cargo tree", "rust-toolchain.toml", "[toolchain]\nchannel = \"1.80\"\n"},
		{"cargo tree", ".cargo", ""},
		{"git status", ".yarnrc.yml", "yarnPath: x\n"},
	} {
		project := t.TempDir()
		writeFile(t, filepath.Join(project, tt.file), tt.text)
		if v := judged(t, tt.command, project, project); v.Effect != gatelatch.Allow {
			t.Errorf("%s: %v: %s", tt.command, v.Effect, messages(v))
		}
	}
}

// Git in another folder of the project reads the configuration of that one, and
// a folder that is not there is no answer.
func TestGitElsewhere(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	writeFile(t, filepath.Join(project, ".git/config"), "[core]\n\tbare = false\n")
	writeFile(t, filepath.Join(project, "sub/a"), "")
	writeFile(t, filepath.Join(project, "evil/.git/config"), "[core]\n\tpager = ./x\n")
	if err := os.Symlink(t.TempDir(), filepath.Join(project, "out")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]gatelatch.Effect{
		"git -C sub status":                  gatelatch.Allow,
		"git -C . log -3":                    gatelatch.Allow,
		"git -C " + project + " diff a":      gatelatch.Allow,
		"git -C evil status":                 gatelatch.Ask,
		"git -C not-there status":            gatelatch.Ask,
		"git -C .. status":                   gatelatch.Ask,
		"git -C out status":                  gatelatch.Ask,
		"git -C sub push":                    gatelatch.Ask,
		"git -C sub diff --no-index a ../..": gatelatch.Ask,
		"git -C $X status":                   gatelatch.Ask,
	} {
		if v := judged(t, command, project, project); v.Effect != want {
			t.Errorf("%s: %v: %s", command, v.Effect, messages(v))
		}
	}
}

// What prints settings is asked about where one holds a password, also one of
// the person's own.
func TestSettingsThatHoldCredentials(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"[remote \"o\"]\n\turl = https://example.com/a.git\n":                             0,
		"[remote \"o\"]\n\turl = git@example.com:a.git\n":                                 0,
		"[remote \"o\"]\n\turl = ssh://git@example.com/a.git\n":                           0,
		"[remote \"o\"]\n\turl = https://me:pass@example.com/a.git\n":                     1,
		"[remote \"o\"]\n\turl = https://x0123456789abcdef0123456789@example.com/a.git\n": 1,
		"[http \"https://example.com/\"]\n\textraheader = AUTHORIZATION: basic eDp5\n":    1,
		"[user]\n\ttoken = abcdef123\n":                                                   1,
	} {
		project, empty := t.TempDir(), t.TempDir()
		writeFile(t, filepath.Join(project, ".git/config"), text)
		writeFile(t, filepath.Join(project, ".gitconfig"), text)
		for _, r := range []repositories{{follow, empty}, {follow, ""}} {
			if found, known := r.Shows("git", project); len(found) != want || !known {
				t.Errorf("%q: %v, %v", text, found, known)
			}
		}
		if found, known := (repositories{follow, project}).Shows("git", empty); len(found) != want || !known {
			t.Errorf("at home: %q: %v, %v", text, found, known)
		}
	}
	project := t.TempDir()
	writeFile(t, filepath.Join(project, ".git/config"), "[remote \"o\"]\n\turl = https://me:pass@example.com/a.git\n")
	for _, command := range []string{"git remote -v", "git remote", "git config --list", "git config --get remote.o.url", "git remote get-url o"} {
		if v := judged(t, command, project, project); v.Effect != gatelatch.Ask || !strings.Contains(messages(v), "secret") {
			t.Errorf("%s: %v: %s", command, v.Effect, messages(v))
		}
	}
	if v := judged(t, "git status", project, project); v.Effect != gatelatch.Allow {
		t.Errorf("git status: %s", messages(v))
	}
}
