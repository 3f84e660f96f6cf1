package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

type opaEngine struct{ query rego.PreparedEvalQuery }

// newOPA compares with startswith, which it answers faster than glob.match.
func newOPA(w world) (engine, error) {
	var text strings.Builder
	text.WriteString("package rules\n\nanswer := \"deny\" if deny\nelse := \"allow\" if allow\nelse := \"none\"\n")
	w.each(
		func(i int) {
			fmt.Fprintf(&text, "allow if { input.tool == \"Read\"; startswith(input.path, \"%s/\") }\n", w.folder(i))
		},
		func(i int) { fmt.Fprintf(&text, "allow if { input.tool == %q }\n", tool(i)) },
		func(i int) {
			fmt.Fprintf(&text, "deny if { input.tool == \"Write\"; startswith(input.path, \"%s/keys/\") }\n", w.folder(i))
		},
		func(i int) {
			fmt.Fprintf(&text, "allow if { input.tool == \"WebFetch\"; input.host == %q }\n", host(i))
		},
	)
	q, err := rego.New(rego.Query("data.rules.answer"), rego.Module("rules.rego", text.String())).PrepareForEval(context.Background())
	return &opaEngine{q}, err
}

func (o *opaEngine) prepare(q question) (func() (string, error), error) {
	input, err := ast.InterfaceToValue(map[string]any{"tool": q.tool, "path": q.path, "host": q.host})
	if err != nil {
		return nil, err
	}
	return func() (string, error) {
		rs, err := o.query.Eval(context.Background(), rego.EvalParsedInput(input))
		if err != nil {
			return "", err
		}
		if len(rs) != 1 {
			return "", errors.New("no answer")
		}
		return fmt.Sprint(rs[0].Expressions[0].Value), nil
	}, nil
}
