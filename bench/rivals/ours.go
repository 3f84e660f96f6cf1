package main

import (
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
)

type ours struct {
	set *policy.Set
	dir string
}

func newOurs(w world) (engine, error) {
	var allow, deny strings.Builder
	w.each(
		func(i int) { fmt.Fprintf(&allow, "  - Read(%s/**)\n", w.folder(i)) },
		func(i int) { fmt.Fprintf(&allow, "  - %s\n", tool(i)) },
		func(i int) { fmt.Fprintf(&deny, "  - Write(%s/keys/**)\n", w.folder(i)) },
		func(i int) { fmt.Fprintf(&allow, "  - WebFetch(domain:%s)\n", host(i)) },
	)
	set, err := policy.Parse("policy.yaml", []byte("version: 1\nallow:\n"+allow.String()+"deny:\n"+deny.String()))
	return &ours{set, w.dir}, err
}

func (o *ours) prepare(q question) (func() (string, error), error) {
	input := `{}`
	switch {
	case q.path != "":
		input = fmt.Sprintf(`{"file_path":%q}`, q.path)
	case q.host != "":
		input = fmt.Sprintf(`{"url":"https://%s/","prompt":"x"}`, q.host)
	}
	call := &gatelatch.Call{Kind: gatelatch.Permission, Tool: q.tool, Input: []byte(input), Dir: o.dir}
	facts := o.set.Read(call, &gatelatch.Session{Project: o.dir})
	return func() (string, error) {
		switch v := o.set.JudgeFacts(facts, nil); v.Effect {
		case gatelatch.Allow:
			return "allow", nil
		case gatelatch.Deny:
			return "deny", nil
		default:
			return "none", nil
		}
	}, nil
}
