package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatelatch/gatelatch"
)

// D8: a question carries all that is needed to answer and to remember it.
func TestNeeds(t *testing.T) {
	t.Parallel()
	s := rules(t, "exec: {reads: allow}\nask: [mcp__a__b]\n")
	for name, tt := range map[string]struct {
		call *gatelatch.Call
		want *gatelatch.Needs
	}{
		"a command": {bash("cd src && git push origin main"), &gatelatch.Needs{
			Type: gatelatch.NeedCommand, Signature: "cd src; git push", Info: []string{"net", "repository"},
		}},
		"two commands": {bash("make; rm -r build"), &gatelatch.Needs{
			Type: gatelatch.NeedCommand, Signature: "make; rm", Info: []string{"exec", "delete"}, Paths: []string{"/p/build"},
		}},
		"a file to read":     {call("Read", `{"file_path":"/p/a"}`), &gatelatch.Needs{Type: gatelatch.NeedRead, Paths: []string{"/p/a"}}},
		"a file to write":    {call("Write", `{"file_path":"/p/a/../b"}`), &gatelatch.Needs{Type: gatelatch.NeedWrite, Paths: []string{"/p/b", "/p/b"}}},
		"another tool":       {call("mcp__c__d", `{"x":1}`), &gatelatch.Needs{Type: gatelatch.NeedAll}},
		"one that is asked":  {call("mcp__a__b", `{}`), &gatelatch.Needs{Type: gatelatch.NeedAll}},
		"one that is denied": {call("X", `{`), nil},
		"one that is known":  {bash("ls"), nil},
	} {
		tt.call.Dir = "/p"
		v := s.Judge(t.Context(), tt.call, &gatelatch.Session{Project: "/p"}, nil)
		if diff := cmp.Diff(tt.want, v.Needs, cmpopts.IgnoreFields(gatelatch.Needs{}, "Touches", "More")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
