package hostconfig

import (
	"encoding/json"
	"strings"
)

// ours is a hook that runs gatelatch.
type ours struct {
	event   string
	matcher string
	entry   *node
}

// findOurs returns our hooks of any event, in the order of the text. What has
// not the shape of a hook is somebody else's.
func findOurs(text []byte, root *node) []ours {
	hooks := root.member("hooks")
	if hooks == nil || hooks.kind != '{' {
		return nil
	}
	var found []ours
	for _, event := range hooks.kids {
		for _, g := range event.value.kids {
			list := g.value.member("hooks")
			if list == nil || list.kind != '[' {
				continue
			}
			for _, h := range list.kids {
				if isOurs(text, h.value) {
					found = append(found, ours{event.name, stringOf(text, g.value.member("matcher")), h.value})
				}
			}
		}
	}
	return found
}

func stringOf(text []byte, n *node) string {
	var s string
	if n == nil || n.kind != '"' || json.Unmarshal(n.raw(text), &s) != nil {
		return ""
	}
	return s
}

// isOurs recognises "gatelatch-hook …" and "gatelatch hook …", with and without
// "args", wherever the program lies.
func isOurs(text []byte, n *node) bool {
	line := stringOf(text, n.member("command"))
	words := []string{line}
	if args := n.member("args"); args != nil {
		for _, a := range args.kids {
			words = append(words, stringOf(text, a.value))
		}
	} else {
		words = shellWords(line)
	}
	return names(words)
}

// names tells whether a command line calls our hook.
func names(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch base(words[0]) {
	case "gatelatch-hook":
		return true
	case "gatelatch":
		return len(words) > 1 && words[1] == "hook"
	}
	return false
}

// base is the last part of a path of any system, without ".exe".
func base(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	if n := len(path) - len(".exe"); n > 0 && strings.EqualFold(path[n:], ".exe") {
		path = path[:n]
	}
	return path
}

// shellWords splits at spaces outside quotes. Backslashes stay: in a command
// for Windows they part the path.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	begun := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
