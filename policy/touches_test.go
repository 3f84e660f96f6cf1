package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

// What a call touches is told with where that lies, links followed; what is
// not certain to be inside the project counts as outside.
func TestTouches(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "p")
	if err := os.MkdirAll(filepath.Join(project, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(project, "away")); err != nil {
		t.Fatal(err)
	}
	s := rules(t, "ask: [Read, Edit, Write, WebFetch, Glob]\n")
	in := func(path string) string { return filepath.Join(project, path) }
	type touch = gatelatch.Touch
	for name, tt := range map[string]struct {
		call *gatelatch.Call
		want []touch
	}{
		"delete":      {bash("rm -r src ../x"), []touch{{Does: "delete", What: in("src"), Start: 6, End: 9}, {Does: "delete", What: filepath.Join(dir, "x"), Outside: true, Start: 10, End: 14}}},
		"by a link":   {bash("rm away/x"), []touch{{Does: "delete", What: in("away/x"), Outside: true, Start: 3, End: 9}}},
		"not known":   {bash("rm $x"), []touch{{Does: "unknown", Start: 3, End: 5}, {Does: "delete", Outside: true, Start: 3, End: 5}}},
		"a program":   {bash("make"), []touch{{Does: "exec", End: 4}}},
		"secrets":     {bash("cp .env.test x"), []touch{{Does: "read", What: in(".env.test"), Secret: true, Start: 3, End: 12}, {Does: "write", What: in("x"), Start: 13, End: 14}}},
		"read a file": {call("Read", fmt.Sprintf(`{"file_path":%q}`, in(".env"))), []touch{{Does: "read", What: in(".env"), Secret: true}}},
		"write":       {call("Write", fmt.Sprintf(`{"file_path":%q,"content":""}`, in("away/y"))), []touch{{Does: "write", What: filepath.Join(dir, "y"), Outside: true}}},
		"search":      {call("Glob", fmt.Sprintf(`{"path":%q,"pattern":"*"}`, in("src"))), []touch{{Does: "read", What: in("src"), Below: true}}},
		"fetch":       {call("WebFetch", `{"url":"https://a.example/x"}`), []touch{{Does: "net", What: "a.example"}}},
		"other":       {call("mcp__a__b", `{}`), []touch{{Does: "unknown", What: "mcp__a__b"}}},
	} {
		tt.call.Dir = project
		v := s.Judge(t.Context(), tt.call, &gatelatch.Session{Project: project}, nil)
		if v.Needs == nil {
			t.Errorf("%s: it is not asked about: %+v", name, v)
			continue
		}
		if diff := cmp.Diff(tt.want, v.Needs.Touches); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTouchesAreCounted(t *testing.T) {
	t.Parallel()
	command := "rm"
	for i := range maxTouches + 5 {
		command += fmt.Sprintf(" f%d", i)
	}
	c := bash(command)
	c.Dir = "/p"
	n := rules(t, "").Judge(t.Context(), c, &gatelatch.Session{Project: "/p"}, nil).Needs
	if len(n.Touches) != maxTouches || n.More != 5 {
		t.Errorf("%d touches and %d more", len(n.Touches), n.More)
	}
}
