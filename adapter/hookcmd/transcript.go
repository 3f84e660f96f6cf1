package hookcmd

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
)

const transcriptTail = 256 << 10

// lastWords finds the user's prompt and the agent's last words at the end of
// the transcript. It is a help for the reader and nothing else: whatever goes
// wrong, there are none.
func lastWords(path string) (c gatelatch.Context) {
	lines := bytes.Split(tail(path), []byte("\n"))
	for i := len(lines) - 1; i >= 0 && (c.Prompt == "" || c.Said == ""); i-- {
		var l transcriptLine
		if json.Unmarshal(lines[i], &l) != nil || l.IsMeta || l.IsSidechain {
			continue
		}
		switch text := claudecode.Clip(l.text()); {
		case l.Type == "user" && c.Prompt == "":
			c.Prompt = text
		case l.Type == "assistant" && c.Said == "" && c.Prompt == "":
			c.Said = text
		}
	}
	return c
}

type transcriptLine struct {
	Type        string `json:"type"`
	IsMeta      bool   `json:"isMeta"`
	IsSidechain bool   `json:"isSidechain"`
	Message     struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

func (l transcriptLine) text() string {
	var s string
	if json.Unmarshal(l.Message.Content, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func tail(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info.Size() > transcriptTail {
		if _, err := f.Seek(-transcriptTail, io.SeekEnd); err != nil {
			return nil
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, transcriptTail))
	if err != nil {
		return nil
	}
	return raw
}
