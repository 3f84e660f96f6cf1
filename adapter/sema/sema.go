// Package sema speaks the events and answers of Sema's core: its agents ask with
// an event and get the answer that a user interface would give, and user
// interfaces get the events of all agents and answer them (S9).
//
// Requests are told apart by an id. The protocol did without, so one is given
// to each; an answer that has none is taken only if it can mean one request.
package sema

import (
	"encoding/json"

	"github.com/gatelatch/gatelatch"
)

// Events, from the core.
const (
	permissionEvent = "tool:permission:request"
	questionEvent   = "ask:question:request"
	planEvent       = "plan:exit:request"
	implementEvent  = "plan:implement"
	settledEvent    = "request:settled" // ours: no longer to be answered
	cancelEvent     = "request:cancel"  // ours: the agent no longer asks
	errorEvent      = "response:error"  // ours: an answer had no effect
)

// Answers, from the user interface.
const (
	permissionAnswer = "respondToToolPermission"
	questionAnswer   = "respondToAskQuestion"
	planAnswer       = "respondToPlanExit"
)

// What is selected for a tool's permission; any other text is feedback (S3).
const (
	agree  = "agree"
	allow  = "allow"
	refuse = "refuse"
)

// message is one message either way.
type message struct {
	Event  string `json:"event,omitempty"`
	Method string `json:"method,omitempty"`
	Data   any    `json:"data"`
}

// incoming is a message before it is known what its data is.
type incoming struct {
	Event  string          `json:"event"`
	Method string          `json:"method"`
	Data   json.RawMessage `json:"data"`
}

// request is the data of all three request events.
type request struct {
	AgentID   string          `json:"agentId"`
	RequestID string          `json:"requestId,omitempty"`
	ToolName  string          `json:"toolName,omitempty"`
	Title     string          `json:"title,omitempty"`
	Content   *content        `json:"content,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`

	Questions json.RawMessage `json:"questions,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`

	PlanFilePath string `json:"planFilePath,omitempty"`
	PlanContent  string `json:"planContent,omitempty"`

	Options map[string]string `json:"options,omitempty"` // with their labels (S10)
}

// content is what to show beside the title.
type content struct {
	Type  string `json:"type"` // diff
	Patch string `json:"patch,omitempty"`
}

// response is the data of all three answers.
type response struct {
	AgentID   string            `json:"agentId,omitempty"`
	RequestID string            `json:"requestId,omitempty"`
	ToolName  string            `json:"toolName,omitempty"`
	Selected  string            `json:"selected,omitempty"`
	Answers   map[string]string `json:"answers,omitempty"`
}

// implement is the data of plan:implement, which nobody answers.
type implement struct {
	PlanFilePath string `json:"planFilePath"`
	PlanContent  string `json:"planContent"`
}

// failure tells that an answer had no effect.
type failure struct {
	AgentID   string `json:"agentId,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Error     string `json:"error"`
}

func kindOf(method string) gatelatch.Kind {
	switch method {
	case permissionAnswer:
		return gatelatch.Permission
	case questionAnswer:
		return gatelatch.Question
	case planAnswer:
		return gatelatch.Plan
	}
	return ""
}
