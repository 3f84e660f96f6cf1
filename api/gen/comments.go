package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// comments are what the source in dir says about its types, by "Type", and
// about their fields, by "Type.Field".
func comments(dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					describe(out, s, g.Doc)
				}
			}
		}
	}
	return out, nil
}

func describe(out map[string]string, spec ast.Spec, doc *ast.CommentGroup) {
	t, ok := spec.(*ast.TypeSpec)
	if !ok {
		return
	}
	fields, ok := t.Type.(*ast.StructType)
	if !ok {
		return
	}
	out[t.Name.Name] = oneLine(doc, t.Doc)
	for _, f := range fields.Fields.List {
		for _, n := range f.Names {
			out[t.Name.Name+"."+n.Name] = oneLine(f.Doc, f.Comment)
		}
	}
}

func oneLine(groups ...*ast.CommentGroup) string {
	var words []string
	for _, g := range groups {
		words = append(words, strings.Fields(g.Text())...)
	}
	return strings.Join(words, " ")
}
