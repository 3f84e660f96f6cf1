// Package control speaks Claude Code's control protocol as its host: one JSON
// message a line, over any transport. message.go has the forms; Host is the
// state machine of one connection.
package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Types of message that the protocol is about. All others are an agent's
// output, which Host only reads along.
const (
	TypeRequest  = "control_request"
	TypeResponse = "control_response"
	TypeCancel   = "control_cancel_request"
)

// Subtypes of request.
const (
	SubCanUseTool  = "can_use_tool"  // agent → host
	SubHook        = "hook_callback" // agent → host
	SubInitialize  = "initialize"    // host → agent
	SubInterrupt   = "interrupt"
	SubSetMode     = "set_permission_mode"
	SubSuccess     = "success"
	subError       = "error"
	behaviorAllow  = "allow"
	behaviorDeny   = "deny"
	MaxMessage     = 16 << 20 // bytes of one line
	maxRequestName = 256
)

// A Message is one line, as far as every type has it.
type Message struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"`
	Response  *Response       `json:"response,omitempty"`
}

// A Response answers the request whose id it names.
type Response struct {
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Response  json.RawMessage `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
	// Pending, in the answer to initialize, are requests that the agent still
	// waits on.
	Pending []Message `json:"pending_permission_requests,omitempty"`
}

// CanUseTool asks whether a call may run. It gains fields with every release,
// so unknown ones are let be; none of them can widen anything.
type CanUseTool struct {
	Subtype     string          `json:"subtype"`
	ToolName    string          `json:"tool_name"`
	Input       json.RawMessage `json:"input"`
	ToolUseID   string          `json:"tool_use_id"`
	AgentID     string          `json:"agent_id,omitempty"` // of a sub-agent
	Description string          `json:"description,omitempty"`
	Suggestions []Permission    `json:"permission_suggestions,omitempty"`
	BlockedPath string          `json:"blocked_path,omitempty"`
	Reason      string          `json:"decision_reason,omitempty"`
}

// A Permission is a change of the agent's own permissions.
type Permission = claudecode.Permission

// SetMode is the change that gives the agent's session a mode.
func SetMode(mode string) Permission {
	return Permission{Type: "setMode", Mode: mode, Destination: "session"}
}

// A Result is the answer to CanUseTool (V6). Allowing always carries the input
// that runs (P5), denying always says why (P4).
type Result struct {
	Behavior           string          `json:"behavior"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	UpdatedPermissions []Permission    `json:"updatedPermissions,omitempty"`
	Message            string          `json:"message,omitempty"`
	Interrupt          bool            `json:"interrupt,omitempty"`
}

// AllowResult lets the call run with exactly this input.
func AllowResult(input json.RawMessage) Result {
	return Result{Behavior: behaviorAllow, UpdatedInput: input}
}

// DenyResult holds the call back. Interrupt ends the agent's turn, and then
// the model does not see the text.
func DenyResult(text string, interrupt bool) Result {
	if text == "" {
		text = "The request was denied."
	}
	return Result{Behavior: behaviorDeny, Message: text, Interrupt: interrupt}
}

// A HookCallback tells of an event that the host asked to hear of.
type HookCallback struct {
	Subtype    string    `json:"subtype"`
	CallbackID string    `json:"callback_id"`
	ToolUseID  string    `json:"tool_use_id"`
	Input      HookInput `json:"input"`
}

// HookInput is what an agent's hooks get.
type HookInput struct {
	SessionID      string `json:"session_id"`
	Cwd            string `json:"cwd"`
	PermissionMode string `json:"permission_mode"`
	Event          string `json:"hook_event_name"`
	AgentID        string `json:"agent_id,omitempty"`
	AgentType      string `json:"agent_type,omitempty"`
	ToolName       string `json:"tool_name"`
	ToolUseID      string `json:"tool_use_id"`
}

// Read reads one line. What two programs could read differently is an error.
func Read(line []byte) (Message, error) {
	var m Message
	if len(line) > MaxMessage {
		return m, fmt.Errorf("a message has %d bytes, the most is %d", len(line), MaxMessage)
	}
	if err := strictjson.UnmarshalLoose(line, &m); err != nil {
		return m, fmt.Errorf("the message can't be read: %w", err)
	}
	if m.Type == "" {
		return m, errors.New("the message has no type")
	}
	return m, nil
}

// Subtype returns what a request asks for.
func (m *Message) Subtype() string {
	var r struct {
		Subtype string `json:"subtype"`
	}
	if json.Unmarshal(m.Request, &r) != nil {
		return ""
	}
	return r.Subtype
}

// CanUseTool reads a request of that subtype. One without an id of its own is
// refused: nobody could say which call was answered.
func (m *Message) CanUseTool() (q CanUseTool, err error) {
	if err := json.Unmarshal(m.Request, &q); err != nil {
		return q, fmt.Errorf("the request can't be read: %w", err)
	}
	switch {
	case m.RequestID == "" || len(m.RequestID) > maxRequestName:
		err = errors.New("the request has no id")
	case q.ToolUseID == "":
		err = errors.New("the request has no id for the call")
	case q.ToolName == "":
		err = errors.New("the request names no tool")
	case len(q.Input) == 0:
		err = errors.New("the request has no input")
	}
	return q, err
}

// NewRequest is a request of the host.
func NewRequest(id string, request any) ([]byte, error) {
	raw, err := strictjson.Marshal(request)
	if err != nil {
		return nil, err
	}
	return strictjson.Marshal(Message{Type: TypeRequest, RequestID: id, Request: raw})
}

// Answer is a response that answers.
func Answer(requestID string, response any) ([]byte, error) {
	raw, err := strictjson.Marshal(response)
	if err != nil {
		return nil, err
	}
	return strictjson.Marshal(Message{Type: TypeResponse, Response: &Response{Subtype: SubSuccess, RequestID: requestID, Response: raw}})
}

// Refuse is a response that says why there is no answer. The agent takes it
// for a denial.
func Refuse(requestID, why string) ([]byte, error) {
	return strictjson.Marshal(Message{Type: TypeResponse, Response: &Response{Subtype: subError, RequestID: requestID, Error: why}})
}
