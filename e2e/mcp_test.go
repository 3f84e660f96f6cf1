package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/e2e/scriptedmodel"
)

// promptTool makes the agent ask through MCP whatever its own rules don't allow.
const promptTool = "--permission-prompt-tool=mcp__gatelatch__approve"

// mcpStdio is the configuration that the product prints.
func mcpStdio(g *gateway) string {
	return "--mcp-config=" + strings.TrimSpace(g.cli("mcp", "--print"))
}

// mcpHTTP is a configuration for streamable HTTP, with the agent's key.
func mcpHTTP(g *gateway, url string) string {
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"gatelatch": map[string]any{
		"type": "http", "url": url + "?session=s1", "timeout": 86400000,
		"headers": map[string]string{"Authorization": "Bearer " + g.agentKey()},
	}}})
	if err != nil {
		g.t.Fatal(err)
	}
	return "--mcp-config=" + string(raw)
}

// startMCP runs "gatelatch mcp --http" and returns its address.
func startMCP(g *gateway) string {
	g.t.Helper()
	cmd := exec.Command(need(g.t, product).gatelatch, "mcp", "--http", "127.0.0.1:0", "--state", g.state)
	cmd.Env, cmd.Dir = cleanEnv(g.home), g.home
	log := new(output.Buffer)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			g.t.Errorf("gatelatch mcp --http: %v\n%s", err, log)
		}
	})
	var url string
	until(g.t, "the tool to listen", func() bool {
		_, rest, _ := strings.Cut(log.String(), "serving MCP on ")
		var whole bool
		url, _, whole = strings.Cut(rest, "\n")
		return whole
	})
	return url
}

func (g *gateway) agentKey() string {
	g.t.Helper()
	key, err := os.ReadFile(filepath.Join(g.state, "agent.key"))
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

// Three calls in one run of the real agent, on each transport: allowed by a
// click, denied with words, and one whose gateway is killed and comes back.
func TestPromptTool(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(*gateway) string{
		"stdio": mcpStdio,
		"HTTP":  func(g *gateway) string { return mcpHTTP(g, startMCP(g)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, "")
			in, a := openInbox(t, g), newAgent(t)
			s := a.print(scriptedmodel.Prompt(
				scriptedmodel.Bash("touch x"), scriptedmodel.Bash("touch y"), scriptedmodel.Bash("touch z"), scriptedmodel.Say("done"),
			), config(g), promptTool)

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
		})
	}
}
