package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gatelatch/gatelatch/toolset"
)

// builtIn are the tools of this agent. None of them asks or checks anything:
// that is the guard's business. Their names and fields are Claude Code's, which
// the rules of a gateway know.
func builtIn(project string) []toolset.Tool {
	at := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(project, path)
	}
	return []toolset.Tool{
		{
			Name: "Read", Description: "Read a file.",
			Schema: json.RawMessage(`{"properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}`),
			Run: tool(func(_ context.Context, in struct {
				File string `json:"file_path"`
			}) ([]byte, error) {
				return os.ReadFile(at(in.File))
			}),
		},
		{
			Name: "Write", Description: "Write a file.",
			Schema: json.RawMessage(`{"properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}, "required": ["file_path", "content"]}`),
			Run: tool(func(_ context.Context, in struct {
				File    string `json:"file_path"`
				Content string `json:"content"`
			}) ([]byte, error) {
				return []byte("written"), os.WriteFile(at(in.File), []byte(in.Content), 0o600)
			}),
		},
		{
			Name: "Bash", Description: "Run a command.",
			Schema: json.RawMessage(`{"properties": {"command": {"type": "string"}}, "required": ["command"]}`),
			Run: tool(func(ctx context.Context, in struct {
				Command string `json:"command"`
			}) ([]byte, error) {
				cmd := exec.CommandContext(ctx, "bash", "-c", in.Command)
				cmd.Dir = project
				return cmd.CombinedOutput()
			}),
		},
		{
			Name: "Forget", Description: "Forget the conversation.", OwnerOnly: true,
			Run: tool(func(context.Context, struct{}) ([]byte, error) { return []byte("forgotten"), nil }),
		},
	}
}

// tool makes a runner of a function that takes its input as a struct.
func tool[In any](do func(ctx context.Context, in In) ([]byte, error)) toolset.Runner {
	return toolset.Func(func(ctx context.Context, c toolset.Call) ([]byte, error) {
		var in In
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return nil, err
		}
		return do(ctx, in)
	})
}
