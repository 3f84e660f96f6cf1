package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const file = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"

func with(text string) Files { return func(string) *File { return &File{Text: text} } }

// lines writes a diff as people read it.
func lines(b Block) string {
	var out []string
	for _, l := range b.Lines {
		out = append(out, l.Op+l.Text)
	}
	return strings.Join(out, "|")
}

// P9: an edit is shown where it stands in the file, by the file's line numbers.
func TestEditInItsFile(t *testing.T) {
	t.Parallel()
	c := Call(call("Edit", `{"file_path":"/p/a","old_string":"ive\nsix","new_string":"IVE\nsix"}`), with(file))
	b := c.Blocks[0]
	if got, want := lines(b), " two| three| four|-five|+fIVE| six| seven| eight| nine"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if first := b.Lines[0]; b.Note != "file" || first.Old != 2 || first.New != 2 || b.Added != 1 || b.Removed != 1 {
		t.Errorf("got note %q, first line %+v, +%d -%d", b.Note, first, b.Added, b.Removed)
	}
}

func TestWhatAnEditFinds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		input string
		files Files
		note  string
		kind  string
	}{
		"nothing known":    {`{"file_path":"/p/a","old_string":"x","new_string":"y"}`, nil, "", "diff"},
		"not in there":     {`{"file_path":"/p/a","old_string":"x!","new_string":"y"}`, with(file), "changed", "diff"},
		"in several":       {`{"file_path":"/p/a","old_string":"e","new_string":"y"}`, with(file), "many", "diff"},
		"in every":         {`{"file_path":"/p/a","old_string":"e","new_string":"y","replace_all":true}`, with(file), "every", "diff"},
		"no file any more": {`{"file_path":"/p/a","old_string":"e","new_string":"y"}`, func(string) *File { return &File{Missing: true} }, "gone", "diff"},
		"a new file":       {`{"file_path":"/p/a","old_string":"","new_string":"y"}`, func(string) *File { return &File{Missing: true} }, "new", "diff"},
	} {
		if b := Call(call("Edit", tt.input), tt.files).Blocks[0]; b.Note != tt.note || b.Kind != tt.kind {
			t.Errorf("%s: got %s %q", name, b.Kind, b.Note)
		}
	}
}

func TestWriteOverAFile(t *testing.T) {
	t.Parallel()
	b := Call(call("Write", `{"file_path":"/p/a","content":"one\n2\n"}`), with("one\ntwo\n")).Blocks[0]
	if got := lines(b); b.Kind != "diff" || b.Note != "file" || got != " one|-two|+2| " {
		t.Errorf("got %s %q %s", b.Kind, b.Note, got)
	}
	b = Call(call("Write", `{"file_path":"/p/a","content":"x"}`), func(string) *File { return &File{Missing: true} }).Blocks[0]
	if b.Kind != "content" || b.Note != "new" {
		t.Errorf("a new file: got %s %q", b.Kind, b.Note)
	}
}

func TestNotebookCell(t *testing.T) {
	t.Parallel()
	book := with(`{"cells":[{"id":"a","source":"x"},{"id":"b","source":["1\n","2"]}]}`)
	b := Call(call("NotebookEdit", `{"notebook_path":"/p/n.ipynb","cell_id":"b","new_source":"1\n3"}`), book).Blocks[0]
	if got := lines(b); b.Kind != "diff" || got != " 1|-2|+3" {
		t.Errorf("got %s %s", b.Kind, got)
	}
	b = Call(call("NotebookEdit", `{"notebook_path":"/p/n.ipynb","cell_id":"z","new_source":"1"}`), book).Blocks[0]
	if b.Kind != "content" {
		t.Errorf("another cell: got %s", b.Kind)
	}
}

func TestPartsOfACommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npm ci && rm -rf dist > log; ls": "1:prog npm|1:op  |1:word ci|2:op  && |2:prog rm|2:op  |2:opt -rf|2:op  |2:word dist|2:op  > log|3:op ; |3:prog ls",
		"ls 'x":                           "0: ls 'x",
		"ls  ":                            "1:prog ls|1:op ⟨·×2⟩",
	} {
		var got []string
		all := ""
		for _, s := range Call(call("Bash", `{"command":`+quote(t, command)+`}`), nil).Blocks[0].Segments {
			got = append(got, string(rune('0'+s.Part))+":"+s.Role+" "+s.Text)
			all += s.Text
		}
		if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
		if back, err := Unescape(all); err != nil || back != command {
			t.Errorf("%s: the parts are %q together", command, back)
		}
	}
}
