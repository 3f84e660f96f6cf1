package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// SEC-11: exactly one place makes the transition, whatever channel a decision
// comes by; and persons are made of keys, nowhere else. What only reads for
// everybody is listed with its reason.
func TestOneWayToDecide(t *testing.T) {
	want := map[string][]string{
		"settles a call": {"approve.go"},                                                                                   // Seat.Decide, which knows who
		"makes a person": {"key.go", "notify/press.go", "server/metrics.go", "server/push.go", "server/ready.go"},          // a button's secret names the person of its channel; those of the server only read
		"takes a seat":   {"notify/press.go", "server/admit.go", "server/metrics.go", "server/push.go", "server/ready.go"}, // of who was let in
	}
	got := map[string]map[string]bool{}
	found := func(what, file string) {
		if got[what] == nil {
			got[what] = map[string]bool{}
		}
		got[what][file] = true
	}
	for file, tree := range sources(t) {
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case sel.Sel.Name == "Decide" && len(n.Args) == 2: // Batch.Decide; all others have a context
					found("settles a call", file)
				case sel.Sel.Name == "As" && len(n.Args) == 1:
					found("takes a seat", file)
				}
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				if key != nil && key.Name == "Kind" && strings.HasSuffix(name(n.Value), "PersonActor") {
					found("makes a person", file)
				}
			}
			return true
		})
	}
	for what, files := range want {
		if have := slices.Sorted(maps.Keys(got[what])); !slices.Equal(have, files) {
			t.Errorf("%s: %v, want %v", what, have, files)
		}
	}
}

func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// sources are the files of the product: neither tests nor what serves them.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	const root = "../.."
	out := map[string]*ast.File{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "web", "model", "bench", "e2e", "tools", "store/storetest", "adapter/adaptertest", "internal/hostprobe", "examples"}, filepath.ToSlash(rel)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		out[filepath.ToSlash(rel)], err = parser.ParseFile(token.NewFileSet(), path, nil, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
