// Command agent-go is a small agent. It asks the gateway which of its tools it
// may offer to its model, and then before each call. The model is whoever
// writes to its standard input, one message with tool calls a line:
//
//	{"id": "m1", "calls": [{"id": "c1", "tool": "Read", "input": {"file_path": "go.mod"}}]}
//
// It prints the tools that the model may call, then the result of each call.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/toolset"
)

func main() {
	home, _ := os.UserHomeDir()
	state := flag.String("state", filepath.Join(home, ".local/state/gatelatch"), "state directory of the gateway")
	project := flag.String("project", ".", "directory to work in")
	session := flag.String("session", fmt.Sprintf("agent-go-%d", time.Now().UnixNano()), "name of the conversation")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *state, *project, *session, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent-go:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, state, project, session string, model io.Reader, out io.Writer) error {
	project, err := filepath.Abs(project)
	if err != nil {
		return err
	}
	gateway, err := client.ForAgents(state)
	if err != nil {
		return err
	}
	tools, err := offered(ctx, gateway, builtIn(project))
	if err != nil {
		return err
	}
	guard := &toolset.Guard{
		Service: &client.Patient{Client: gateway, Grace: time.Minute}, // outlives a restart of the gateway
		Session: gatelatch.SessionInfo{ID: session, Name: "agent-go", Project: project}, Dir: project,
	}
	if tools, err = toolset.Wrap(ctx, tools, guard); err != nil {
		return err
	}
	answer := json.NewEncoder(out)
	for _, t := range tools {
		if err := answer.Encode(map[string]any{"tool": t.Name, "schema": t.Schema}); err != nil {
			return err
		}
	}
	return converse(ctx, tools, model, answer)
}

// offered leaves the tools that the gateway lets this agent have, with their
// schemas as every provider takes them.
func offered(ctx context.Context, gateway *client.Client, all []toolset.Tool) (out []toolset.Tool, err error) {
	ask := api.ToolsRequest{Agent: "agent-go"}
	for _, t := range all {
		ask.Tools = append(ask.Tools, api.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, OwnerOnly: t.OwnerOnly})
	}
	may, err := gateway.Tools(ctx, ask)
	for _, t := range all {
		for _, m := range may.Tools {
			if m.Name == t.Name {
				t.Schema = m.Schema
				out = append(out, t)
			}
		}
	}
	return out, err
}

// message is one of the model's.
type message struct {
	ID    string `json:"id"`
	Calls []struct {
		ID    string          `json:"id"`
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	} `json:"calls"`
}

// converse is the loop of every agent: the model says what it wants to call,
// and hears what came of it.
func converse(ctx context.Context, tools []toolset.Tool, model io.Reader, answer *json.Encoder) error {
	lines := bufio.NewScanner(model)
	lines.Buffer(nil, gatelatch.MostInput)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		var calls []toolset.ModelCall
		for _, c := range m.Calls {
			calls = append(calls, toolset.ModelCall{Tool: c.Tool, Call: toolset.Call{ID: c.ID, Input: c.Input}})
		}
		results, err := toolset.RunMessage(ctx, m.ID, tools, calls)
		if err != nil {
			return err
		}
		for _, r := range results {
			text := string(r.Output)
			if r.Err != nil {
				text = r.Err.Error()
			}
			if err := answer.Encode(map[string]any{"call": r.Call, "ok": r.Err == nil, "text": text}); err != nil {
				return err
			}
			if r.Interrupt {
				return nil
			}
		}
	}
	return lines.Err()
}
