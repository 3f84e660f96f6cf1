package hostprobe

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
)

// puppet is an agent that does what a script says, and knows its model.
func puppet(t *testing.T, does string) Options {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the probe needs a Unix")
	}
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin := filepath.Join(dir, "claude")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return Options{Claude: bin, Dir: dir}
}

// asks tells the model how the call "$1" ended, as an agent would.
const asks = `tell() {
	body='{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"'$1'","content":"x"}]}]}'
	python3 - "$ANTHROPIC_BASE_URL/v1/messages" "$body" <<-'E'
		import sys, urllib.request
		urllib.request.urlopen(urllib.request.Request(sys.argv[1], sys.argv[2].encode(), {"Content-Type": "application/json"})).read()
	E
}
`

func TestJudging(t *testing.T) {
	held, runs := []Call{{File: "a"}}, []Call{{File: "a", Runs: true}}
	for name, c := range map[string]struct {
		does  string
		calls []Call
		got   string
		ok    bool
	}{
		"held back":             {`tell 1`, held, "held back", true},
		"ran":                   {`touch a; tell 1`, runs, "ran", true},
		"ran unasked":           {`touch a; tell 1`, held, "a ran unasked", false},
		"held back by mistake":  {`tell 1`, runs, "a was held back", false},
		"ran, and said nothing": {`touch a`, runs, "nothing is known", false},
		"did nothing":           {`exit 0`, held, "nothing is known", false},
		"one of two":            {`tell 1`, append(held, Call{File: "b"}), "tried 1 of 2 calls", false},
		"the edited one":        {`touch b; tell 1`, append(held, Call{File: "b", Runs: true, Edited: true}), "1 ran, 1 held back", true},
		"the one before":        {`touch a; tell 1`, append(held, Call{File: "b", Runs: true, Edited: true}), "a ran unasked, b was held back", false},
		"two, as they should":   {`touch b; tell 1; tell 2`, append(held, Call{File: "b", Runs: true}), "1 ran, 1 held back", true},
	} {
		opt := puppet(t, asks+c.does)
		r := opt.run(t.Context(), Channel{Name: "x", Command: ungated}, Case{Name: name, Calls: c.calls})
		if unknown := strings.Contains(r.Got, "nothing is known"); r.Unknown != unknown {
			t.Errorf("%s: got %+v", name, r)
		}
		if r.OK != c.ok || !strings.Contains(r.Got, c.got) {
			t.Errorf("%s: got %+v, want %q", name, r, c.got)
		}
	}
}

// Without the control nothing else counts, and is not even tried.
func TestRunStopsWithoutTheControl(t *testing.T) {
	opt := puppet(t, "exit 0")
	opt.Channels = []Channel{Hooks(hostconfig.Hook{Command: "/none/gatelatch-hook"})}
	results, err := Run(t.Context(), opt)
	if err != nil || len(results) != 1 || results[0].OK {
		t.Errorf("got %+v, %v", results, err)
	}
	opt.Only = []string{"denny"}
	if _, err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "deny") {
		t.Errorf("a case that there is not: %v", err)
	}
}
