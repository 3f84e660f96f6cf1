// Package scriptedmodel is a loopback stand-in for the Anthropic Messages API.
// It lets a test drive a real agent offline: the prompt carries the script, the
// model plays it, and the test asks afterwards what the model got to see.
//
// Answers depend on the request alone, which always holds the whole
// conversation. So retries, resumed sessions, sub-agents and several sessions at
// once need no bookkeeping. What the model remembers, it remembers for the test
// only (see [Model.Results]).
package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Model answers the Messages API from the script in the prompt (see [Prompt]).
// A conversation without a script, such as an agent's request for a title, gets
// "ok". The zero value is ready to use.
type Model struct {
	mu      sync.Mutex
	replies int
	order   []string          // tool_use ids, as first seen
	results map[string]Result // by tool_use id
	strays  []string
	seen    []byte // all requests, one after the other
}

// Result is what the agent told the model about one tool call.
type Result struct {
	ID      string // tool_use_id
	Text    string
	IsError bool
}

// Results are the tool results that the model has been shown so far, each once,
// in the order in which they arrived.
func (m *Model) Results() []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Result, len(m.order))
	for i, id := range m.order {
		out[i] = m.results[id]
	}
	return out
}

// Saw reports whether the model was shown a text anywhere, as JSON writes it.
func (m *Model) Saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Contains(m.seen, []byte(text))
}

// Replies is how often the model was asked for one.
func (m *Model) Replies() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.replies
}

// Strays are the requests that were not for the Messages API. An agent that is
// kept offline makes none.
func (m *Model) Strays() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.strays...)
}

// ServeHTTP implements [http.Handler].
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		m.messages(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		writeJSON(w, http.StatusOK, object{"input_tokens": 10})
	case r.Method == http.MethodHead && r.URL.Path == "/":
		// A connection check; it asks for nothing.
	default:
		m.mu.Lock()
		m.strays = append(m.strays, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		writeError(w, http.StatusNotFound, "not_found_error", "scripted model: no such route")
	}
}

func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent hung up
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	blocks, err := reply(req.Messages)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	m.mu.Lock()
	m.seen = append(m.seen, body...)
	m.mu.Unlock()
	msg := newMessage(m.note(req.Messages), req.Model, blocks)
	if req.Stream {
		msg.stream(w)
		return
	}
	writeJSON(w, http.StatusOK, msg)
}

// note remembers the tool results of a conversation and returns the number of
// the reply to come.
func (m *Model) note(conversation []turnMessage) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil {
		m.results = make(map[string]Result)
	}
	for _, msg := range conversation {
		for _, res := range msg.results() {
			if _, seen := m.results[res.ID]; !seen {
				m.order = append(m.order, res.ID)
			}
			m.results[res.ID] = res
		}
	}
	m.replies++
	return m.replies
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // the agent may have hung up
}

func writeError(w http.ResponseWriter, status int, kind, text string) {
	writeJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": text}})
}

func messageID(n int) string { return fmt.Sprintf("msg_scripted%06d", n) }
