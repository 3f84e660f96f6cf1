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
// that a tool's own card does not show stand in a block behind it. What would
// change a file is compared with it, where files say what is in it.
func Call(c *gatelatch.Call, files Files) Card {
	in := readInput(c.Input)
	card := draw(c, in, files)
	if n := c.Verdict.Needs; n != nil {
		card.More = n.More
		if card.Touches == nil {
			card.Touches = touches(n, nil)
		}
	}
	return card
}

func draw(c *gatelatch.Call, in *input, files Files) Card {
	if in == nil {
		return other(c, nil)
	}
	in.files = files
	own := drawers(c.Tool)
	if own == nil {
		return other(c, in)
	}
	card, ok := own(c, in)
	if !ok {
		return other(c, in)
	}
	card.Blocks = append(card.Blocks, in.rest()...)
	return card
}

// other shows a call of any tool by its input, that of an MCP tool as a form.
func other(c *gatelatch.Call, in *input) Card {
	card := Card{
		Icon: icon(c), Says: "Uses " + name(c.Tool), Say: Say{Key: "uses", What: name(c.Tool)},
		Subject: OneLine(string(compact(c.Input))), Blocks: []Block{jsonBlock("", c.Input)},
	}
	if server, tool, ok := mcp(c.Tool); ok {
		card.Say = Say{Key: "calls", What: name(tool), On: name(server)}
		card.Says = "Calls " + card.Say.What + " on " + card.Say.On
		if in != nil && len(in.fields) > 0 {
			card.Blocks = []Block{form(in, len(c.Input))}
		}
	}
	return card
}

// form shows each field of an input by its name.
func form(in *input, size int) Block {
	b := Block{Kind: "form", Bytes: size}
	for _, f := range in.fields {
		field := Field{Name: OneLine(f.Name), Kind: "json"}
		switch f.Value[0] {
		case '"':
			var text string
			if json.Unmarshal(f.Value, &text) == nil {
				field.Kind, field.Text = "text", Escape(text)
			}
		case 't', 'f', 'n':
			field.Kind = "word"
		case '{', '[':
		default:
			field.Kind = "number"
		}
		if field.Kind != "text" {
			field.Text = jsonBlock("", f.Value).Segments[0].Text
		}
		b.Fields = append(b.Fields, field)
	}
	return b
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
func name(s string) string { return named(OneLine(s)) }

// named is name for what is escaped already.
func named(escaped string) string {
	simple := func(r rune) bool {
		return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+@/~:-", r))
	}
	if escaped != "" && strings.IndexFunc(escaped, func(r rune) bool { return !simple(r) }) < 0 {
		return escaped
	}
	return "“" + escaped + "”"
}

// fileName shows the last element of a path.
func fileName(path string) string { return lastOf(path, name) }

func lastOf(path string, show func(string) string) string {
	if base := path[strings.LastIndexByte(path, '/')+1:]; base != "" {
		return show(base)
	}
	return show(path)
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
