package hookcmd

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// errLimit ends a wait before the host's own limit does.
var errLimit = errors.New("nobody decided before the agent's time limit; the request was withdrawn and may be asked again")

// hookInput is what Claude Code sends. It gains fields with every release, so
// unknown ones are let be; none of them can widen anything.
type hookInput struct {
	SessionID      string          `json:"session_id"`
	TranscriptPath string          `json:"transcript_path"`
	Cwd            string          `json:"cwd"`
	PromptID       string          `json:"prompt_id"`
	PermissionMode string          `json:"permission_mode"`
	HookEventName  string          `json:"hook_event_name"`
	AgentID        string          `json:"agent_id"`
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`
	ToolUseID      string          `json:"tool_use_id"`
}

// readClaude reads the hook's input. The event is known even when the rest is
// wrong, as far as it can be read at all.
func readClaude(raw []byte) (in hookInput, err error) {
	if err := strictjson.UnmarshalLoose(raw, &in); err != nil {
		var name struct {
			HookEventName string `json:"hook_event_name"`
		}
		if json.Unmarshal(raw, &name) == nil {
			in = hookInput{HookEventName: name.HookEventName}
		}
		return in, fmt.Errorf("the hook's input can't be read: %w", err)
	}
	switch e := in.event(); {
	case e == unknownEvent:
		return in, fmt.Errorf("the hook does not answer %q events", in.HookEventName)
	case in.SessionID == "":
		return in, errors.New("the hook's input names no session")
	case in.ToolName == "":
		return in, errors.New("the hook's input names no tool")
	case e == preToolUse && in.ToolUseID == "":
		return in, errors.New("the hook's input has no id for the call")
	case e.blocks() && len(in.ToolInput) == 0:
		return in, errors.New("the hook's input has no tool_input")
	}
	return in, nil
}

// event is a hook event of Claude Code, by its own name.
type event string

const (
	unknownEvent      event = ""
	preToolUse        event = "PreToolUse"
	permissionRequest event = "PermissionRequest"
	postToolUse       event = "PostToolUse"
	postToolFailure   event = "PostToolUseFailure"
)

func (in hookInput) event() event {
	switch e := event(in.HookEventName); e {
	case preToolUse, permissionRequest, postToolUse, postToolFailure:
		return e
	default:
		return unknownEvent
	}
}

// blocks reports whether an answer to the event can hold a call back.
func (e event) blocks() bool { return e != postToolUse && e != postToolFailure }

// An Answer is what the hook prints, and its exit code.
type Answer struct {
	Out  []byte
	Code int
	Text string // the same for people
}

type specific map[string]any

func (e event) answer(body specific, text string) Answer {
	body["hookEventName"] = string(e)
	out, err := strictjson.Marshal(map[string]any{"hookSpecificOutput": body})
	if err != nil {
		return Answer{Code: exitBlock, Text: err.Error()}
	}
	return Answer{Out: append(out, '\n'), Text: text}
}

// deny is the denial in the form that the event needs. For an event that is
// not known it is PreToolUse's, and the exit code that blocks as well.
func (e event) deny(text string) Answer {
	switch e {
	case permissionRequest:
		return e.answer(specific{"decision": specific{"behavior": "deny", "message": text}}, text)
	case postToolUse, postToolFailure:
		return e.silent()
	case preToolUse:
		return e.answer(specific{"permissionDecision": "deny", "permissionDecisionReason": text}, text)
	default:
		a := preToolUse.deny(text)
		a.Code = exitBlock
		return a
	}
}

// interrupt is a denial that ends the agent's turn. PreToolUse has none that
// would not let the call run first, so the agent is told.
func (e event) interrupt(text string) Answer {
	if e == permissionRequest {
		return e.answer(specific{"decision": specific{"behavior": "deny", "message": text, "interrupt": true}}, text)
	}
	return e.deny(text + "\nStop here and wait for the user.")
}

// allow always carries the input: what runs is what was decided on.
func (e event) allow(input json.RawMessage, text string) Answer {
	if e == permissionRequest {
		return e.answer(specific{"decision": specific{"behavior": "allow", "updatedInput": input}}, text)
	}
	return e.answer(specific{"permissionDecision": "allow", "permissionDecisionReason": text, "updatedInput": input}, text)
}

// ask makes the host show its own dialog, in every mode.
func (e event) ask(text string) Answer {
	return e.answer(specific{"permissionDecision": "ask", "permissionDecisionReason": text}, text)
}

// leave has the agent's host decide. That it is asked holds in every mode; an
// agent without one asks its user, or denies.
func (e event) leave() Answer {
	if e == preToolUse {
		return e.ask("gatelatch run decides")
	}
	return e.silent()
}

func (e event) silent() Answer { return Answer{Out: []byte("{}\n")} }
