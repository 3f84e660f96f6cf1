package hostconfig

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestIsOurs(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"command":"gatelatch-hook"}`:                                  true,
		`{"command":"/a b/gatelatch-hook","args":["claude"]}`:           true,
		`{"command":"/a/gatelatch","args":["hook","claude"]}`:           true,
		`{"command":"C:\\p f\\gatelatch-hook.EXE","args":[]}`:           true,
		`{"command":"gatelatch hook claude"}`:                           true,
		`{"command":"'/a b/gatelatch' hook claude"}`:                    true,
		`{"command":"\"/a b/gatelatch-hook\" claude --state \"/x y\""}`: true,
		`{"command":"gatelatch-\u0068ook claude"}`:                      true,
		`{"command":"/a b/gatelatch-hook claude"}`:                      false, // runs "/a"
		`{"command":"/a/gatelatch","args":["status"]}`:                  false,
		`{"command":"/a/gatelatch","args":[]}`:                          false,
		`{"command":"gatelatch hooks"}`:                                 false,
		`{"command":"my-gatelatch-hook"}`:                               false,
		`{"command":"gatelatch-hook-wrapper"}`:                          false,
		`{"command":"/gatelatch-hook/other","args":["gatelatch-hook"]}`: false,
		`{"command":"log gatelatch-hook"}`:                              false,
		`{"command":""}`:                                                false,
		`{"type":"http","url":"http://127.0.0.1/gatelatch-hook"}`:       false,
		`{"command":["gatelatch-hook"]}`:                                false,
	} {
		text := []byte(`{"e":` + entry + `}`)
		root, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := isOurs(text, root.member("e")); got != want {
			t.Errorf("%s: got %t, want %t", entry, got, want)
		}
	}
}

func TestRemoveClaude(t *testing.T) {
	const our = `{"type":"command","command":"/x/gatelatch-hook","args":["claude"]}`
	const other = `{"type":"command","command":"lint.sh"}`
	for name, c := range map[string]struct {
		settings, want string
		removed        int
	}{
		"the only thing":        {`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[` + our + `]}]}}`, `{}`, 1},
		"group with others":     {`{"hooks":{"PreToolUse":[{"hooks":[` + other + `, ` + our + `, ` + other + `]}]}}`, `{"hooks":{"PreToolUse":[{"hooks":[` + other + `, ` + other + `]}]}}`, 1},
		"first of its group":    {`{"hooks":{"PreToolUse":[{"hooks":[` + our + `,` + our + `,` + other + `]}]}}`, `{"hooks":{"PreToolUse":[{"hooks":[` + other + `]}]}}`, 2},
		"between other events":  {`{"hooks":{"A":[],"PreToolUse":[{"hooks":[` + our + `]}],"B":[]}}`, `{"hooks":{"A":[],"B":[]}}`, 1},
		"before other events":   {`{"hooks":{"PreToolUse":[{"hooks":[` + our + `]}], "B":[]}, "z":1}`, `{"hooks":{"B":[]}, "z":1}`, 1},
		"hooks before others":   {`{"hooks":{"Stop":[{"hooks":[` + our + `]}]}, "z":1}`, `{"z":1}`, 1},
		"an event called hooks": {`{"hooks":{"hooks":[{"hooks":[` + our + `]}],"B":[]}}`, `{"hooks":{"B":[]}}`, 1},
		"empty groups stay":     {`{"hooks":{"PreToolUse":[{"hooks":[]},{"hooks":[` + our + `]}]}}`, `{"hooks":{"PreToolUse":[{"hooks":[]}]}}`, 1},
		"strange shapes stay":   {`{"hooks":{"A":1,"B":[1,{"hooks":2},{"hooks":[3]}]}}`, `{"hooks":{"A":1,"B":[1,{"hooks":2},{"hooks":[3]}]}}`, 0},
		"hooks elsewhere stay":  {`{"x":{"hooks":{"PreToolUse":[{"hooks":[` + our + `]}]}}}`, `{"x":{"hooks":{"PreToolUse":[{"hooks":[` + our + `]}]}}}`, 0},
	} {
		got, removed, err := RemoveClaude([]byte(c.settings))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if string(got) != c.want || removed != c.removed {
			t.Errorf("%s: got %d, %s\nwant %d, %s", name, removed, got, c.removed, c.want)
		}
	}
}

func FuzzClaude(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add(mustClaude(f, nil, testHook()))
	f.Fuzz(func(t *testing.T, settings []byte) {
		change, err := Install(settings, nil, testHook())
		if err != nil {
			return
		}
		if !json.Valid(bytes.TrimPrefix(change.Settings, []byte(bom))) {
			t.Fatalf("gives bad JSON: %s", change.Settings)
		}
		back, err := Uninstall(change.Settings, change.Backup, false)
		if err != nil {
			t.Fatal(err)
		}
		_, before, err := RemoveClaude(settings)
		if err != nil {
			t.Fatal(err)
		}
		if before == 0 && !equalFile(back.Settings, settings) {
			t.Fatalf("got %q, want %q", back.Settings, settings)
		}
		if root, err := parse(back.Settings); err == nil && len(findOurs(back.Settings, root)) > 0 {
			t.Fatalf("left some of ours: %s", back.Settings)
		}
	})
}

func TestParseKeepsPlaces(t *testing.T) {
	text := []byte(` { "a" : [ 1 , "x,:" ] ,"b":{} } `)
	root, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range root.kids {
		got = append(got, string(text[k.start:k.value.end]))
		for _, e := range k.value.kids {
			got = append(got, string(e.value.raw(text)))
		}
	}
	want := `"a" : [ 1 , "x,:" ]|1|"x,:"|"b":{}`
	if s := strings.Join(got, "|"); s != want || string(root.raw(text)) != strings.TrimSpace(string(text)) {
		t.Errorf("got %s, want %s", s, want)
	}
}
