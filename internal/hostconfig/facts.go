package hostconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Facts is what a settings file of Claude Code says about hooks and permissions.
type Facts struct {
	Ours     []Found
	Others   []string // the events before a call on which others have hooks, too
	Disabled bool     // "disableAllHooks"
	Only     bool     // "allowManagedHooksOnly"
	Mode     string   // the permission mode that sessions start in
	Ask      int      // rules that turn an allow of ours into a question
	Deny     int      // rules that beat an allow of ours
	Problems []string // what may make Claude Code skip the file
}

// Found is a hook of ours as it stands in a file.
type Found struct {
	Event   string
	Matcher string
	Command string
	Args    []string
	Timeout float64
	Gaps    []string // why it does not hold each call back
}

// Arg is the value that follows a flag in the arguments, "" without it.
func (f Found) Arg(flag string) string {
	if i := slices.Index(f.Args, flag); i >= 0 && i+1 < len(f.Args) {
		return f.Args[i+1]
	}
	return ""
}

// Has tells whether the file has a hook of ours for the event.
func (f Facts) Has(event string) bool {
	return slices.ContainsFunc(f.Ours, func(o Found) bool { return o.Event == event })
}

// Missing are the events of which the gateway hears nothing.
func (f Facts) Missing() (out []string) {
	for _, e := range ClaudeEntries(Hook{}) {
		if !f.Has(e.Event) {
			out = append(out, e.Event)
		}
	}
	return out
}

// ClaudeFacts reads the text of a settings file.
func ClaudeFacts(settings []byte) (Facts, error) {
	var f Facts
	if blank(settings) {
		return f, nil
	}
	root, err := parse(settings)
	if err != nil {
		return f, err
	}
	for _, o := range findOurs(settings, root) {
		f.Ours = append(f.Ours, o.found(settings))
	}
	f.Others = others(settings, root)
	f.Disabled = isSet(settings, root.member("disableAllHooks"))
	f.Only = hasOnly(settings)
	permissions := root.member("permissions")
	f.Mode = stringOf(settings, permissions.member("defaultMode"))
	f.Ask, f.Deny = length(permissions.member("ask")), length(permissions.member("deny"))
	f.Problems = misshapen(settings, root)
	return f, nil
}

func isSet(text []byte, n *node) bool { return n != nil && string(n.raw(text)) != "false" }

func length(n *node) int {
	if n == nil || n.kind != '[' {
		return 0
	}
	return len(n.kids)
}

// others are the events before a call on which somebody else has a hook. Such a
// hook can replace the input that was decided on.
func others(text []byte, root *node) (out []string) {
	hooks := root.member("hooks")
	for _, event := range []string{"PreToolUse", "PermissionRequest"} {
		n := hooks.member(event)
		if n == nil {
			continue
		}
		for _, g := range n.kids {
			list := g.value.member("hooks")
			if list != nil && slices.ContainsFunc(list.kids, func(k kid) bool { return !isOurs(text, k.value) }) {
				out = append(out, event)
				break
			}
		}
	}
	return out
}

// misshapen finds the values for which Claude Code skips a whole file, hooks
// and all, without a word.
func misshapen(text []byte, root *node) (out []string) {
	for _, want := range []struct {
		name string
		kind byte
	}{{"hooks", '{'}, {"permissions", '{'}, {"env", '{'}} {
		if n := root.member(want.name); n != nil && n.kind != want.kind {
			out = append(out, fmt.Sprintf("%q is %s, not an object", want.name, describe(text, n)))
		}
	}
	permissions := root.member("permissions")
	for _, name := range []string{"allow", "ask", "deny"} {
		if n := permissions.member(name); n != nil && n.kind != '[' {
			out = append(out, fmt.Sprintf(`"permissions.%s" is %s, not an array`, name, describe(text, n)))
		}
	}
	return out
}

func (o ours) found(text []byte) Found {
	var c struct {
		command
		Timeout *float64        `json:"timeout"`
		Async   bool            `json:"async"`
		If      json.RawMessage `json:"if"`
	}
	f := Found{Event: o.event, Matcher: o.matcher}
	if err := json.Unmarshal(o.entry.raw(text), &c); err != nil {
		f.Gaps = []string{"it can't be read"}
		return f
	}
	if f.Command, f.Args = c.Command, c.Args; c.Args == nil {
		words := shellWords(c.Command)
		f.Command, f.Args = words[0], words[1:]
	}
	if c.Timeout != nil {
		f.Timeout = *c.Timeout
	}
	gap := func(wrong bool, why string) {
		if wrong {
			f.Gaps = append(f.Gaps, why)
		}
	}
	gap(c.Type != "command", "it is not a command")
	gap(c.Args == nil, "a shell reads its command line")
	gap(o.matcher != "*", "it does not match every tool")
	gap(c.If != nil, `it has an "if"`)
	gap(c.Async, "nobody waits for it")
	gap(o.event == "PreToolUse" && c.OnFailure != "block", `a failure lets the call run: no "onFailure": "block"`)
	gap(c.Timeout == nil, "it has no timeout of its own")
	// A hook that is killed has not denied.
	limit, err := strconv.ParseFloat(f.Arg("--limit"), 64)
	gap(c.Timeout != nil && (err != nil || limit > *c.Timeout), "it may be killed before it has answered")
	return f
}
