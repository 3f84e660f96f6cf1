package render

import (
	"encoding/json"
	"strings"
)

// nearby is how many lines around a replaced text are shown, if it is known
// where that stands.
const nearby = 3

// inFile shows the replacement of a text, in its place if there is just one.
func inFile(f *File, path, before, after string, every bool) Block {
	b := diffBlock(OneLine(path), before, after)
	switch {
	case f == nil:
		return b
	case f.Missing && before == "":
		b.Note = "new"
	case f.Missing:
		b.Note = "gone"
	default:
		switch n := strings.Count(f.Text, before); {
		case before == "" || n == 0:
			b.Note = "changed" // the text is not in there
		case n > 1 && every:
			b.Note, b.Places = "every", n
		case n > 1:
			b.Note, b.Places = "many", n
		default:
			return placed(OneLine(path), f.Text, strings.Index(f.Text, before), before, after)
		}
	}
	return b
}

// placed shows a replacement with the lines around it, by the file's numbers.
func placed(title, text string, at int, before, after string) Block {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[at+len(before):], '\n'); i >= 0 {
		end = at + len(before) + i
	}
	head, tail := text[:start], strings.TrimPrefix(text[end:], "\n")
	above := lastLines(head, nearby)
	first := strings.Count(head[:len(head)-len(above)], "\n")
	d := differ{before: first, after: first}
	d.keep(above)
	d.compare(text[start:end]+"\n", text[start:at]+after+text[at+len(before):end]+"\n")
	d.keep(firstLines(tail, nearby))
	return Block{Kind: "diff", Title: title, Lines: d.lines, Added: d.added, Removed: d.removed, Bytes: len(before) + len(after), Note: "file"}
}

func lastLines(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		at = strings.LastIndexByte(s[:at-1], '\n') + 1
	}
	return s[at:]
}

func firstLines(s string, n int) string {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}

// overFile shows a text that replaces a whole file.
func overFile(f *File, path, content string) Block {
	b := textBlock(OneLine(path), content)
	switch {
	case f == nil:
		return b
	case f.Missing:
		b.Note = "new"
		return b
	}
	b = diffBlock(OneLine(path), f.Text, content)
	b.Bytes, b.Note = len(content), "file"
	return b
}

// overCell shows a text that replaces one cell of a notebook.
func overCell(f *File, path, id, source string) Block {
	var notebook struct {
		Cells []struct {
			ID     json.RawMessage `json:"id"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if f == nil || f.Missing || id == "" || json.Unmarshal([]byte(f.Text), &notebook) != nil {
		return textBlock(OneLine(path), source)
	}
	for _, c := range notebook.Cells {
		if old, ok := cellText(c.Source); ok && string(c.ID) == id {
			b := diffBlock(OneLine(path), old, source)
			b.Bytes, b.Note = len(source), "cell"
			return b
		}
	}
	return textBlock(OneLine(path), source)
}

// cellText reads a text that may be a list of its lines.
func cellText(raw json.RawMessage) (string, bool) {
	var lines []string
	if json.Unmarshal(raw, &lines) == nil {
		return strings.Join(lines, ""), true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}
