package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// Icons of a card.
const (
	iconTerm = "term"
	iconFile = "file"
	iconEye  = "eye"
	iconPlug = "plug"
	iconAsk  = "ask"
	iconPlan = "plan"
)

// A drawer makes the card of one tool. It is not ok if the input does not have
// the shape that the tool expects; then it is shown as it came.
type drawer func(c *gatelatch.Call, in *input) (card Card, ok bool)

func drawers(tool string) drawer {
	switch tool {
	case "Bash":
		return bash
	case "Edit":
		return edit
	case "MultiEdit":
		return multiEdit
	case "Write":
		return write
	case "NotebookEdit":
		return notebook
	case "Read":
		return read
	case "AskUserQuestion":
		return questions
	case "ExitPlanMode":
		return plan
	}
	return nil
}

// Call returns the card of a call. Nothing of the input is left out: fields
// that a tool's own card does not show stand in a block behind it.
func Call(c *gatelatch.Call) Card {
	draw, in := drawers(c.Tool), readInput(c.Input)
	if draw == nil || in == nil {
		return other(c)
	}
	card, ok := draw(c, in)
	if !ok {
		return other(c)
	}
	card.Blocks = append(card.Blocks, in.rest()...)
	return card
}

// other shows a call of any tool by its input.
func other(c *gatelatch.Call) Card {
	says := "Uses " + name(c.Tool)
	if server, tool, ok := mcp(c.Tool); ok {
		says = "Calls " + name(tool) + " on " + name(server)
	}
	return Card{Icon: icon(c), Says: says, Subject: OneLine(string(compact(c.Input))), Blocks: []Block{jsonBlock("", c.Input)}}
}

func icon(c *gatelatch.Call) string {
	switch c.Kind {
	case gatelatch.Question:
		return iconAsk
	case gatelatch.Plan:
		return iconPlan
	default:
	}
	switch c.Tool {
	case "Bash":
		return iconTerm
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		return iconFile
	case "Read", "Glob", "Grep", "LS":
		return iconEye
	}
	return iconPlug
}

// mcp splits mcp__server__tool.
func mcp(tool string) (server, name string, ok bool) {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return "", "", false
	}
	server, name, ok = strings.Cut(rest, "__")
	return server, name, ok && server != "" && name != ""
}

// name shows a name in a sentence of ours, in quotes if it could be taken for
// a part of it.
func name(s string) string {
	simple := func(r rune) bool {
		return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+@/~:-", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !simple(r) }) < 0 {
		return s
	}
	return "“" + OneLine(s) + "”"
}

// fileName shows the last element of a path.
func fileName(path string) string {
	if base := path[strings.LastIndexByte(path, '/')+1:]; base != "" {
		return name(base)
	}
	return name(path)
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func textBlock(title, text string) Block {
	return Block{Kind: "content", Title: title, Segments: []Segment{{Text: Escape(text)}}, Bytes: len(text)}
}

// jsonBlock shows JSON with line breaks and every other byte as it came. What
// is no JSON is shown as text.
func jsonBlock(title string, raw []byte) Block {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return textBlock(title, string(raw))
	}
	return Block{Kind: "json", Title: title, Segments: []Segment{{Text: Escape(b.String())}}, Bytes: len(raw)}
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// firstLine returns the first line that has something in it.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
