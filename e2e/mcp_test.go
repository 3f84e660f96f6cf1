package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
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

// REL-31: the prompt tool is killed while a call waits, or finds no gateway:
// nothing runs, the agent goes on, and what waited still does.
func TestPromptToolFails(t *testing.T) {
	t.Parallel()
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		g := startGateway(t, "")
		in, a := openInbox(t, g), newAgent(t)
		pid := filepath.Join(a.home, "pid")
		var config struct {
			Servers map[string]map[string]any `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(g.cli("mcp", "--print")), &config); err != nil {
			t.Fatal(err)
		}
		tool := config.Servers["gatelatch"]
		tool["args"] = append([]any{"-c", `echo $$ > "$0"; exec "$@"`, pid, tool["command"]}, tool["args"].([]any)...)
		tool["command"] = "/bin/sh"
		s := a.print(scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Say("done")), "--mcp-config="+dump(t, config), promptTool)

		c := in.waitCard("touch x")
		raw, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		wantDone(t, s.result())
		if a.made("x") || len(g.waiting()) != 1 {
			t.Errorf("x was made: %v; %d calls wait", a.made("x"), len(g.waiting()))
		}
		c.deny("")
	})
	t.Run("no gateway", func(t *testing.T) {
		t.Parallel()
		g := startGateway(t, "")
		config := mcpStdio(g)
		g.kill()
		a := newAgent(t)
		s := a.print(touch("x"), config, promptTool)
		wantDone(t, s.result())
		if a.made("x") {
			t.Error("a call ran without a gateway")
		}
		a.sawRefusal("Gatelatch is not reachable, so nothing is allowed")
	})
}

// S7: a question comes through the prompt tool with its options, and its answer
// reaches the model.
func TestPromptToolAsksQuestions(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := newAgent(t)
	s := a.print(scriptedmodel.Prompt(scriptedmodel.Call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which database?", "header": "DB", "multiSelect": false,
		"options": []any{map[string]any{"label": "Postgres", "description": "SQL"}, map[string]any{"label": "Mongo", "description": "docs"}},
	}}}), scriptedmodel.Say("done")), mcpStdio(g), promptTool)
	until(t, "the question to wait", func() bool { return len(g.waiting()) == 1 })
	people, err := client.ForPeople(g.state)
	if err != nil {
		t.Fatal(err)
	}
	c, err := people.Call(t.Context(), g.waiting()[0])
	if err != nil || c.Kind != "question" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := people.Decide(t.Context(), c.ID, api.Decision{State: "allowed", Digest: c.Digest, Answers: map[string]string{"Which database?": "Postgres"}}); err != nil {
		t.Fatal(err)
	}
	wantDone(t, s.result())
	if got := fmt.Sprint(a.model.Results()); !strings.Contains(got, `"Which database?"="Postgres"`) {
		t.Errorf("the model heard %s", got)
	}
}

// S8 over MCP: a plan is approved with the mode that the person picked, and the
// agent carries it out in that mode.
func TestPromptToolPlan(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d, a := g.desk(), newAgent(t)
	s := a.print(scriptedmodel.PromptWith(map[string]string{"PLAN": `create your plan at (\S+\.md)`},
		scriptedmodel.Call("Write", map[string]any{"file_path": "${PLAN}", "content": "1. make x"}),
		scriptedmodel.Call("ExitPlanMode", map[string]any{}), scriptedmodel.Bash("touch x"), scriptedmodel.Say("done"),
	), mcpStdio(g), promptTool, "--permission-mode=plan")

	c := d.await("1. make x")
	if c.Kind != "plan" || a.made("x") {
		t.Errorf("it is a %s; x was made: %t", c.Kind, a.made("x"))
	}
	d.decide(c, api.Decision{State: "allowed", Mode: "acceptEdits"})

	wantDone(t, s.result())
	if !a.made("x") || !strings.Contains(a.model.Results()[1].Text, "User has approved your plan") {
		t.Errorf("x was made: %t; the model was told %+v", a.made("x"), a.model.Results())
	}
}
