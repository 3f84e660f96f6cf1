package control

import (
	"encoding/json"
	"strings"

	"github.com/gatelatch/gatelatch/adapter/claudecode"
)

// heard is what the host reads along in the agent's output.
type heard struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	AgentID   string `json:"agent_id"`
	Parent    string `json:"parent_tool_use_id"`
	Cwd       string `json:"cwd"`
	Mode      string `json:"permissionMode"`

	Tools   json.RawMessage `json:"tools"` // a list of names, in system/init
	Message struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Event struct {
		Type    string `json:"type"`
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
	} `json:"event"`

	TaskID       string `json:"task_id"`
	ToolUseID    string `json:"tool_use_id"`
	Description  string `json:"description"`
	SubagentType string `json:"subagent_type"`
	Tasks        []struct {
		ID   string `json:"task_id"`
		Type string `json:"task_type"`
	} `json:"tasks"`
}

// block is a part of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
}

func (l *heard) blocks() []block {
	var out []block
	if json.Unmarshal(l.Message.Content, &out) != nil {
		return nil // a text alone
	}
	return out
}

// overhear learns from the agent's output what its requests do not say. What
// can't be read is left out: then a call is asked about alone.
func (h *Host) overhear(line []byte) {
	var l heard
	if json.Unmarshal(line, &l) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch l.Type {
	case "system":
		h.system(&l)
	case "stream_event":
		h.streamed(&l)
	case "assistant":
		h.said(&l)
	case "user":
		for _, b := range l.blocks() {
			if b.Type == "tool_result" {
				h.ended(key(l.AgentID, b.ToolUseID), !b.IsError)
			}
		}
	case "result":
		h.wholeMessage()
		h.turnEnded()
	}
}

func (h *Host) system(l *heard) {
	switch l.Subtype {
	case "init":
		h.session.ID, h.session.Mode, h.dir = l.SessionID, l.Mode, l.Cwd
		if h.session.Project == "" {
			h.session.Project = l.Cwd
		}
		var tools []string
		if json.Unmarshal(l.Tools, &tools) == nil {
			h.tools = map[string]bool{}
			for _, t := range tools {
				h.tools[t] = true
			}
		}
	case "status":
		if l.Mode != "" {
			h.session.Mode = l.Mode
		}
	case "task_started":
		h.started(l)
	case "background_tasks_changed":
		h.running = 0
		for _, t := range l.Tasks {
			if t.Type == "local_agent" {
				h.running++
			}
		}
	}
}

// task is a sub-agent.
type task struct {
	kind, about string
	parent      string // the agent that started it, "" for the first one
}

// maxTasks is how many sub-agents are known by name.
const maxTasks = 1000

func (h *Host) started(l *heard) {
	if len(h.tasks) >= maxTasks {
		clear(h.tasks)
	}
	t := task{kind: l.SubagentType, about: l.Description}
	for _, c := range h.calls {
		if c.id == l.ToolUseID {
			t.parent = c.agent
		}
	}
	h.tasks[l.TaskID] = t
}

// lineage says who a sub-agent is and who started it, the nearest last.
func (h *Host) lineage(agent string) string {
	const deepest = 8
	var names []string
	for ; agent != "" && len(names) < deepest; agent = h.tasks[agent].parent {
		t, known := h.tasks[agent]
		if !known {
			names = append([]string{"sub-agent " + claudecode.Clip(agent)}, names...)
			break
		}
		name := t.kind
		if t.about != "" {
			name += ": " + t.about
		}
		names = append([]string{claudecode.Clip(name)}, names...)
	}
	return claudecode.Clip(strings.Join(names, " › "))
}

// streamed hears when a message begins and when it is whole. Only those of the
// first agent are streamed.
func (h *Host) streamed(l *heard) {
	if l.Parent != "" {
		return
	}
	switch l.Event.Type {
	case "message_start":
		h.wholeMessage()
		h.streaming = h.messageOf(l.Event.Message.ID)
		h.streaming.whole = make(chan struct{})
	case "message_stop":
		h.wholeMessage()
	}
}

func (h *Host) wholeMessage() {
	if m := h.streaming; m != nil {
		close(m.whole)
		h.streaming = nil
		if len(m.calls) == 0 && m.groups == 0 {
			delete(h.messages, m.id)
		}
	}
}

func (h *Host) messageOf(id string) *message {
	m := h.messages[id]
	if m == nil {
		m = &message{id: id}
		h.messages[id] = m
	}
	return m
}

// said notes what the agent says, and the calls in it.
func (h *Host) said(l *heard) {
	if l.Message.ID == "" {
		return
	}
	m := h.messageOf(l.Message.ID)
	for _, b := range l.blocks() {
		switch b.Type {
		case "text":
			m.said = b.Text
		case "tool_use":
			k := key(l.AgentID, b.ID)
			if b.ID == "" || b.Name == "" || len(b.Input) == 0 || h.calls[k] != nil {
				continue
			}
			c := &call{ref: b.ID, id: b.ID, agent: l.AgentID, tool: b.Name, input: b.Input, claim: claudecode.Claim(b.Input), message: m}
			h.calls[k] = c
			m.calls = append(m.calls, c)
		}
	}
	if len(m.calls) == 0 && m.groups == 0 && m.whole == nil {
		delete(h.messages, m.id)
	}
}

// Running is how many sub-agents work in the background.
func (h *Host) Running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running
}
