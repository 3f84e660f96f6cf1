package hostconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hook is the program that a host runs at each tool call.
type Hook struct {
	Command string   // absolute: the agent must not choose it through PATH
	Args    []string // no shell reads them, so spaces need no quotes
	Timeout int      // seconds a call may wait for a person
	// Only is for managed settings: hooks from anywhere else don't run then.
	Only bool `json:",omitempty"`
}

// Entry is one hook of a settings file.
type Entry struct {
	Event     string   `json:"event"`
	Matcher   string   `json:"matcher"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Timeout   int      `json:"timeout"`
	OnFailure string   `json:"on_failure,omitempty"`
}

// reportTimeout bounds the hooks that only tell the gateway what happened.
const reportTimeout = 10

// reports are the events that hold nothing back. They tell how a call ended,
// and that nobody waits any more for the answer to one: a person who said yes
// in the terminal, went on to something else or left.
var reports = []string{
	"PostToolUse", "PostToolUseFailure", "PermissionDenied",
	"UserPromptSubmit", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "SessionStart", "SessionEnd",
}

// ClaudeEntries returns what Claude adds to a settings file.
//
// PreToolUse is the gate, the only event that is raised in every permission
// mode; a failing hook there must block. A failing PermissionRequest hook must
// not: the terminal's dialog is still there for the person to answer. What
// follows "--limit" in the arguments is set to each entry's own timeout.
func ClaudeEntries(h Hook) []Entry {
	entry := func(event string, timeout int, onFailure string) Entry {
		return Entry{Event: event, Matcher: "*", Command: h.Command, Args: withLimit(h.Args, timeout), Timeout: timeout, OnFailure: onFailure}
	}
	out := []Entry{entry("PreToolUse", h.Timeout, "block"), entry("PermissionRequest", h.Timeout, "")}
	for _, event := range reports {
		out = append(out, entry(event, reportTimeout, ""))
	}
	return out
}

func withLimit(args []string, seconds int) []string {
	out := append([]string{}, args...)
	if i := slices.Index(out, "--limit"); i >= 0 && i+1 < len(out) {
		out[i+1] = strconv.Itoa(seconds)
	}
	return out
}

// group and command are an entry in the words, and the order, of the file.
type group struct {
	Matcher string    `json:"matcher"`
	Hooks   []command `json:"hooks"`
}

type command struct {
	Type      string   `json:"type"`
	Command   string   `json:"command"`
	Args      []string `json:"args"`
	Timeout   int      `json:"timeout"`
	OnFailure string   `json:"onFailure,omitempty"`
}

func (e Entry) command() command {
	return command{Type: "command", Command: e.Command, Args: e.Args, Timeout: e.Timeout, OnFailure: e.OnFailure}
}

func (e Entry) group() group {
	return group{Matcher: e.Matcher, Hooks: []command{e.command()}}
}

// Claude adds our hooks to the text of a Claude Code settings file. No text,
// or only white space, gives a new file. Text that has exactly these hooks
// already comes back as it is; hooks of ours that differ are replaced.
func Claude(settings []byte, h Hook) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	entries := ClaudeEntries(h)
	text := settings
	if blank(text) {
		text = []byte("{}\n")
	}
	same, err := hasExactly(text, entries)
	if err != nil {
		return nil, err
	}
	if !same {
		if text, err = replaceOurs(text, entries); err != nil {
			return nil, err
		}
	}
	if h.Only {
		return setOnly(text)
	}
	return text, nil
}

func replaceOurs(text []byte, entries []Entry) ([]byte, error) {
	text, _, err := RemoveClaude(text)
	for _, e := range entries {
		if err != nil {
			return nil, err
		}
		text, err = add(text, e)
	}
	return text, err
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

func (h Hook) check() error {
	if !filepath.IsAbs(h.Command) {
		return fmt.Errorf("the hook's path %q is not absolute", h.Command)
	}
	if !names(append([]string{h.Command}, h.Args...)) {
		return fmt.Errorf("the hook %q is not called gatelatch-hook, so that uninstalling would not find it", h.Command)
	}
	if h.Timeout <= 0 {
		return errors.New("the hook's timeout must be positive")
	}
	for _, s := range append([]string{h.Command}, h.Args...) {
		// Claude Code puts its own values in place of ${…}, here too.
		if !utf8.ValidString(s) || strings.Contains(s, "${") || strings.ContainsRune(s, 0) {
			return fmt.Errorf("%q cannot be part of a hook's command", s)
		}
	}
	return nil
}

// add appends one entry, with the containers that it needs.
func add(text []byte, e Entry) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	l := layoutOf(text, root)
	hooks := root.member("hooks")
	if hooks == nil {
		return insert(text, l, root, "hooks", map[string][]group{e.Event: {e.group()}})
	}
	if hooks.kind != '{' {
		return nil, fmt.Errorf(`"hooks" is %s, not an object`, describe(text, hooks))
	}
	event := hooks.member(e.Event)
	if event == nil {
		return insert(text, l, hooks, e.Event, []group{e.group()})
	}
	if err := checkEvent(text, e.Event, event); err != nil {
		return nil, err
	}
	return insert(text, l, event, "", e.group())
}

// checkEvent refuses what Claude Code would not read: it then skips the whole
// file, and our hooks with it.
func checkEvent(text []byte, name string, event *node) error {
	if event.kind != '[' {
		return fmt.Errorf(`"hooks.%s" is %s, not an array`, name, describe(text, event))
	}
	for i, k := range event.kids {
		if k.value.kind != '{' {
			return fmt.Errorf(`"hooks.%s[%d]" is %s, not an object`, name, i, describe(text, k.value))
		}
		if h := k.value.member("hooks"); h == nil || h.kind != '[' {
			return fmt.Errorf(`"hooks.%s[%d]" has no array "hooks"`, name, i)
		}
	}
	return nil
}

// ClaudeDrift tells how the text of a settings file differs from what Claude
// wrote into it, "" if it asks as it did.
func ClaudeDrift(settings []byte, h Hook) string {
	switch same, err := hasExactly(settings, ClaudeEntries(h)); {
	case blank(settings):
		return "the file is gone or empty"
	case err != nil:
		return "the file can't be read: " + err.Error()
	case !same:
		return "the hooks are not as they were written"
	case h.Only && !hasOnly(settings):
		return fmt.Sprintf("%q is no longer set", onlyManaged)
	}
	return strings.Join(ClaudeWarnings(settings), "; ")
}

// hasExactly tells whether our hooks in text are these and no others.
func hasExactly(text []byte, entries []Entry) (bool, error) {
	root, err := parse(text)
	if err != nil {
		return false, err
	}
	found := findOurs(text, root)
	if len(found) != len(entries) {
		return false, nil
	}
	want := map[string]string{}
	for _, e := range entries {
		body, err := compact(e.command())
		if err != nil {
			return false, err
		}
		want[e.Event] = string(body)
	}
	for _, f := range found {
		var body bytes.Buffer
		if err := json.Compact(&body, f.entry.raw(text)); err != nil {
			return false, err
		}
		if f.matcher != "*" || want[f.event] != body.String() {
			return false, nil
		}
		delete(want, f.event)
	}
	return len(want) == 0, nil
}

// ClaudeWarnings tells what in a settings file keeps hooks from running.
func ClaudeWarnings(settings []byte) (out []string) {
	f, err := ClaudeFacts(settings)
	if err != nil {
		return nil
	}
	if f.Disabled {
		out = append(out, `"disableAllHooks" is set: Claude Code runs no hook of this file, and nothing is gated until it is removed`)
	}
	for _, p := range f.Problems {
		out = append(out, p+": Claude Code may skip the whole file, hooks and all")
	}
	return out
}
