package runner

import (
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for line, want := range map[string]struct{ prompt, rest, bad string }{
		"":                                     {},
		"|do it":                               {prompt: "do it"},
		"-p|do it":                             {prompt: "do it"},
		"--model|opus|do it":                   {prompt: "do it", rest: "--model|opus"},
		"--model=opus|do it":                   {prompt: "do it", rest: "--model=opus"},
		"-c|do it":                             {prompt: "do it", rest: "-c"},
		"--allowedTools|Bash|Read|--|do it":    {prompt: "do it", rest: "--allowedTools|Bash|Read"},
		"--resume|abc|do it":                   {prompt: "do it", rest: "--resume|abc"},
		"--|--model":                           {prompt: "--model"},
		"--new-switch|--verbose|do it":         {prompt: "do it", rest: "--new-switch"},
		"--new-switch|do it":                   {bad: "may be its value or the prompt"},
		"--model":                              {bad: "needs a value"},
		"mcp|list":                             {bad: "one prompt"},
		"--output-format|xml|do it":            {bad: "--output-format is"},
		"--input-format|stream-json|do it":     {bad: "comes in a message"},
		"--bare|do it":                         {bad: "can't be used"},
		"--permission-prompt-tool=x|do it":     {bad: "can't be used"},
		"--permission-prompts|none|do it":      {bad: "can't be used"},
		"--bg|do it":                           {bad: "can't be used"},
		"--sdk-url|ws://127.0.0.1:1|do it":     {bad: "can't be used"},
		"--dangerously-skip-permissions|do it": {prompt: "do it", rest: "--dangerously-skip-permissions"},
	} {
		a, err := parseArgs(split(line))
		switch {
		case want.bad != "":
			if err == nil || !strings.Contains(err.Error(), want.bad) {
				t.Errorf("%s: %v", line, err)
			}
		case err != nil:
			t.Errorf("%s: %v", line, err)
		case a.prompt != want.prompt || strings.Join(a.rest, "|") != want.rest:
			t.Errorf("%s: prompt %q, rest %q", line, a.prompt, a.rest)
		}
	}
}

func split(line string) []string {
	return slices.DeleteFunc(strings.Split(line, "|"), func(s string) bool { return s == "" })
}

// The agent always asks the host, and begins in a mode that is known.
func TestCommandOfTheAgent(t *testing.T) {
	a, err := parseArgs(split("--permission-mode|plan|--resume|abc|--model|opus|--output-format|json|-c|go"))
	if err != nil {
		t.Fatal(err)
	}
	const host = "-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio --include-partial-messages --permission-mode "
	if got := strings.Join(a.command(), " "); got != host+"plan --resume abc --model opus -c" {
		t.Errorf("started with %s", got)
	}
	if got := strings.Join(a.afresh("plan", "").command(), " "); got != host+"default --model opus" {
		t.Errorf("afresh with %s", got)
	}
}

// What an agent says must not command the terminal.
func TestPrintable(t *testing.T) {
	if got := printable("a\x1b[31mb\u202ec\nd\te\x9b\xff"); got != "a\uFFFD[31mb\uFFFDc\nd\te\uFFFD" {
		t.Errorf("%q", got)
	}
}
