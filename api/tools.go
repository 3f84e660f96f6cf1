package api

import "encoding/json"

// ToolsRequest is an agent's tools, and what it says about itself. Who the
// sender is, the gateway knows by the key alone.
type ToolsRequest struct {
	Agent    string `json:"agent,omitempty"` // the agent's id in the configuration
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Profile  string `json:"profile,omitempty"` // where the configuration names none
	Group    string `json:"group,omitempty"`   // the chat group it serves
	Sandbox  bool   `json:"sandbox,omitempty"`
	Subagent bool   `json:"subagent,omitempty"`
	Tools    []Tool `json:"tools,omitempty"`
}

// Tool is one tool as a model sees it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of its input; comes back as one object
	OwnerOnly   bool            `json:"owner_only,omitempty"`
	Plugin      string          `json:"plugin,omitempty"` // the plug-in it comes from
}

// Tools is what an agent may use, and how it came to that.
type Tools struct {
	Tools []Tool     `json:"tools"`
	Key   string     `json:"key"`   // the id of the key that asked
	Owner bool       `json:"owner"` // whether its senders are the owner
	Steps []ToolStep `json:"steps"`
}

// ToolStep is one step of the choice. It is there also if it removed nothing.
type ToolStep struct {
	Label    string        `json:"label"`
	Rule     string        `json:"rule,omitempty"` // what it went by
	Removed  []RemovedTool `json:"removed,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// RemovedTool says why a step removed a tool.
type RemovedTool struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}
