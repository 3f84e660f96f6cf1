package api_test

import (
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// What a page signs says the same here: the same values stand in its own test.
func TestSays(t *testing.T) {
	match := gatelatch.SumOf([]byte("Bash(a <b> & c)")).String()
	for want, in := range map[string]any{
		`["allowed","ab","acceptEdits"]`:                    api.Decision{State: "allowed", Digest: "ab", Mode: "acceptEdits"},
		`["allowed","ab","","project","` + match + `",0,3]`: api.Decision{State: "allowed", Digest: "ab", Remember: &api.Terms{Scope: "project", Match: "Bash(a <b> & c)", Uses: 3}},
		`["plan","a","s\n\"<é>",60]`:                        api.SetMode{Agent: "a", Session: "s\n\"<é>", Mode: "plan", For: 60},
		`["plan","a","s",0]`:                                api.SetMode{Agent: "a", Session: "s", Mode: "plan"},
		`["allow","Bash(ls)","ab"]`:                         api.AddRule{Effect: "allow", Match: "Bash(ls)", Call: "c", Digest: "ab"},
		`["AQ"]`:                                            api.AddPasskey{Name: "n", Credential: "AQ", PublicKey: "Ag"},
		"":                                                  api.None{},
	} {
		if got := api.Says(in); got != want {
			t.Errorf("%+v says %s, want %s", in, got, want)
		}
	}
}
