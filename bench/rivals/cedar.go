package main

import (
	"fmt"
	"strings"

	"github.com/cedar-policy/cedar-go"
)

type cedarEngine struct{ policies *cedar.PolicySet }

func newCedar(w world) (engine, error) {
	var text strings.Builder
	w.each(
		func(i int) {
			fmt.Fprintf(&text, "permit (principal, action == Action::\"Read\", resource) when { context.path like \"%s/*\" };\n", w.folder(i))
		},
		func(i int) { fmt.Fprintf(&text, "permit (principal, action == Action::%q, resource);\n", tool(i)) },
		func(i int) {
			fmt.Fprintf(&text, "forbid (principal, action == Action::\"Write\", resource) when { context.path like \"%s/keys/*\" };\n", w.folder(i))
		},
		func(i int) {
			fmt.Fprintf(&text, "permit (principal, action == Action::\"WebFetch\", resource) when { context.host == %q || context.host like \"*.%s\" };\n", host(i), host(i))
		},
	)
	ps, err := cedar.NewPolicySetFromBytes("rules.cedar", []byte(text.String()))
	return &cedarEngine{ps}, err
}

func (c *cedarEngine) prepare(q question) (func() (string, error), error) {
	req := cedar.Request{
		Principal: cedar.NewEntityUID("Agent", "a"), Action: cedar.NewEntityUID("Action", cedar.String(q.tool)), Resource: cedar.NewEntityUID("Machine", "m"),
		Context: cedar.NewRecord(cedar.RecordMap{"path": cedar.String(q.path), "host": cedar.String(q.host)}),
	}
	entities := cedar.EntityMap{}
	return func() (string, error) {
		ok, why := cedar.Authorize(c.policies, entities, req)
		switch {
		case len(why.Errors) > 0:
			return "", fmt.Errorf("%v", why.Errors[0])
		case bool(ok):
			return "allow", nil
		case len(why.Reasons) > 0:
			return "deny", nil
		}
		return "none", nil
	}, nil
}
