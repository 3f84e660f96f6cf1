package hostconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bom is a byte order mark, which editors of Windows leave.
const bom = "\xef\xbb\xbf"

const foreign = `{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint.sh", "timeout": 1e1}]}`

// samples are settings files as people write them.
var samples = []string{
	"",
	"\n",
	"{}",
	"{}\n",
	"{ }",
	"{\n}\n",
	`{"model":"opus"}`,
	`{ "model": "opus" }`,
	"{\n  \"model\": \"opus\"\n}\n",
	"{\n\t\"model\": \"opus\",\n\t\"n\": 1.50e+3\n}",
	"{\r\n    \"model\": \"opus\"\r\n}\r\n",
	"{\n\"model\": \"opus\"\n}",
	"\n\n  {\n    \"a\": [ 1,2 ]\n  ,\n    \"b\" : {}\n\n  }  \n\n",
	`{"hooks":{}}`,
	`{"hooks": {"PreToolUse": []}}`,
	"{\n  \"hooks\": {},\n  \"z\": \"\\u00e9\\/\"\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      " + foreign + "\n    ]\n  },\n  \"z\": 12345678901234567890\n}\n",
	"{\n  \"hooks\": {\"Stop\": [" + foreign + "], \"PostToolUse\": [" + foreign + "," + foreign + "]}\n}\n",
	`{"hooks":{"PermissionRequest":[{"hooks":[]}]},"env":{"A":"// not a comment"}}`,
	bom + "{\r\n  \"model\": \"opus\"\r\n}",
	"{\n  \"hooks\": {\n\n\n    \"PreToolUse\": [" + foreign + "]   }\n}",
}

func TestUninstallGivesBackTheBytes(t *testing.T) {
	for _, s := range samples {
		checkRoundTrip(t, []byte(s))
	}
	checkRoundTrip(t, nil)
}

func TestUninstallGivesBackAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkRoundTrip(t, []byte(drawSettings(t)))
	})
}

func checkRoundTrip(t rapid.TB, settings []byte) {
	t.Helper()
	checkRoundTripOf(t, settings, testHook())
}

func checkRoundTripOf(t rapid.TB, settings []byte, h Hook) {
	t.Helper()
	change, err := Install(settings, nil, h)
	if err != nil {
		t.Fatalf("install over %q: %v", settings, err)
	}
	if !json.Valid(bytes.TrimPrefix(change.Settings, []byte(bom))) {
		t.Fatalf("install over %q gives bad JSON: %s", settings, change.Settings)
	}
	back, err := Uninstall(change.Settings, change.Backup, h.Only)
	if err != nil {
		t.Fatal(err)
	}
	if back.Hooks != 12 || back.Backup != nil {
		t.Errorf("of %q: got %d hooks and backup %q, want 12 and none", settings, back.Hooks, back.Backup)
	}
	if !equalFile(back.Settings, settings) {
		t.Errorf("got %q (nil: %t), want %q; it was\n%s", back.Settings, back.Settings == nil, settings, change.Settings)
	}
}

// Common layouts need no backup, so that they come back even if it is lost.
func TestInstallKeepsABackupOnlyIfNeeded(t *testing.T) {
	for settings, want := range map[string]bool{
		"{}":                                   false,
		"{}\n":                                 true, // as a new file is
		"":                                     true, // was there, unlike none
		"{ }":                                  true,
		"{\n  \"model\": \"opus\"\n}\n":        false,
		`{"hooks":{"Stop":[` + foreign + `]}}`: false,
		`{"hooks":{}}`:                         true,
		`{"hooks":{"PreToolUse":[` + foreign + `]}}`: false,
	} {
		change, err := Install([]byte(settings), nil, testHook())
		if err != nil {
			t.Fatal(err)
		}
		if got := change.Backup != nil; got != want {
			t.Errorf("%q: backup %t, want %t", settings, got, want)
		}
	}
	if change, err := Install(nil, nil, testHook()); err != nil || change.Backup != nil {
		t.Errorf("no file: got backup %q, error %v", change.Backup, err)
	}
}

func TestUninstallKeepsLaterChanges(t *testing.T) {
	for _, s := range []string{"{ }", "{}\n", `{"hooks":{}}`, `{"a":1}`, "{\n  \"a\": 1\n}"} {
		change, err := Install([]byte(s), nil, testHook())
		if err != nil {
			t.Fatal(err)
		}
		edited := bytes.Replace(change.Settings, []byte("{"), []byte(`{"later": true,`), 1)
		back, err := Uninstall(edited, change.Backup, false)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(back.Settings, []byte(`"later": true`)) || bytes.Contains(back.Settings, []byte("gatelatch")) || !json.Valid(back.Settings) {
			t.Errorf("%q: got %s", s, back.Settings)
		}
	}
}

func TestInstallForgetsABackupThatIsNoLongerTrue(t *testing.T) {
	change, err := Install([]byte("{ }"), nil, testHook())
	if err != nil || change.Backup == nil {
		t.Fatalf("got %v, %v; want a backup", change, err)
	}
	edited := bytes.Replace(change.Settings, []byte("{"), []byte(`{"later": true,`), 1)
	other := testHook()
	other.Args = []string{"claude"}
	again, err := Install(edited, change.Backup, other)
	if err != nil {
		t.Fatal(err)
	}
	if again.Backup != nil {
		t.Errorf("got backup %q, want none", again.Backup)
	}
}

func TestUninstallWithoutOurHooks(t *testing.T) {
	for _, s := range samples {
		change, err := Uninstall([]byte(s), []byte("{}"), false)
		if err != nil || change.Hooks != 0 || string(change.Settings) != s || string(change.Backup) != "{}" {
			t.Errorf("%q: got %+v, %v", s, change, err)
		}
	}
}

// drawSettings draws a settings file with any layout, and often with hooks.
func drawSettings(t *rapid.T) string {
	g := drawer{t}
	members := g.members(2)
	if rapid.Bool().Draw(t, "has hooks") {
		var events []string
		for _, e := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"PreToolUse", "PermissionRequest", "Stop", "Notification"}), rapid.ID[string]).Draw(t, "events") {
			events = append(events, g.member(e, g.list('[', g.groups())))
		}
		members = append(members, g.member("hooks", g.list('{', events)))
	}
	text := g.white() + g.list('{', members) + g.white()
	if rapid.Bool().Draw(t, "marked") {
		text = bom + text
	}
	return text
}

type drawer struct{ t *rapid.T }

func (g drawer) white() string {
	return rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\n\t", "\r\n    ", "\n\n"}).Draw(g.t, "white")
}

func (g drawer) list(open byte, kids []string) string {
	var b strings.Builder
	b.WriteByte(open)
	for i, k := range kids {
		if i > 0 {
			b.WriteString(g.white() + ",")
		}
		b.WriteString(g.white() + k)
	}
	b.WriteString(g.white())
	b.WriteByte(open + 2) // "{" and "[" are two below "}" and "]"
	return b.String()
}

func (g drawer) member(name, value string) string {
	return fmt.Sprintf("%q", name) + g.white() + ":" + g.white() + value
}

func (g drawer) members(depth int) []string {
	var out []string
	for i := range rapid.IntRange(0, 3).Draw(g.t, "members") {
		out = append(out, g.member(fmt.Sprintf("k%d", i), g.value(depth)))
	}
	return out
}

func (g drawer) value(depth int) string {
	if depth > 0 && rapid.Bool().Draw(g.t, "nested") {
		return g.list('{', g.members(depth-1))
	}
	return rapid.SampledFrom([]string{"1", "-0.0e-7", "true", "null", `"\u00e9\n"`, `"{,}"`, "[]", "[ ]"}).Draw(g.t, "scalar")
}

func (g drawer) groups() []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{foreign, `{"hooks":[]}`, "{\n\"hooks\": [ ]}"}), 0, 3).Draw(g.t, "groups")
}
