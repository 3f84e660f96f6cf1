package hostprobe

import (
	"context"
	"errors"
	"strconv"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Hosted is the channel of "gatelatch run", which decides every call.
func Hosted() Channel {
	command := func(s *Stage, prompt string) ([]string, error) {
		run := []string{s.opt.Gatelatch, "run", "--state", string(s.State), "--give-up", strconv.Itoa(soon) + "s", "--"}
		return append(run, s.Claude(prompt)...), nil
	}
	return Channel{Name: "run", Command: command, Patient: true, Refuses: true}
}

// PromptTool is the channel of "gatelatch mcp": the agent asks a tool about what
// it would not run by itself.
func PromptTool(gatelatch string) Channel {
	command := func(s *Stage, prompt string) ([]string, error) {
		program := s.opt.Gatelatch
		if s.Hook != "" {
			program = s.Hook
		}
		config, err := strictjson.Marshal(map[string]any{"mcpServers": map[string]any{"gatelatch": map[string]any{
			"type": "stdio", "command": program, "args": []string{"mcp", "--state", string(s.State)},
		}}})
		return s.Claude(prompt, "--mcp-config="+string(config), "--permission-prompt-tool=mcp__gatelatch__approve"), err
	}
	killed := Case{Name: "tool killed", Why: "the tool is killed while it waits", Calls: held, Before: func(_ context.Context, s *Stage) error {
		return errors.Join(s.startGateway(), s.replaceHook(marked(gatelatch)))
	}, While: killMarked}
	return Channel{Name: "mcp", Command: command, Patient: true, Asks: true, Cases: []Case{killed}}
}
