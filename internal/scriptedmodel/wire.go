package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type object = map[string]any

// request is the part of a Messages API request that the model reads.
type request struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []turnMessage `json:"messages"`
}

// turnMessage is one message of a conversation. Its content is a string or a
// list of blocks.
type turnMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// contentBlock is a block in either direction.
type contentBlock struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitempty"`

	// tool_use
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	// tool_result
	ToolUseID string          `json:"tool_use_id,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
}

// blocksOf reads content in both of its forms.
func blocksOf(content json.RawMessage) []contentBlock {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []contentBlock{{Type: "text", Text: &text}}
	}
	var blocks []contentBlock
	if json.Unmarshal(content, &blocks) != nil {
		return nil // a form the model need not know, such as an image
	}
	return blocks
}

func textsOf(content json.RawMessage) (texts []string) {
	for _, b := range blocksOf(content) {
		if b.Type == "text" && b.Text != nil {
			texts = append(texts, *b.Text)
		}
	}
	return texts
}

func (m turnMessage) texts() []string { return textsOf(m.Content) }

func (m turnMessage) results() (out []Result) {
	for _, b := range blocksOf(m.Content) {
		if b.Type == "tool_result" {
			text := strings.Join(textsOf(b.Content), "\n")
			out = append(out, Result{ID: b.ToolUseID, Text: text, IsError: b.IsError})
		}
	}
	return out
}

// message is the model's answer.
type message struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      []contentBlock `json:"content"`
	StopReason   *string        `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        object         `json:"usage"`
}

func newMessage(n int, model string, content []contentBlock) message {
	stop := "end_turn"
	for _, b := range content {
		if b.Type == "tool_use" {
			stop = "tool_use"
		}
	}
	return message{
		ID: messageID(n), Type: "message", Role: "assistant", Model: model,
		Content: content, StopReason: &stop,
		Usage: object{"input_tokens": 10, "output_tokens": 5},
	}
}

// stream sends the message as server-sent events, one delta for each block.
func (m message) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	start := m
	start.Content, start.StopReason = []contentBlock{}, nil
	sendEvent(w, "message_start", object{"message": start})
	for i, b := range m.Content {
		open, delta := b.streamed()
		sendEvent(w, "content_block_start", object{"index": i, "content_block": open})
		sendEvent(w, "content_block_delta", object{"index": i, "delta": delta})
		sendEvent(w, "content_block_stop", object{"index": i})
	}
	sendEvent(w, "message_delta", object{
		"delta": object{"stop_reason": m.StopReason, "stop_sequence": nil},
		"usage": object{"output_tokens": 5},
	})
	sendEvent(w, "message_stop", object{})
}

// streamed splits a block into what its start announces and what its delta adds.
func (b contentBlock) streamed() (open, delta object) {
	if b.Type == "tool_use" {
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": object{}},
			object{"type": "input_json_delta", "partial_json": string(b.Input)}
	}
	return object{"type": "text", "text": ""}, object{"type": "text_delta", "text": *b.Text}
}

func sendEvent(w http.ResponseWriter, kind string, v object) {
	v["type"] = kind
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types go in
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	_ = http.NewResponseController(w).Flush() // the agent may have hung up
}
