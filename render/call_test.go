package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gatelatch/gatelatch"
)

var update = flag.Bool("update", false, "write testdata anew")

func call(tool, input string) *gatelatch.Call {
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: tool, Input: []byte(input)}
}

func says(t *testing.T, card Card, icon, says, subject string, kinds ...string) {
	t.Helper()
	var got []string
	for _, b := range card.Blocks {
		got = append(got, b.Kind)
	}
	if card.Icon != icon || card.Says != says || card.Subject != subject || !cmp.Equal(got, kinds) {
		t.Errorf("got %s %q %q %v, want %s %q %q %v", card.Icon, card.Says, card.Subject, got, icon, says, subject, kinds)
	}
}

func TestCards(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tool, input         string
		icon, says, subject string
		kinds               []string
	}{
		"Bash":                     {"Bash", `{"command":"touch x"}`, "term", "Runs “touch x”", "touch x", []string{"command"}},
		"Bash by path":             {"Bash", `{"command":"./ls"}`, "term", "Runs ./ls", "./ls", []string{"command"}},
		"Bash, several":            {"Bash", `{"command":"a; b | c"}`, "term", "Runs 3 commands", "a; b | c", []string{"command"}},
		"Bash, nested":             {"Bash", `{"command":"sh -c 'rm x; rm y'"}`, "term", "Runs sh", "sh -c 'rm x; rm y'", []string{"command"}},
		"Bash, unreadable":         {"Bash", `{"command":"ls 'x"}`, "term", "Runs a script that can't be read", "ls 'x", []string{"command"}},
		"Bash, computed":           {"Bash", `{"command":"$x y"}`, "term", "Runs one command", "$x y", []string{"command"}},
		"Bash, a name like words":  {"Bash", `{"command":"'only reads a file'"}`, "term", "Runs one command", "'only reads a file'", []string{"command"}},
		"Bash, no command":         {"Bash", `{"command":"> f"}`, "term", "Runs a script without a command", "> f", []string{"command"}},
		"Bash, lines":              {"Bash", "{\"command\":\"a\\nb \"}", "term", "Runs 2 commands", "a⟨LF⟩b⟨·×1⟩", []string{"command"}},
		"Bash with more":           {"Bash", `{"command":"a","timeout":5,"run_in_background":true}`, "term", "Runs a", "a", []string{"command", "json"}},
		"Bash without its shape":   {"Bash", `{"command":["a"]}`, "term", "Uses Bash", `{"command":["a"]}`, []string{"json"}},
		"Bash said twice":          {"Bash", `{"command":"a","COMMAND":"b"}`, "term", "Uses Bash", `{"command":"a","COMMAND":"b"}`, []string{"json"}},
		"Edit":                     {"Edit", `{"file_path":"/p/retry.ts","old_string":"a\nb","new_string":"a\nc\nd"}`, "file", "Changes retry.ts, +2 −1", "/p/retry.ts", []string{"diff"}},
		"Edit everywhere":          {"Edit", `{"file_path":"x","old_string":"a","new_string":"b","replace_all":true}`, "file", "Changes x at every match, +1 −1", "x", []string{"diff", "json"}},
		"Edit without its shape":   {"Edit", `{"file_path":"x","old_string":"a"}`, "file", "Uses Edit", `{"file_path":"x","old_string":"a"}`, []string{"json"}},
		"MultiEdit":                {"MultiEdit", `{"file_path":"/x","edits":[{"old_string":"a","new_string":"b"},{"old_string":"","new_string":"c","replace_all":true}]}`, "file", "Changes x at every match, +2 −1", "/x", []string{"diff", "diff"}},
		"MultiEdit with more":      {"MultiEdit", `{"file_path":"/x","edits":[{"old_string":"a","new_string":"b","regex":true}]}`, "file", "Changes x, +1 −1", "/x", []string{"diff", "json"}},
		"MultiEdit, half":          {"MultiEdit", `{"file_path":"/x","edits":[{"old_string":"a"}]}`, "file", "Uses MultiEdit", `{"file_path":"/x","edits":[{"old_string":"a"}]}`, []string{"json"}},
		"Write":                    {"Write", `{"file_path":"/p/config.ts","content":"a\nb\n"}`, "file", "Writes config.ts, 2 lines", "/p/config.ts", []string{"content"}},
		"Write, open end":          {"Write", `{"file_path":"x","content":"a"}`, "file", "Writes x, 1 line", "x", []string{"content"}},
		"Write, empty":             {"Write", `{"file_path":"x","content":""}`, "file", "Writes x, empty", "x", []string{"content"}},
		"Write, a name like words": {"Write", `{"file_path":"/p/nothing, 0 lines","content":""}`, "file", "Writes “nothing, 0 lines”, empty", "/p/nothing, 0 lines", []string{"content"}},
		"NotebookEdit":             {"NotebookEdit", `{"notebook_path":"/n.ipynb","new_source":"x","cell_id":"c"}`, "file", "Changes a cell of n.ipynb", "/n.ipynb", []string{"content", "json"}},
		"NotebookEdit, insert":     {"NotebookEdit", `{"notebook_path":"/n.ipynb","new_source":"x","edit_mode":"insert"}`, "file", "Adds a cell to n.ipynb", "/n.ipynb", []string{"content", "json"}},
		"NotebookEdit, delete":     {"NotebookEdit", `{"notebook_path":"/n.ipynb","edit_mode":"delete"}`, "file", "Deletes a cell of n.ipynb", "/n.ipynb", []string{"content", "json"}},
		"Read":                     {"Read", `{"file_path":"/a/b"}`, "eye", "Reads b", "/a/b", []string{"content"}},
		"Read, hidden":             {"Read", "{\"file_path\":\"/a/b\u202ec\"}", "eye", "Reads “b⟨U+202E⟩c”", "/a/b⟨U+202E⟩c", []string{"content"}},
		"Read a folder":            {"Read", `{"file_path":"/a/"}`, "eye", "Reads /a/", "/a/", []string{"content"}},
		"a question":               {"AskUserQuestion", `{"questions":[{"question":"Which?","header":"DB","multiSelect":false,"options":[{"label":"A","description":"a"}]}]}`, "ask", "Asks you 1 question", "Which?", []string{"questions"}},
		"questions with more":      {"AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"A","preview":"x"}]},{"question":"Why?"}]}`, "ask", "Asks you 2 questions", "Which?", []string{"questions", "json"}},
		"no question":              {"AskUserQuestion", `{"questions":[]}`, "plug", "Uses AskUserQuestion", `{"questions":[]}`, []string{"json"}},
		"a plan":                   {"ExitPlanMode", `{"plan":"\n# Plan\n1. x","planFilePath":"/p"}`, "plan", "Wants to start on a plan", "# Plan", []string{"content", "json"}},
		"a plan that is elsewhere": {"ExitPlanMode", `{}`, "plan", "Wants to start on a plan", "{}", []string{"json"}},
		"MCP":                      {"mcp__github__create_pull_request", `{"title": "x"}`, "plug", "Calls create_pull_request on github", `{"title":"x"}`, []string{"form"}},
		"MCP, odd names":           {"mcp__my server__x y", `{}`, "plug", "Calls “x y” on “my server”", `{}`, []string{"json"}},
		"MCP, no tool":             {"mcp__x", `{}`, "plug", "Uses mcp__x", `{}`, []string{"json"}},
		"anything else":            {"Frob", `[1]`, "plug", "Uses Frob", `[1]`, []string{"json"}},
		"a search":                 {"Grep", `{"pattern":"x"}`, "eye", "Uses Grep", `{"pattern":"x"}`, []string{"json"}},
		"no JSON":                  {"Frob", "{\x1b", "plug", "Uses Frob", "{⟨ESC⟩", []string{"content"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, Call(call(tt.tool, tt.input), nil), tt.icon, tt.says, tt.subject, tt.kinds...)
		})
	}
}

func TestFullCards(t *testing.T) {
	t.Parallel()
	var cards []Card
	for _, c := range []*gatelatch.Call{
		call("Bash", `{"command":"ls\tx\u202e;  rm y","description":"lists","timeout":1.50}`),
		call("Edit", `{"file_path":"/p/a.go","old_string":"a\n\tb\nc\n","new_string":"a\n\tB\nc","replace_all":false}`),
		call("AskUserQuestion", `{"questions":[{"question":"Which\u200b one?","header":"DB","multiSelect":true,"options":[{"label":"A\u00a0B","description":"x\ny"}]}]}`),
		call("mcp__x__y", `{"n":9007199254740993,"b":1.50,"a":"\u0041<\u202e","l":[]}`),
	} {
		cards = append(cards, Call(c, nil))
	}
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(cards); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "cards.golden")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestSegmentsFollowTheReasons(t *testing.T) {
	t.Parallel()
	command := "ls ü; rm x  ; git push; ls"
	at := func(part string, effect gatelatch.Effect) gatelatch.Reason {
		i := strings.Index(command, part)
		return gatelatch.Reason{Effect: effect, Start: i, End: i + len(part)}
	}
	for name, tt := range map[string]struct {
		reasons []gatelatch.Reason
		want    []Segment
	}{
		"none":          {nil, []Segment{{Text: command}}},
		"the whole":     {[]gatelatch.Reason{{Effect: gatelatch.Ask}}, []Segment{{Text: command}}},
		"one":           {[]gatelatch.Reason{at("rm x", gatelatch.Ask)}, []Segment{{Text: "ls ü; "}, {Text: "rm x", Asked: true}, {Text: "  ; git push; ls"}}},
		"two, unsorted": {[]gatelatch.Reason{at("git push", gatelatch.Deny), at("rm x", gatelatch.Ask)}, []Segment{{Text: "ls ü; "}, {Text: "rm x", Asked: true}, {Text: "  ; "}, {Text: "git push", Asked: true}, {Text: "; ls"}}},
		"overlapping":   {[]gatelatch.Reason{at("rm x  ; git", gatelatch.Ask), at("git push", gatelatch.Ask)}, []Segment{{Text: "ls ü; "}, {Text: "rm x  ; git push", Asked: true}, {Text: "; ls"}}},
		"allowed":       {[]gatelatch.Reason{at("ls ü", gatelatch.Allow)}, []Segment{{Text: command}}},
		"out of range":  {[]gatelatch.Reason{{Effect: gatelatch.Ask, Start: 3, End: 999}, {Effect: gatelatch.Ask, Start: -1, End: 2}}, []Segment{{Text: command}}},
		"at the end":    {[]gatelatch.Reason{{Effect: gatelatch.Ask, Start: len(command) - 2, End: len(command)}}, []Segment{{Text: strings.TrimSuffix(command, "ls")}, {Text: "ls", Asked: true}}},
	} {
		if diff := cmp.Diff(tt.want, segments(command, tt.reasons)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSegmentsJoinToTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		command := anyText.Draw(rt, "command")
		offset := rapid.IntRange(-1, len(command)+1)
		var reasons []gatelatch.Reason
		for range rapid.IntRange(0, 4).Draw(rt, "n") {
			reasons = append(reasons, gatelatch.Reason{Effect: gatelatch.Ask, Start: offset.Draw(rt, "start"), End: offset.Draw(rt, "end")})
		}
		var joined strings.Builder
		for _, s := range segments(command, reasons) {
			joined.WriteString(s.Text)
		}
		if joined.String() != Escape(command) {
			rt.Fatalf("got %q, want %q", joined.String(), Escape(command))
		}
	})
}

// Whatever is in an input must be on its card: a person decides on all of it.
func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	known := map[string]string{
		"Bash": `"command":"K0"`, "Edit": `"file_path":"K0","old_string":"K1","new_string":"K2"`, "Write": `"file_path":"K0","content":"K1"`,
		"MultiEdit": `"file_path":"K0","edits":[{"old_string":"K1","new_string":"K2"}]`, "NotebookEdit": `"notebook_path":"K0","new_source":"K1"`,
		"Read": `"file_path":"K0"`, "AskUserQuestion": `"questions":[{"question":"K0","header":"K1","options":[{"label":"K2","description":"K3"}]}]`,
		"ExitPlanMode": `"plan":"K0"`, "mcp__a__b": `"x":"K0"`, "Other": `"x":"K0"`,
	}
	field := rapid.SampledFrom([]string{"description", "timeout", "replace_all", "offset", "cell_id", "edit_mode", "plan_file", "answers", "path", "Content", "new", "x2"})
	value := rapid.SampledFrom([]string{`"V"`, `17.50`, `true`, `false`, `null`, `{"deep":["V"]}`, `"insert"`})
	rapid.Check(t, func(rt *rapid.T) {
		for tool, fields := range known {
			names := rapid.SliceOfNDistinct(field, 0, 4, rapid.ID[string]).Draw(rt, "names")
			var want []string
			for _, n := range names {
				v := value.Draw(rt, "value")
				fields += `,"` + n + `":` + v
				if tool == "mcp__a__b" {
					want = append(want, `"name":"`+n+`"`)
				} else {
					want = append(want, `"`+n+`": `+strings.SplitN(v, "[", 2)[0][:1])
				}
			}
			shown, err := json.Marshal(Call(call(tool, "{"+fields+"}"), nil).Blocks)
			if err != nil {
				rt.Fatal(err)
			}
			text := strings.ReplaceAll(string(shown), `\"`, `"`)
			for _, k := range []string{"K0", "K1", "K2", "K3"} {
				if strings.Contains(fields, k) {
					want = append(want, k)
				}
			}
			for _, w := range want {
				if !strings.Contains(text, w) {
					rt.Fatalf("%s {%s}: %s is missing in %s", tool, fields, w, text)
				}
			}
		}
	})
}
