//go:build unix

package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// machine opens files of two layers, both the test's own.
func machine(t *testing.T, machine, user string) (*File, string) {
	t.Helper()
	dir := t.TempDir()
	paths := Paths{Machine: filepath.Join(dir, "machine.yaml"), User: filepath.Join(dir, "policy.yaml")}
	if machine != "" {
		replace(t, paths.Machine, "version: 1\n"+machine)
	}
	if user != "" {
		replace(t, paths.User, "version: 1\n"+user)
	}
	return openPaths(paths, false), dir
}

func effects3(t *testing.T, p gatelatch.Policy, sess *gatelatch.Session, tools ...string) string {
	t.Helper()
	var out []string
	for _, tool := range tools {
		v := p.Judge(context.Background(), call(tool, `{}`), sess, nil)
		out = append(out, v.Effect.String())
	}
	return strings.Join(out, " ")
}

func TestLayersAddUp(t *testing.T) {
	t.Parallel()
	f, dir := machine(t, "allow: [A, B, C]\ndeny: [D]\n", "allow: [D, E]\nask: [B]\ndeny: [C]\n")
	if got, want := effects3(t, f, nil, "A", "B", "C", "D", "E", "F"), "allow ask deny deny allow ask"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	v := f.Judge(t.Context(), call("D", `{}`), nil, nil)
	if r := v.Reasons[0]; r.Layer != "machine" || !strings.HasSuffix(r.Source, "/machine.yaml:3") || v.Reasons[1].Layer != "user" {
		t.Errorf("got %+v", v.Reasons)
	}
	before := f.Hash()
	replace(t, filepath.Join(dir, "machine.yaml"), "version: 1\ndeny: [A]\n")
	if got := effects3(t, f, nil, "A", "D"); got != "deny allow" || f.Hash() == before {
		t.Errorf("the machine's file changed: got %s", got)
	}
	replace(t, filepath.Join(dir, "machine.yaml"), "version: 1\ndeny: [\n")
	if got := effects3(t, f, nil, "A", "D"); got != "deny allow" {
		t.Errorf("the machine's file is broken: got %s", got)
	}
	if p := f.Problem(); !strings.Contains(p, "machine.yaml:") || !strings.HasSuffix(p, "; the last good rules stay in force") {
		t.Errorf("got %q", p)
	}
}

func TestMachineAloneLeavesTheDefaults(t *testing.T) {
	t.Parallel()
	f, _ := machine(t, "deny: [X]\n", "")
	if got := effects3(t, f, nil, "X", "TodoWrite"); got != "deny allow" {
		t.Errorf("got %s", got)
	}
}

func TestBrokenMachineFileDeniesEverything(t *testing.T) {
	t.Parallel()
	f, dir := machine(t, "deny: [\n", "allow: [X]\n")
	if got := effects3(t, f, nil, "X"); got != "deny" || !strings.Contains(f.Problem(), "everything is denied") {
		t.Errorf("got %s, %q", got, f.Problem())
	}
	replace(t, filepath.Join(dir, "machine.yaml"), "version: 1\n")
	if got := effects3(t, f, nil, "X"); got != "allow" {
		t.Errorf("mended: got %s", got)
	}
}

func TestMachineFileMustBelongToRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "machine.yaml")
	replace(t, path, allowsMake)
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
	f := OpenPaths(Paths{Machine: path, User: path + ".none"})
	if v := judge(t, f, bash("make x")); v.Effect != gatelatch.Deny || !strings.Contains(v.Denial(), "does not belong to root") {
		t.Errorf("got %s: %s", v.Effect, messages(v))
	}
}

func projectWith(t *testing.T, yaml string) (*gatelatch.Session, string) {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".gatelatch"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, ProjectFile)
	if yaml != "" {
		replace(t, path, yaml)
	}
	return &gatelatch.Session{Project: root}, path
}

func TestProjectFileTightens(t *testing.T) {
	t.Parallel()
	f, _ := machine(t, "", "allow: [A, B, C]\n")
	sess, path := projectWith(t, "version: 1\nask: [A]\ndeny: [B, D]\n")
	other, _ := projectWith(t, "")
	if got, want := effects3(t, f, sess, "A", "B", "C", "D"), "ask deny allow deny"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := effects3(t, f, other, "A", "B"); got != "allow allow" {
		t.Errorf("in another project: got %s", got)
	}
	v := f.Judge(t.Context(), call("B", `{}`), sess, nil)
	if r := v.Reasons[0]; r.Layer != "project" || r.Source != ".gatelatch/policy.yaml:3" || v.Policy == f.Hash() || v.Policy != f.HashFor(sess) {
		t.Errorf("got %+v under %s", r, v.Policy)
	}
	replace(t, path, "version: 1\nask: [C]\n")
	if got := effects3(t, f, sess, "A", "B", "C"); got != "allow allow ask" {
		t.Errorf("changed: got %s", got)
	}
	replace(t, path, "version: 1\ndeny: [X]\n\nask: [\n")
	v = f.Judge(t.Context(), call("A", `{}`), sess, nil)
	if r := v.Reasons[0]; v.Effect != gatelatch.Ask || r.Layer != "project" || !strings.HasPrefix(r.Message, ".gatelatch/policy.yaml:4: ") && !strings.HasPrefix(r.Message, ".gatelatch/policy.yaml:5: ") {
		t.Errorf("broken: got %s, %+v", v.Effect, r)
	}
	if v = f.Judge(t.Context(), call("C", `{}`), sess, nil); v.Reasons[0].Rule != "C" {
		t.Errorf("the last good rules are not in force: %+v", v.Reasons)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := effects3(t, f, sess, "A", "B", "C"); got != "allow allow allow" {
		t.Errorf("gone: got %s", got)
	}
}

func TestProjectFileCantLoosen(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"allow: [X]":                      "can only ask and deny",
		"skip: {bash: true}":              "can only tighten",
		"mode: acceptEdits":               "can only tighten",
		"mode: default":                   "can only tighten",
		"projects: [{path: /, allow: x}]": "can only tighten",
		"exec: {security: full}":          "can only tighten",
		"alow: [X]":                       "unknown key",
	} {
		f, _ := machine(t, "", "allow: [A]\n")
		sess, _ := projectWith(t, "version: 1\n"+yaml)
		v := f.Judge(t.Context(), call("A", `{}`), sess, nil)
		if v.Effect != gatelatch.Ask || !strings.Contains(v.Reasons[0].Message, want) || !strings.HasPrefix(v.Reasons[0].Message, ".gatelatch/policy.yaml:2: ") {
			t.Errorf("%s: got %s, %s", yaml, v.Effect, messages(v))
		}
		if got := effects3(t, f, sess, "X"); got != "ask" {
			t.Errorf("%s: got %s", yaml, got)
		}
	}
}

func TestHostileProjectFiles(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "version: 1\npassword: hunter2\n")
	for name, spoil := range map[string]func(path string) error{
		"a link out": func(p string) error { return os.Symlink(secret, p) },
		"a link in":  func(p string) error { return os.Symlink("../x", p) },
		"a folder":   func(p string) error { return os.Mkdir(p, 0o700) },
		"a pipe":     func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"too large": func(p string) error {
			return os.WriteFile(p, []byte("version: 1\n#"+strings.Repeat("x", maxProjectFile)), 0o600)
		},
		"not text": func(p string) error { return os.WriteFile(p, []byte{0, 1, 2}, 0o600) },
		"too many rules": func(p string) error {
			return os.WriteFile(p, []byte("version: 1\ndeny:\n"+strings.Repeat("- X\n", maxProjectRules+1)), 0o600)
		},
		"too many examples": func(p string) error {
			return os.WriteFile(p, []byte("version: 1\ndeny:\n- {rule: Bash, match: ["+strings.Repeat("x, ", maxProjectExamples+1)+"]}"), 0o600)
		},
		"too many patterns": func(p string) error {
			return os.WriteFile(p, []byte("version: 1\ndeny:\n"+strings.Repeat("- {rule: X, where: {a: {matches: b}}}\n", maxProjectPatterns+1)), 0o600)
		},
		"aliases": func(p string) error {
			return os.WriteFile(p, []byte("version: 1\ndeny: [{rule: X, match: &a [*a]}]"), 0o600)
		},
		"a folder's link": func(p string) error {
			return firstError(os.Remove(filepath.Dir(p)), os.Mkdir(secret+".d", 0o700), os.WriteFile(secret+".d/policy.yaml", []byte("version: 1\npassword: hunter2\n"), 0o600), os.Symlink(secret+".d", filepath.Dir(p)))
		},
	} {
		f, _ := machine(t, "", "allow: [A]\n")
		sess, path := projectWith(t, "")
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			v := f.Judge(t.Context(), call("A", `{}`), sess, nil)
			if v.Effect != gatelatch.Ask || v.Reasons[0].Layer != "project" || strings.Contains(messages(v), "password") {
				t.Errorf("%s: got %s: %s", name, v.Effect, messages(v))
			}
		}
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if got := effects3(t, f, sess, "A"); got != "allow" {
			t.Errorf("%s, taken away: got %s", name, got)
		}
	}
}

func TestProjectsAreForgotten(t *testing.T) {
	t.Parallel()
	f, _ := machine(t, "", "allow: [A]\n")
	first, _ := projectWith(t, "version: 1\ndeny: [A]\n")
	dir := t.TempDir()
	for i := range 3 * maxProjects {
		effects3(t, f, &gatelatch.Session{Project: fmt.Sprintf("%s/%d", dir, i)}, "A")
		if got := effects3(t, f, first, "A"); got != "deny" {
			t.Fatalf("after %d: got %s", i, got)
		}
	}
	if n := len(f.projects.kept); n != maxProjects {
		t.Errorf("%d are kept", n)
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	top := tree(t)
	f, _ := machine(t, "", fmt.Sprintf(`
allow: [A]
projects:
  - path: %[1]s/project
    allow: [B]
    deny: [A]
  - path: %[1]s/alias
    allow: [C]
  - path: %[1]s/project/sub
    allow: [D]
  - path: ~/nowhere-known
    allow: [E]
`, top))
	for project, want := range map[string]string{
		"":            "allow ask ask ask ask",
		"project":     "deny allow allow ask ask",
		"alias":       "deny allow allow ask ask",
		"project/sub": "deny allow allow allow ask",
		"alias/sub":   "deny allow allow allow ask",
		"project/out": "deny ask ask ask ask", // a link out of it: what forbids still counts
		"PROJECT":     "deny ask ask ask ask",
		"secret":      "allow ask ask ask ask",
		"project2":    "allow ask ask ask ask",
	} {
		sess := &gatelatch.Session{Project: filepath.Join(top, project)}
		if project == "" {
			sess.Project = ""
		}
		if got := effects3(t, f, sess, "A", "B", "C", "D", "E"); got != want {
			t.Errorf("%s: got %s, want %s", project, got, want)
		}
	}
	if r := f.Set().Rules(); len(r) != 6 || r[1].Project != top+"/project" {
		t.Errorf("got %+v", r)
	}
}
