package control

import "encoding/json"

// Hook events that the host asks to hear of.
const (
	preToolUse      = "PreToolUse"
	postToolUse     = "PostToolUse"
	postToolFailure = "PostToolUseFailure"
)

// callbackID is the name of the host's own callbacks. None allows anything.
const callbackID = "gatelatch"

// hookRule registers callbacks for an event.
type hookRule struct {
	Matcher     string   `json:"matcher"`
	CallbackIDs []string `json:"hookCallbackIds"`
	Timeout     int      `json:"timeout"`
	OnFailure   string   `json:"onFailure,omitempty"`
}

// hooks are what the agent shall tell. PreToolUse comes for every call, and its
// "ask" holds in every mode: with it nothing gets by. No PermissionRequest: its
// timeout would deny the request that waits beside it.
func (h *Host) hooks() map[string][]hookRule {
	rule := hookRule{Matcher: "*", CallbackIDs: []string{callbackID}, Timeout: 60}
	out := map[string][]hookRule{postToolUse: {rule}, postToolFailure: {rule}}
	if h.opt.Gate {
		rule.OnFailure = "block"
		out[preToolUse] = []hookRule{rule}
	}
	return out
}

// hook answers a callback. Before a call it is always "ask" (V5): the request
// that follows has the input as it would run, and waits for as long as it takes.
func (h *Host) hook(m Message) {
	var q HookCallback
	if err := json.Unmarshal(m.Request, &q); err != nil {
		h.refuse(m.RequestID, "the callback can't be read")
		return
	}
	h.mu.Lock()
	if h.session.ID == "" {
		h.session.ID = q.Input.SessionID
	}
	c := h.calls[key(q.Input.AgentID, q.Input.ToolUseID)]
	if c != nil && q.Input.Event == preToolUse {
		c.now = q.Input.Cwd
	}
	h.mu.Unlock()
	switch q.Input.Event {
	case preToolUse:
		h.answer(m.RequestID, specific(preToolUse, "permissionDecision", "ask", "permissionDecisionReason", "Gatelatch decides"))
	case postToolUse, postToolFailure:
		h.work.Go(func() { h.afterCall(m.RequestID, q.Input.Event, c) })
	default:
		h.answer(m.RequestID, struct{}{})
	}
}

// afterCall lets the agent go on once the result is durable (D6), and tells the
// model if the call ran otherwise than it wanted.
func (h *Host) afterCall(requestID, event string, c *call) {
	if c == nil {
		h.answer(requestID, struct{}{})
		return
	}
	h.reportNow(c, event == postToolUse)
	h.mu.Lock()
	told := c.told
	h.mu.Unlock()
	if told == "" {
		h.answer(requestID, struct{}{})
		return
	}
	h.answer(requestID, specific(event, "additionalContext", told))
}

func specific(event string, pairs ...string) any {
	out := map[string]string{"hookEventName": event}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return map[string]any{"hookSpecificOutput": out}
}
