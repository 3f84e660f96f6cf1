package policy

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// tree makes a project with a secret beside it, and returns the folder above.
func tree(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"project/src/a.go", "project/.env", "project/sub/.env.local", "project/keys/x.PEM", "secret/s.txt", "home/notes/n.txt"} {
		f = filepath.Join(top, f)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"project/out": "../secret", "project/file": "../secret/s.txt", "project/in": "src", "project/loop": "loop",
		"project/.ENVlink": ".env", "project/config": ".git", "project/deep": "src/deeper/link", "alias": "project", "project/back": "../secret/..",
	} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func in(top, tool string, input map[string]any) (*gatelatch.Call, *gatelatch.Session) {
	c := call(tool, input)
	c.Dir = filepath.Join(top, "project")
	return c, &gatelatch.Session{Project: c.Dir}
}

func TestReadInsideTheProject(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for path, want := range map[string]gatelatch.Effect{
		"src/a.go":                   gatelatch.Allow,
		top + "/project/src/a.go":    gatelatch.Allow,
		"./src/../src/./a.go":        gatelatch.Allow,
		"not/there/yet":              gatelatch.Allow,
		"in/a.go":                    gatelatch.Allow,
		top + "/alias/src/a.go":      gatelatch.Allow,
		"../secret/s.txt":            gatelatch.Ask,
		top + "/secret/s.txt":        gatelatch.Ask,
		"src/../../secret/s.txt":     gatelatch.Ask,
		"missing/../../secret/s.txt": gatelatch.Ask,
		"out/s.txt":                  gatelatch.Ask,
		"out/missing":                gatelatch.Ask,
		"file":                       gatelatch.Ask,
		"out/../x":                   gatelatch.Ask, // inside for who removes .. first, outside for the system
		"out/../project/src/a.go":    gatelatch.Allow,
		"in/../a.go":                 gatelatch.Allow,
		"back/project/src/a.go":      gatelatch.Allow,
		"back/secret/s.txt":          gatelatch.Ask,
		"loop":                       gatelatch.Ask,
		"src/a.go/x":                 gatelatch.Ask, // below a file
		top + "/project2/x":          gatelatch.Ask,
		top + "/PROJECT/src/a.go":    gatelatch.Ask,
		".env":                       gatelatch.Ask,
		"sub/.env.local":             gatelatch.Ask,
		"sub/.ENV":                   gatelatch.Ask,
		".ENVlink":                   gatelatch.Ask,
		"keys/x.PEM":                 gatelatch.Ask,
		"a\x00b":                     gatelatch.Ask,
		"a\nb":                       gatelatch.Ask,
		"a\u200bb":                   gatelatch.Ask,
		" src/a.go":                  gatelatch.Ask,
		"src/a.go ":                  gatelatch.Ask,
		"src/a.go\u00a0":             gatelatch.Ask,
		"src/a b.go":                 gatelatch.Allow,
		"~/x":                        gatelatch.Ask,
		"":                           gatelatch.Ask,
	} {
		c, sess := in(top, "Read", map[string]any{"file_path": path})
		got := Default().Judge(t.Context(), c, sess, nil)
		if got.Effect != want {
			t.Errorf("%q: got %s, want %s: %s", path, got.Effect, want, messages(got))
		}
	}
}

func TestWithoutAKnownProjectNothingIsInside(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ path, dir, project string }{
		"no session's project": {"/tmp/x", "/tmp", ""},
		"a relative project":   {"/tmp/x", "/tmp", "tmp"},
		"the root as project":  {"/tmp/x", "/tmp", "/"},
		"no directory":         {"x", "", "/tmp"},
		"a relative directory": {"x", "tmp", "/tmp"},
	} {
		c := call("Read", map[string]any{"file_path": tt.path})
		c.Dir = tt.dir
		got := Default().Judge(t.Context(), c, &gatelatch.Session{Project: tt.project}, nil)
		if got.Effect != gatelatch.Ask {
			t.Errorf("%s: got %s", name, got.Effect)
		}
	}
}

func TestOddInputsOfPathTools(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "allow: [Read(./**), Glob(./**), Grep(./**), LS(./**)]\nask: [Grep(**/.env*)]")
	for name, tt := range map[string]struct {
		tool  string
		input map[string]any
		want  gatelatch.Effect
	}{
		"a second path":          {"Read", map[string]any{"file_path": "src/a.go", "path": "/etc/shadow"}, gatelatch.Ask},
		"a path that is no text": {"Read", map[string]any{"file_path": 7}, gatelatch.Ask},
		"no path":                {"Read", map[string]any{}, gatelatch.Ask},
		"other fields":           {"Read", map[string]any{"file_path": "src/a.go", "limit": 5}, gatelatch.Allow},
		"search here":            {"Grep", map[string]any{"pattern": "../x"}, gatelatch.Allow},
		"search a folder":        {"Grep", map[string]any{"pattern": "x", "path": "src", "glob": "*.go"}, gatelatch.Allow},
		"search outside":         {"Grep", map[string]any{"pattern": "x", "path": ".."}, gatelatch.Ask},
		"search through a link":  {"Grep", map[string]any{"pattern": "x", "path": "out"}, gatelatch.Ask},
		"search files outside":   {"Grep", map[string]any{"pattern": "x", "glob": "../*"}, gatelatch.Ask},
		"search secrets by glob": {"Grep", map[string]any{"pattern": "x", "glob": ".env*"}, gatelatch.Ask},
		"search a secret":        {"Grep", map[string]any{"pattern": "x", "path": ".env"}, gatelatch.Ask},
		"a glob that is no text": {"Grep", map[string]any{"pattern": "x", "glob": []string{"../*"}}, gatelatch.Ask},
		"glob here":              {"Glob", map[string]any{"pattern": "**/*.go"}, gatelatch.Allow},
		"glob upwards":           {"Glob", map[string]any{"pattern": "src/../../*"}, gatelatch.Ask},
		"glob upwards in braces": {"Glob", map[string]any{"pattern": "{..,x}/*"}, gatelatch.Ask},
		"glob from the root":     {"Glob", map[string]any{"pattern": "/etc/*"}, gatelatch.Ask},
		"glob from home":         {"Glob", map[string]any{"pattern": "~/*"}, gatelatch.Ask},
		"glob from a blank":      {"Glob", map[string]any{"pattern": " /etc/*"}, gatelatch.Ask},
		"null is not left out":   {"Glob", map[string]any{"pattern": "*", "path": nil}, gatelatch.Ask},
		"list here":              {"LS", map[string]any{}, gatelatch.Allow},
		"list outside":           {"LS", map[string]any{"path": ".."}, gatelatch.Ask},
		"write is not read":      {"Write", map[string]any{"file_path": "src/a.go"}, gatelatch.Ask},
	} {
		c, sess := in(top, tt.tool, tt.input)
		if got := s.Judge(t.Context(), c, sess, nil); got.Effect != tt.want {
			t.Errorf("%s: got %s, want %s: %s", name, got.Effect, tt.want, messages(got))
		}
	}
}

func TestPathPatterns(t *testing.T) {
	top := tree(t)
	t.Setenv("HOME", filepath.Join(top, "home"))
	for _, tt := range []struct {
		rules, path string
		want        gatelatch.Effect
	}{
		{"allow: [Read(./src/**)]", "src/a.go", gatelatch.Allow},
		{"allow: [Read(./src/**)]", "in/a.go", gatelatch.Allow},
		{"allow: [Read(./in/**)]", "in/a.go", gatelatch.Ask}, // it resolves to src
		{"allow: [Read(./src/*.go)]", "src/x/a.go", gatelatch.Ask},
		{"allow: [Read(./SRC/**)]", "src/a.go", gatelatch.Ask},
		{"allow: [Read(~/notes/**)]", "../home/notes/n.txt", gatelatch.Allow},
		{"allow: [Read(~/notes/**)]", "../home/other", gatelatch.Ask},
		{"allow: [Read(" + top + "/secret/**)]", "../secret/s.txt", gatelatch.Allow},
		{"allow: [Read(" + top + "/secret/**)]", "out/s.txt", gatelatch.Allow},
		{"allow: [Read(**/*.txt)]", "out/s.txt", gatelatch.Allow},
		{"allow: [Read(**/*.md)]", "out/s.txt", gatelatch.Ask},
		{"allow: [Read(**)]", "out/s.txt", gatelatch.Allow},
		{"deny: [Read(./in/**)]", "in/a.go", gatelatch.Deny},
		{"deny: [Read(./src/**)]", "in/a.go", gatelatch.Deny},
		{"deny: [Read(./SRC/**)]", "src/a.go", gatelatch.Deny},
		{"deny: [Read(~/notes/**)]", "~/notes/x", gatelatch.Deny},
		{"deny: [Read(secret/**)]", "out/s.txt", gatelatch.Deny},
		{"deny: [Read(.env)]", "sub/x/.env", gatelatch.Deny},
		{"deny: [Read(.env)]", "sub/x.env", gatelatch.Ask},
		{"deny: [Read(" + top + "/secret/**)]", "file", gatelatch.Deny},
		{"deny: [Read(./**)]", "out/s.txt", gatelatch.Deny},
		{"deny: [Read(./**)]", "../secret/s.txt", gatelatch.Ask},
		{"deny: [Read(./src/a.go)]", "src/a.go ", gatelatch.Deny},
	} {
		c, sess := in(top, "Read", map[string]any{"file_path": tt.path})
		if got := rules(t, tt.rules).Judge(t.Context(), c, sess, nil); got.Effect != tt.want {
			t.Errorf("%s, %s: got %s, want %s: %s", tt.rules, tt.path, got.Effect, tt.want, messages(got))
		}
	}
}

func TestProtectedPathsAreNeverAllowed(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "allow: [Write, Edit, MultiEdit, NotebookEdit, Write(**), 'Edit(./**)', Read]")
	for path, want := range map[string]gatelatch.Effect{
		"src/a.go":                   gatelatch.Allow,
		".gitignore":                 gatelatch.Allow,
		".github/x.yml":              gatelatch.Allow,
		"src/.bashrc/x":              gatelatch.Allow,
		".git/hooks/pre-commit":      gatelatch.Ask,
		".git":                       gatelatch.Ask,
		"sub/.GIT/config":            gatelatch.Ask,
		"config/hooks/pre-commit":    gatelatch.Ask, // a link to .git
		".git./config":               gatelatch.Ask,
		"x/../.claude/settings.json": gatelatch.Ask,
		".codex/config.toml":         gatelatch.Ask,
		".gemini/x":                  gatelatch.Ask,
		".cursor/mcp.json":           gatelatch.Ask,
		".vscode/settings.json":      gatelatch.Ask,
		".husky/pre-push":            gatelatch.Ask,
		".mcp.json":                  gatelatch.Ask,
		"a/.bashrc":                  gatelatch.Ask,
		".zshenv":                    gatelatch.Ask,
		".profile":                   gatelatch.Ask,
		"/etc/gatelatch/policy.yaml": gatelatch.Ask,
		"~/.config/gatelatch/x.yaml": gatelatch.Ask,
		"/home/u/.ssh/config":        gatelatch.Ask,
		"/etc/claude-code/a/b.json":  gatelatch.Ask,
		"claude-code/x":              gatelatch.Allow,
		".config/git/config":         gatelatch.Ask,
		"x/.Config/git./hooks/x":     gatelatch.Ask,
		".config/fish/conf.d/a.fish": gatelatch.Ask,
		".config/systemd/user/x":     gatelatch.Ask,
		".config/other/git":          gatelatch.Allow,
		"x.git/hooks/post-update":    gatelatch.Ask,
		"x.git/other":                gatelatch.Allow,
	} {
		for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit"} {
			c, sess := in(top, tool, map[string]any{pathTools[tool].field: path})
			if got := s.Judge(t.Context(), c, sess, nil); got.Effect != want {
				t.Errorf("%s %s: got %s, want %s: %s", tool, path, got.Effect, want, messages(got))
			}
		}
		if c, sess := in(top, "Read", map[string]any{"file_path": ".git/config"}); s.Judge(t.Context(), c, sess, nil).Effect != gatelatch.Allow {
			t.Error("reading is not protected")
		}
	}
}

func TestMCPToolsThatNameProtectedPaths(t *testing.T) {
	t.Parallel()
	top := tree(t)
	s := rules(t, "allow: [mcp__fs__*, Other]")
	for input, want := range map[string]gatelatch.Effect{
		`{"path":"src/a.go"}`:                              gatelatch.Allow,
		`{"path":"gatelatch","n":1,"x":null,"y":""}`:       gatelatch.Allow, // does not look like a path
		`{"path":".git/config"}`:                           gatelatch.Ask,
		`{"path":".bashrc"}`:                               gatelatch.Ask,
		`{"path":" .bashrc"}`:                              gatelatch.Ask,
		`{"path":"~/.profile"}`:                            gatelatch.Ask,
		`{"a":[{"b":["x",{"c":"/home/u/.ssh/x"}]}]}`:       gatelatch.Ask,
		`{"files":{".git/hooks/pre-commit":"x"}}`:          gatelatch.Ask,
		`{"path":"config/hooks/x"}`:                        gatelatch.Ask, // a link to .git
		`{"path":"\u002egit/config"}`:                      gatelatch.Ask,
		`{"uri":"file:///home/u/%2essh/x"}`:                gatelatch.Ask,
		`["/home/u/.claude/settings.json"]`:                gatelatch.Ask,
		`{"x":"` + strings.Repeat("a/", 4000) + `"}`:       gatelatch.Allow,
		`{"x":"` + strings.Repeat("a/", 4000) + `.git/x"}`: gatelatch.Ask,
		`[` + strings.Repeat(`"./a",`, 9000) + `"./a"]`:    gatelatch.Ask, // too many to look at
	} {
		for tool, want := range map[string]gatelatch.Effect{"mcp__fs__write": want, "Other": gatelatch.Allow} {
			c := call(tool, input)
			c.Dir = filepath.Join(top, "project")
			if got := judge(t, s, c); got.Effect != want {
				t.Errorf("%s %.60s: got %s, want %s: %s", tool, input, got.Effect, want, messages(got))
			}
		}
	}
}

func TestWithoutHOMETheUsersHomeIsKnown(t *testing.T) {
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) || u.HomeDir == "/" {
		t.Skip("this user has no home")
	}
	for _, env := range []string{"", "relative"} {
		t.Setenv("HOME", env)
		for path, want := range map[string]gatelatch.Effect{
			u.HomeDir + "/notes/n.txt":  gatelatch.Deny,
			"~/notes/n.txt":             gatelatch.Deny,
			"/elsewhere/notes/n.txt":    gatelatch.Ask,
			u.HomeDir + "/public/n.txt": gatelatch.Allow,
		} {
			got := judge(t, rules(t, "deny: [Read(~/notes/**)]\nallow: [Read(~/public/**)]"), call("Read", map[string]any{"file_path": path}))
			if got.Effect != want {
				t.Errorf("HOME=%q, %s: got %s, want %s: %s", env, path, got.Effect, want, messages(got))
			}
		}
	}
}

func TestRulesWithAnUnknownRoot(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule, path, dir, project, home string
		strict, allow                  bool // whether it matches
	}{
		{"Read(~/notes/**)", "/home/u/notes/x", "/", "/p", "/home/u", true, true},
		{"Read(~/notes/**)", "/home/v/notes/x", "/", "/p", "/home/u", false, false},
		{"Read(~/notes/**)", "/home/v/notes/x", "/", "/p", "", true, false},
		{"Read(~/notes/**)", "/home/v/NOTES/x", "/", "/p", "", true, false},
		{"Read(~/notes/**)", "~/notes/x", "/", "/p", "", true, false},
		{"Read(~/notes/**)", "/home/v/other/x", "/", "/p", "", false, false},
		{"Read(./src/**)", "/p/src/x", "/p", "/p", "", true, true},
		{"Read(./src/**)", "/q/src/x", "/p", "/p", "", false, false},
		{"Read(./src/**)", "/q/src/x", "/p", "", "", true, false},
		{"Read(./src/**)", "/q/src/x", "/p", "/", "", true, false},
		{"Read(./src/**)", "/src/x", "/p", "/", "", true, false},
		{"Read(./src/**)", "/q/src/x", "/p", "relative", "", true, false},
		{"Read(./src/**)", "/q/lib/x", "/p", "", "", false, false},
		{"Read(./**)", "/q/lib/x", "/p", "", "", true, false},
		{"Read(./src/**)", "src/x", "", "/p", "", true, false}, // the path is not known
		{"Read(/etc/**)", "../etc/x", "", "/p", "", true, false},
		{"Read(/etc/**)", "x", "", "/p", "", false, false},
	} {
		c := call("Read", map[string]any{"file_path": tt.path})
		c.Dir = tt.dir
		f := newFacts(c, &gatelatch.Session{Project: tt.project}, world{home: tt.home, disk: newDisk(tt.home)})
		for effect, want := range map[gatelatch.Effect]bool{gatelatch.Ask: tt.strict, gatelatch.Deny: tt.strict, gatelatch.Allow: tt.allow} {
			r, err := parseRule(tt.rule, effect)
			if err != nil {
				t.Fatal(err)
			}
			if hits, err := r.match(f, nil); err != nil || (len(hits) > 0) != want {
				t.Errorf("%s %+v: got %v, %v", effect, tt, hits, err)
			}
		}
	}
}

func TestByDefaultASearchShowsNamesOnly(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for tool, want := range map[string]gatelatch.Effect{"Glob": gatelatch.Allow, "LS": gatelatch.Allow, "Grep": gatelatch.Ask} {
		c, sess := in(top, tool, map[string]any{"pattern": "KEY"})
		if got := Default().Judge(t.Context(), c, sess, nil); got.Effect != want {
			t.Errorf("%s: got %s, want %s: %s", tool, got.Effect, want, messages(got))
		}
	}
}

func TestGlobsThatLeaveTheirFolder(t *testing.T) {
	t.Parallel()
	top := tree(t)
	for pattern, want := range map[string]gatelatch.Effect{
		"**/*.{ts,tsx}":             gatelatch.Allow,
		"**/*.{test,spec}.{ts,tsx}": gatelatch.Allow,
		"{src,.github}/**":          gatelatch.Allow,
		"app/(group)/{a,{b,c}}.ts":  gatelatch.Allow,
		"{/etc,/root}/**":           gatelatch.Ask,
		"{src,/root}/**":            gatelatch.Ask,
		"{a,{b,/root}}/**":          gatelatch.Ask,
		"{src,~}/**":                gatelatch.Ask,
		"{src,..}/**":               gatelatch.Ask,
		"{.,x}{.,x}/**":             gatelatch.Ask,
		".{.,x}/**":                 gatelatch.Ask,
		"{.,x}./**":                 gatelatch.Ask,
		"{,x}/etc/**":               gatelatch.Ask,
		"{x,}/etc/**":               gatelatch.Ask,
		`{\/etc,x}/**`:              gatelatch.Ask,
		"@(/etc|x)/**":              gatelatch.Ask,
	} {
		c, sess := in(top, "Glob", map[string]any{"pattern": pattern})
		if got := Default().Judge(t.Context(), c, sess, nil); got.Effect != want {
			t.Errorf("%s: got %s, want %s: %s", pattern, got.Effect, want, messages(got))
		}
	}
}
