package policy

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// The rules of a store replace one another, and one that can't be read leaves
// none of the older in force.
func TestSharedRules(t *testing.T) {
	t.Parallel()
	s := OpenShared("")
	judge := func() gatelatch.Effect {
		c := &gatelatch.Call{Kind: gatelatch.Permission, Tool: "mcp__a__b", Input: []byte(`{}`)}
		return s.Judge(t.Context(), c, &gatelatch.Session{}, nil).Effect
	}
	if s.Revision() != 0 || judge() != gatelatch.Ask || !strings.Contains(s.Text(), "version: 1") {
		t.Errorf("before any revision: %d, %s", s.Revision(), judge())
	}
	for i, tt := range []struct {
		text    string
		want    gatelatch.Effect
		problem string
	}{
		{"version: 1\nallow: [mcp__a__b]\n", gatelatch.Allow, ""},
		{"version: 1\ndeny: [mcp__a__b]\n", gatelatch.Deny, ""},
		{"version: 1\nallow: [mcp__a__b]\n", gatelatch.Allow, ""},
		{"version: 1\nallow: [\"(\"]\n", gatelatch.Deny, "policy.yaml:2:"},
		{"version: 1\nallow: [mcp__a__b]\n", gatelatch.Allow, ""},
	} {
		rev := &gatelatch.Revision{Number: int64(i + 1), Text: tt.text}
		if err := s.Check(tt.text); (err == nil) != (tt.problem == "") {
			t.Errorf("%q: %v", tt.text, err)
		}
		s.Use(rev)
		if got := judge(); got != tt.want || s.Revision() != rev.Number || !strings.Contains(s.Problem(), tt.problem) || (s.Problem() == "") != (tt.problem == "") {
			t.Errorf("revision %d: %s, want %s; %q", rev.Number, got, tt.want, s.Problem())
		}
	}
	s.Use(&gatelatch.Revision{Number: 2, Text: "version: 1\ndeny: [mcp__a__b]\n"})
	if got := judge(); got != gatelatch.Allow {
		t.Errorf("an older revision came back: %s", got)
	}
}
