package hookcmd

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// hookInput is what Claude Code sends. It gains fields with every release, so
// unknown ones are let be; none of them can widen anything.
type hookInput struct {
	SessionID      string          `json:"session_id"`
	TranscriptPath string          `json:"transcript_path"`
	Cwd            string          `json:"cwd"`
	PromptID       string          `json:"prompt_id"`
	PermissionMode string          `json:"permission_mode"`
	HookEventName  string          `json:"hook_event_name"`
	AgentID        string          `json:"agent_id"`   // of a sub-agent
	AgentType      string          `json:"agent_type"` // and what it is
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`
	ToolUseID      string          `json:"tool_use_id"`
	// Suggestions are rules that the dialog would offer, in PermissionRequest.
	Suggestions json.RawMessage `json:"permission_suggestions"`
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
	case in.ToolName == "" && (e.blocks() || e.reports()):
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
	permissionDenied  event = "PermissionDenied" // by the host's own mode
	userPromptSubmit  event = "UserPromptSubmit"
	stop              event = "Stop"
	stopFailure       event = "StopFailure"
	subagentStart     event = "SubagentStart"
	subagentStop      event = "SubagentStop"
	sessionStart      event = "SessionStart"
	sessionEnd        event = "SessionEnd"
)

func (in hookInput) event() event {
	switch e := event(in.HookEventName); e {
	case preToolUse, permissionRequest, subagentStart, sessionStart:
		return e
	default:
		if e.reports() || e.ends() {
			return e
		}
		return unknownEvent
	}
}

// blocks reports whether an answer to the event can hold a call back. One that
// is not known may.
func (e event) blocks() bool {
	return e == preToolUse || e == permissionRequest || e == unknownEvent
}

// reports reports whether the event says how a call ended.
func (e event) reports() bool {
	return e == postToolUse || e == postToolFailure || e == permissionDenied
}

// ends reports whether nobody waits any more after the event for what was asked
// before.
func (e event) ends() bool {
	switch e {
	case userPromptSubmit, stop, stopFailure, subagentStop, sessionEnd:
		return true
	default:
		return false
	}
}

// An Answer is what the hook prints, and its exit code.
type Answer struct {
	Out  []byte
	Code int
	Text string // the same for people
}

type specific map[string]any

func (e event) answer(body specific, text string) Answer {
	return e.answerWith(map[string]any{}, body, text)
}

// answerWith has fields beside what is specific to the event.
func (e event) answerWith(fields map[string]any, body specific, text string) Answer {
	body["hookEventName"] = string(e)
	fields["hookSpecificOutput"] = body
	out, err := strictjson.Marshal(fields)
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
	case preToolUse:
		return e.answer(specific{"permissionDecision": "deny", "permissionDecisionReason": text}, text)
	default:
		if !e.blocks() {
			return e.silent()
		}
		a := preToolUse.deny(text)
		a.Code = exitBlock
		return a
	}
}

// interrupt is a denial that ends the agent's turn. For PreToolUse only the two
// together do: "continue": false alone lets the call run first.
func (e event) interrupt(text string) Answer {
	if e == permissionRequest {
		return e.answer(specific{"decision": specific{"behavior": "deny", "message": text, "interrupt": true}}, text)
	}
	return e.answerWith(map[string]any{"continue": false, "stopReason": text},
		specific{"permissionDecision": "deny", "permissionDecisionReason": text}, text)
}

// allowance is what goes with an allow.
type allowance struct {
	input json.RawMessage
	mode  string // that the host goes on in, if a person chose one
	tell  string // what the agent should know
}

// allow always carries the input: what runs is what was decided on.
func (e event) allow(a allowance, text string) Answer {
	if e == permissionRequest {
		d := specific{"behavior": "allow", "updatedInput": a.input}
		if a.mode != "" {
			d["updatedPermissions"] = []specific{{"type": "setMode", "mode": a.mode, "destination": "session"}}
		}
		return e.answer(specific{"decision": d}, text)
	}
	body := specific{"permissionDecision": "allow", "permissionDecisionReason": text, "updatedInput": a.input}
	if a.tell != "" {
		body["additionalContext"] = a.tell
	}
	return e.answer(body, text)
}

// deferred ends a headless host until it is resumed.
func (e event) deferred() Answer {
	return e.answer(specific{"permissionDecision": "defer"}, "deferred")
}

// tell gives the agent something to know after the event.
func (e event) tell(text string) Answer {
	return e.answer(specific{"additionalContext": text}, text)
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
