package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// shown is what of the agent's output a user sees.
type shown struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Parent  *string `json:"parent_tool_use_id"`
	IsError bool    `json:"is_error"`
	Session string  `json:"session_id"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// printer gives the agent's output to the user in the form that was asked for.
type printer struct {
	args   arguments
	stdout io.Writer
	stderr io.Writer
	last   []byte // result, for json
}

func (p *printer) line(s shown, line []byte) {
	switch p.args.output {
	case "stream-json":
		if s.Type != "stream_event" || p.args.partial {
			_, _ = p.stdout.Write(append(line, '\n'))
		}
	case "json":
		if s.Type == "result" {
			p.last = line
		}
	default:
		p.text(s)
	}
}

// text shows what the agent says to its user. It is foreign: whatever a
// terminal would obey is taken out.
func (p *printer) text(s shown) {
	switch {
	case s.Type == "result" && s.IsError:
		fmt.Fprintln(p.stderr, "gatelatch: the agent's turn ended with "+printable(s.Subtype))
	case s.Type != "assistant" || s.Parent != nil:
		return
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(s.Message.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			fmt.Fprintln(p.stdout, printable(b.Text))
		}
	}
}

// end prints what comes at the end.
func (p *printer) end() {
	if p.last != nil {
		_, _ = p.stdout.Write(append(p.last, '\n'))
	}
}

// note tells the user something of ours, unless a program reads along.
func (p *printer) note(format string, args ...any) {
	fmt.Fprintf(p.stderr, "gatelatch: "+format+"\n", args...)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
