package render

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
)

func quote(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The largest words tell the gravest of what policy found, never what the agent says.
func TestHeadlineTellsTheGravest(t *testing.T) {
	t.Parallel()
	out := gatelatch.Touch{Does: "delete", What: "/shared/cache", Outside: true}
	for want, touches := range map[string][]gatelatch.Touch{
		"Deletes cache outside the project":            {{Does: "read", What: "/p/a"}, out, {Does: "net", What: "x.example"}},
		"Deletes 2 paths outside the project":          {out, {Does: "delete", What: "/b", Outside: true}},
		"Deletes files in build":                       {{Does: "delete", What: "/p/build", Below: true}},
		"Reads .env, which may be secret":              {{Does: "read", What: "/p/.env", Secret: true}},
		"Gains or gives rights":                        {out, {Does: "privilege", What: "sudo"}},
		"Connects to x.example":                        {{Does: "net", What: "x.example"}, {Does: "write", What: "/p/a"}},
		"Runs make":                                    {{Does: "exec"}, {Does: "write", What: "/p/a"}},
		"Deletes “a, and nothing” outside the project": {{Does: "delete", What: "/x/a, and nothing", Outside: true}},
	} {
		c := call("Bash", `{"command":"make"}`)
		c.Claim = "harmless"
		c.Verdict.Needs = &gatelatch.Needs{Touches: touches}
		if card := Call(c, nil); card.Says != want {
			t.Errorf("got %q, want %q", card.Says, want)
		}
	}
}

func TestTouchesNameTheirPart(t *testing.T) {
	t.Parallel()
	c := call("Bash", `{"command":"ls; rm x"}`)
	c.Verdict.Needs = &gatelatch.Needs{More: 3, Touches: []gatelatch.Touch{
		{Does: "delete", What: "/p/x\u202e", Start: 7, End: 8}, {Does: "exec"},
	}}
	card := Call(c, nil)
	want := []Touch{{Does: "delete", What: "/p/x⟨U+202E⟩", Part: 2}, {Does: "exec"}}
	if diff := cmp.Diff(want, card.Touches); diff != "" || card.More != 3 {
		t.Errorf("%d more, %s", card.More, diff)
	}
}
