package hostconfig

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClaudeFactsOfWhatWeWrite(t *testing.T) {
	f, err := ClaudeFacts(mustClaude(t, []byte(`{"permissions":{"defaultMode":"bypassPermissions","ask":["a"],"deny":["b","c"]}}`), managedHook()))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Missing()) != 0 || len(f.Ours) != 12 || !f.Only || f.Disabled || f.Mode != "bypassPermissions" || f.Ask != 1 || f.Deny != 2 {
		t.Errorf("got %+v", f)
	}
	for _, o := range f.Ours {
		if len(o.Gaps) != 0 || o.Command != testHook().Command || o.Arg("--state") != testHook().Args[2] || o.Timeout == 0 {
			t.Errorf("got %+v", o)
		}
	}
	if len(f.Others) != 0 || len(f.Problems) != 0 {
		t.Errorf("got %v, %v", f.Others, f.Problems)
	}
}

// Each change of a hook that lets a call by is a gap with a name.
func TestClaudeFactsNameEachGap(t *testing.T) {
	const line = `{"type":"command","command":"/x/gatelatch-hook","args":["claude","--limit","60"],"timeout":60,"onFailure":"block"}`
	for name, c := range map[string]struct{ from, to, want string }{
		"fails open":   {`"onFailure":"block"`, `"onFailure":"ignore"`, "onFailure"},
		"never fails":  {`,"onFailure":"block"`, ``, "onFailure"},
		"in vain":      {`"timeout":60`, `"timeout":60,"async":true`, "nobody waits"},
		"some calls":   {`"timeout":60`, `"timeout":60,"if":"Bash(git *)"`, `"if"`},
		"too soon":     {`"timeout":60`, `"timeout":30`, "killed before"},
		"no time":      {`"timeout":60,`, ``, "no timeout"},
		"other type":   {`"type":"command"`, `"type":"http"`, "not a command"},
		"by the shell": {`"/x/gatelatch-hook","args":["claude","--limit","60"]`, `"gatelatch-hook claude --limit 60"`, "a shell"},
		"some tools":   {`*`, `Bash`, "every tool"},
		"odd":          {`"timeout":60`, `"timeout":"60"`, "can't be read"},
	} {
		good := `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + line + `]}]}}`
		if f, err := ClaudeFacts([]byte(good)); err != nil || len(f.Ours) != 1 || len(f.Ours[0].Gaps) != 0 {
			t.Fatalf("as it is right: %+v, %v", f, err)
		}
		bad := strings.Replace(good, c.from, c.to, 1)
		if bad == good {
			t.Fatalf("%s: nothing changed", name)
		}
		f, err := ClaudeFacts([]byte(bad))
		if err != nil || len(f.Ours) != 1 || !strings.Contains(strings.Join(f.Ours[0].Gaps, "; "), c.want) {
			t.Errorf("%s: got %+v, %v; want %q", name, f.Ours, err, c.want)
		}
	}
}

// Trap 12: whoever has a hook of his own may replace what was decided on.
func TestTrap12HooksOfOthersAreSeen(t *testing.T) {
	f, err := ClaudeFacts(mustClaude(t, []byte(`{"hooks":{"PreToolUse":[`+foreign+`],"Stop":[`+foreign+`]}}`), testHook()))
	if err != nil || len(f.Others) != 1 || f.Others[0] != "PreToolUse" {
		t.Errorf("got %v, %v", f.Others, err)
	}
}

func FuzzClaudeFacts(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte(`{"hooks":{"PreToolUse":[{"hooks":[{"command":"gatelatch-hook","args":null}]}]},"permissions":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		facts, err := ClaudeFacts(text)
		if _, e := json.Marshal(facts); err == nil && e != nil {
			t.Error(e)
		}
	})
}
