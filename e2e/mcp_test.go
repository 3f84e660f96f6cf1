package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/scriptedmodel"
)

// promptTool makes the agent ask through MCP whatever its own rules don't allow.
const promptTool = "--permission-prompt-tool=mcp__gatelatch__approve"

// mcpStdio is the configuration that the product prints.
func mcpStdio(g *gateway) string {
	return "--mcp-config=" + strings.TrimSpace(g.cli("mcp", "--print"))
}

// mcpHTTP is the gateway's own route, with the agent's key.
func mcpHTTP(t *testing.T, g *gateway, session string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"gatelatch": map[string]any{
		"type": "http", "url": g.url + "/mcp?session=" + session, "timeout": 86400000,
		"headers": map[string]string{"Authorization": "Bearer " + g.agentKey()},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return "--mcp-config=" + string(raw)
}

func (g *gateway) agentKey() string {
	g.t.Helper()
	key, err := os.ReadFile(filepath.Join(g.state, "agent.key"))
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

// Three calls in one run of the real agent: allowed by a click, denied with
// words, and one whose gateway is killed and comes back while it waits.
func TestPromptToolOnStdio(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), newAgent(t)
	s := a.print(scriptedmodel.Prompt(
		scriptedmodel.Bash("touch x"), scriptedmodel.Bash("touch y"), scriptedmodel.Bash("touch z"), scriptedmodel.Say("done"),
	), mcpStdio(g), promptTool)

	c := in.waitCard("touch x")
	if a.made("x") {
		t.Error("the call ran before anybody decided")
	}
	c.allow()
	in.waitCard("touch y").deny("not today")
	in.waitCard("touch z")
	g.kill()
	in.waitOffline()
	g.start()
	in.waitLive()
	in.waitCard("touch z").allow()

	wantDone(t, s.result())
	if !a.made("x") || a.made("y") || !a.made("z") {
		t.Errorf("x, y, z: %v %v %v, want true false true", a.made("x"), a.made("y"), a.made("z"))
	}
	a.sawRefusal("not today")
}
