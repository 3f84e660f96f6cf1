package scriptedmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// marker stands before the script in a prompt; the script is a JSON object.
const marker = "@inline:"

// Turn is one message of the model: text, or tool calls, or both.
type Turn struct {
	Content []Block `json:"content"`
}

// Block is a text or, when Tool is set, a tool call.
type Block struct {
	Text  string `json:"text,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Input any    `json:"input,omitempty"`
}

// Say is a turn of text alone. It ends the agent's turn.
func Say(text string) Turn { return Turn{Content: []Block{{Text: text}}} }

// Bash is a turn that calls the Bash tool once.
func Bash(command string) Turn {
	return Call("Bash", map[string]any{"command": command, "description": "Scripted command"})
}

// Call is a turn that calls one tool.
func Call(tool string, input map[string]any) Turn {
	return Turn{Content: []Block{{Tool: tool, Input: input}}}
}

// Prompt is a prompt that makes the model take these turns, one after the other.
// After the last it says "script finished".
func Prompt(turns ...Turn) string {
	b, err := json.Marshal(script{Turns: turns})
	if err != nil {
		panic(err) // a test gave an input that JSON can't hold
	}
	return "go " + marker + string(b)
}

// PromptWith is a Prompt whose inputs may say ${NAME} for what a pattern's first
// group matches in the rest of the conversation: something only the agent knows.
func PromptWith(captures map[string]string, turns ...Turn) string {
	b, err := json.Marshal(script{Turns: turns, Captures: captures})
	if err != nil {
		panic(err) // a test gave an input that JSON can't hold
	}
	return "go " + marker + string(b)
}

type script struct {
	Turns    []Turn            `json:"turns"`
	Captures map[string]string `json:"captures,omitempty"`
}

// fill puts what was captured into the inputs.
func (s script) fill(blocks []contentBlock, conversation []turnMessage) ([]contentBlock, error) {
	for name, pattern := range s.Captures {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("scripted model: %w", err)
		}
		for _, m := range conversation {
			for _, text := range m.texts() {
				found := re.FindStringSubmatch(text)
				if len(found) < 2 || strings.Contains(text, marker) {
					continue
				}
				value, err := json.Marshal(found[1])
				if err != nil {
					return nil, err
				}
				for i := range blocks {
					blocks[i].Input = bytes.ReplaceAll(blocks[i].Input, []byte("${"+name+"}"), bytes.Trim(value, `"`))
				}
			}
		}
	}
	return blocks, nil
}

// reply chooses the model's next message: the newest script counts, and its turn
// is the number of messages that the model has said since.
func reply(conversation []turnMessage) ([]contentBlock, error) {
	for i := len(conversation) - 1; i >= 0; i-- {
		if conversation[i].Role != "user" {
			continue
		}
		raw, found := findScript(conversation[i])
		if !found {
			continue
		}
		var s script
		// A decoder, not Unmarshal: agents may append text to the prompt.
		if err := json.NewDecoder(strings.NewReader(raw)).Decode(&s); err != nil {
			return nil, fmt.Errorf("scripted model: bad script: %w", err)
		}
		n := said(conversation[i+1:])
		return s.fill(s.turn(n).blocks(callPrefix(raw, i, n)), conversation)
	}
	return Say("ok").blocks(""), nil
}

func findScript(m turnMessage) (string, bool) {
	for _, text := range m.texts() {
		if _, raw, found := strings.Cut(text, marker); found {
			return raw, true
		}
	}
	return "", false
}

func said(conversation []turnMessage) (n int) {
	for _, m := range conversation {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

func (s script) turn(n int) Turn {
	if n < len(s.Turns) {
		return s.Turns[n]
	}
	return Say("script finished")
}

// callPrefix makes the ids of tool calls the same when a request is repeated, and
// different when the same script is played again later in a conversation.
func callPrefix(script string, at, turn int) string {
	sum := sha256.Sum256([]byte(script))
	return fmt.Sprintf("toolu_scripted%s_%d_%d", hex.EncodeToString(sum[:4]), at, turn)
}

func (t Turn) blocks(prefix string) []contentBlock {
	out := make([]contentBlock, 0, len(t.Content))
	for i, b := range t.Content {
		if b.Tool == "" {
			out = append(out, contentBlock{Type: "text", Text: new(b.Text)})
			continue
		}
		input, err := json.Marshal(b.Input)
		if err != nil || b.Input == nil {
			input = []byte("{}")
		}
		out = append(out, contentBlock{Type: "tool_use", ID: fmt.Sprintf("%s_%d", prefix, i), Name: b.Tool, Input: input})
	}
	return out
}
