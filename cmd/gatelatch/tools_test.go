package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

func explainTool(t *testing.T, config string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	root := newRootCmd()
	root.SetOut(&out)
	root.SetArgs(append([]string{"tools", "explain", "--config", config}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestToolsExplain(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), `
tools:
  profile: mine
  profiles: {mine: {allow: [recall]}}
  plugins: {memory: [recall]}
  deny: [exec]
`)
	explain := func(args ...string) string { t.Helper(); return explainTool(t, dir, args...) }
	want := `Bash may not be used: denied by "exec" (tools.global)

passes   apply_patch
passes   owner-only
passes   tools.profile (mine)           allow recall
warning  tools.profile (mine)           the allow-list names only tools of plug-ins that are not loaded ("recall"): core tools stay
passes   tools.provider-profile
removed  tools.global                   deny exec
`
	if diff := cmp.Diff(want, explain("Bash")); diff != "" {
		t.Error(diff)
	}
	var got struct {
		Usable bool
		Steps  []struct{ Label string }
	}
	for tool, usable := range map[string]bool{"Read": true, "exec": false} {
		if err := json.Unmarshal([]byte(explain(tool, "--json", "--agent", "main")), &got); err != nil || got.Usable != usable || len(got.Steps) != 12 {
			t.Errorf("%s: %+v, %v", tool, got, err)
		}
	}
	if out := explain("read", "--beside", "recall"); out[:20] != "read may not be used" {
		t.Errorf("with the plug-in loaded: %s", out)
	}
}

// What docs/tools.md shows is so.
func TestDocumentedTools(t *testing.T) {
	doc, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(start string) string {
		t.Helper()
		_, rest, _ := strings.Cut(string(doc), start)
		body, _, found := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("docs/tools.md has no %q", start)
		}
		return body
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), block("```yaml\n"))
	if got, want := explainTool(t, dir, "Bash", "--agent", "helper", "--provider", "openai"), block("```console\n$ gatelatch tools explain Bash --agent helper --provider openai\n"); got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// The section "tools" of the configuration is what POST /v1/tools goes by, and
// a hook that is on after is told what the agent reports.
func TestGatewayWithToolsAndAfterHooks(t *testing.T) {
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	opt := gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: filepath.Join(tmp, "config"), listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler)}
	told := filepath.Join(opt.config, "told")
	script := filepath.Join(opt.config, "tell")
	writeFile(t, script, "#!/bin/sh\ncat > "+told+"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(opt.config, "config.yaml"), "tools: {allow: [read]}\nhooks: [{path: "+script+", on: after}]\n")
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(g.close)
	t.Cleanup(func() { _ = stop() })
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Tools(t.Context(), api.ToolsRequest{Tools: []api.Tool{{Name: "Read"}, {Name: "Write"}}})
	if err != nil || len(got.Tools) != 1 || got.Tools[0].Name != "Read" {
		t.Errorf("%+v, %v", got, err)
	}
	b := ask(t, opt, "m1", "git push")
	mustRun(t, opt, "allow", b.Calls[0].ID)
	if err := c.Report(t.Context(), gatelatch.Report{Session: "s", Ref: "m1", OK: true}); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil { // it waits for what it told
		t.Fatal(err)
	}
	raw, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Event, Outcome string }
	if err := json.Unmarshal(raw, &line); err != nil || line.Event != "after" || line.Outcome != "done" {
		t.Errorf("%+v, %v", line, err)
	}
}
