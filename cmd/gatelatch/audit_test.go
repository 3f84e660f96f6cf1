package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

func TestExportAndVerify(t *testing.T) {
	opt := testGateway(t)
	b := ask(t, opt, "m1", "echo '<&>' \u2028")
	if _, err := command(t, opt, "deny", b.Calls[0].ID, "--note", "<no> & \"never\"\n\u2028"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trail.jsonl")
	if out, err := command(t, opt, "audit", "export", file); err != nil || out != "" {
		t.Fatalf("export: %q, %v", out, err)
	}
	if _, err := command(t, opt, "audit", "export", file); err == nil || hintOf(err) == "" {
		t.Errorf("an export was overwritten: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, opt, "audit", "export"); err != nil || out != string(raw) {
		t.Errorf("export to the standard output differs: %q, %v", out, err)
	}
	nowhere := gatewayOptions{state: statedir.Dir(t.TempDir())} // verifying needs no gateway
	for _, out := range []string{verified(t, nowhere, "", file), verified(t, nowhere, string(raw), "-"), verified(t, opt, "")} {
		if !strings.HasPrefix(out, "events       6, whole\n") || !strings.Contains(out, "\nhead         6 ") || !strings.Contains(out, "none given") {
			t.Errorf("%q", out)
		}
	}
	out, err := verify(t, nowhere, strings.Replace(string(raw), `"denied"`, `"allowed"`, 1), "-", "--json")
	var report struct {
		OK      bool
		Problem string
		Events  int
	}
	if e := json.Unmarshal([]byte(out), &report); err == nil || e != nil || report.OK || report.Events != 5 || report.Problem != "line 6: event 6 was changed" {
		t.Errorf("a changed decision: %q, %v, %v", out, err, e)
	}
	if out, err := verify(t, nowhere, "", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Errorf("no file: %q", out)
	}
}

func verify(t *testing.T, opt gatewayOptions, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRootCmd()
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetArgs(append(append([]string{"audit", "verify"}, args...), "--state", string(opt.state)))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func verified(t *testing.T, opt gatewayOptions, stdin string, args ...string) string {
	t.Helper()
	out, err := verify(t, opt, stdin, args...)
	if err != nil {
		t.Errorf("verify %v: %v", args, err)
	}
	return out
}

// SEC-53: an export is held against checkpoints from elsewhere, by named keys.
func TestVerifyWithCheckpoints(t *testing.T) {
	opt := stoppedOptions(t)
	session(t, opt, func() { ask(t, opt, "m1", "git push") })
	other := stoppedOptions(t)
	session(t, other, func() { ask(t, other, "m1", "git push") })
	var trail, key, otherKey string
	session(t, opt, func() {
		trail, _ = command(t, opt, "audit", "export")
		key, _ = command(t, opt, "audit", "key")
		otherKey, _ = command(t, other, "audit", "key")
	})
	key, otherKey = strings.TrimSpace(key), strings.TrimSpace(otherKey)
	keyFile := filepath.Join(t.TempDir(), "key")
	writeFile(t, keyFile, key+"\n")
	empty := filepath.Join(t.TempDir(), "empty")
	writeFile(t, empty, "")
	lines := strings.SplitAfter(trail, "\n")
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		want  string // "" is success
	}{
		"by key":               {trail, []string{"--checkpoints", opt.checkpoints, "--key", key}, ""},
		"by a key's file":      {trail, []string{"--checkpoints", opt.checkpoints, "--key", keyFile}, ""},
		"by the secret's file": {trail, []string{"--checkpoints", opt.checkpoints, "--key", opt.state.CheckpointKey()}, ""},
		"by one of two":        {trail, []string{"--checkpoints", opt.checkpoints, "--key", otherKey, "--key", key}, ""},
		"cut":                  {strings.Join(lines[:4], ""), []string{"--checkpoints", opt.checkpoints, "--key", key}, "the end was cut off"},
		"another key":          {trail, []string{"--checkpoints", opt.checkpoints, "--key", otherKey}, "signed by another key"},
		"another trail":        {trail, []string{"--checkpoints", other.checkpoints, "--key", otherKey}, "is not the one that"},
		"no key":               {trail, []string{"--checkpoints", opt.checkpoints}, "go together"},
		"no checkpoints":       {trail, []string{"--key", key}, "go together"},
		"an empty file":        {trail, []string{"--checkpoints", empty, "--key", key}, "holds no checkpoint"},
		"a key that is none":   {trail, []string{"--checkpoints", opt.checkpoints, "--key", empty}, "a public key is"},
		"a file that is none":  {trail, []string{"--checkpoints", empty + "x", "--key", key}, "no such file"},
	} {
		out, err := verify(t, opt, tt.stdin, append([]string{"-"}, tt.args...)...)
		if tt.want == "" && (err != nil || !strings.Contains(out, "checkpoints  2, the last at event 5; 0 events")) ||
			tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	if _, err := command(t, gatewayOptions{state: statedir.Dir(t.TempDir())}, "audit", "key"); err == nil || hintOf(err) == "" {
		t.Errorf("no key: %v", err)
	}
}
