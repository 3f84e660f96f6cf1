package mcp

import (
	"encoding/json"

	"github.com/gatelatch/gatelatch/internal/strictjson"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// isHook reports whether Claude Code calls the tool as a hook of type mcp_tool.
// To it the answer to a prompt would be no opinion, and the call would run.
func isHook(req *sdk.CallToolRequest) bool {
	return clientName(req) == "claude-code" && req.Params.Meta["claudecode/toolUseId"] == nil
}

func clientName(req *sdk.CallToolRequest) string {
	if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
		return p.ClientInfo.Name
	}
	about, _ := req.Params.Meta["io.modelcontextprotocol/clientInfo"].(map[string]any)
	name, _ := about["name"].(string)
	return name
}

const notForHooks = "Gatelatch's tool approve answers permission prompts, not hooks, which would let calls run when it fails. " +
	"Remove the hook, and set up its own with \"gatelatch install claude\"."

// denyHook denies in the form of the event: PermissionRequest has no call id.
func denyHook(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in arguments
	_ = json.Unmarshal(req.Params.Arguments, &in) // it is denied anyway
	out := map[string]any{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": notForHooks}
	if in.ToolUseID == "" {
		out = map[string]any{"hookEventName": "PermissionRequest", "decision": map[string]string{"behavior": "deny", "message": notForHooks}}
	}
	text, err := strictjson.Marshal(map[string]any{"hookSpecificOutput": out})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
}
