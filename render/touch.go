package render

import (
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// Touches returns what a call does, without the parts that do it.
func Touches(n *gatelatch.Needs) []Touch { return touches(n, nil) }

// touches returns what the call does, each with the part of the command that
// does it.
func touches(n *gatelatch.Needs, parts []span) (out []Touch) {
	if n == nil {
		return nil
	}
	for _, t := range n.Touches {
		out = append(out, Touch{
			Does: OneLine(t.Does), What: OneLine(t.What), Outside: t.Outside, Secret: t.Secret, Below: t.Below,
			Part: partOf(parts, t.Start, t.End),
		})
	}
	return out
}

// partOf returns the number of the part that a span lies in, 0 if there is none.
func partOf(parts []span, start, end int) int {
	for i, p := range parts {
		if start < end && p.start <= start && end <= p.end {
			return i + 1
		}
	}
	return 0
}

// A headline is what a command is about if nothing graver is in it.
type headline struct {
	key     string
	says    string // with the thing in the place of %s
	matches func(t Touch) bool
}

func does(word string) func(Touch) bool {
	return func(t Touch) bool { return t.Does == word }
}

func outside(word string) func(Touch) bool {
	return func(t Touch) bool { return t.Does == word && t.Outside && t.What != "" }
}

// headlines stand from the gravest on. What has no sentence here is told by
// what runs.
var headlines = []headline{
	{"privilege", "Gains or gives rights", does("privilege")},
	{"delete.outside", "Deletes %s outside the project", outside("delete")},
	{"secret", "Shows what may be secret", does("secret")},
	{"read.secret", "Reads %s, which may be secret", func(t Touch) bool { return t.Does == "read" && t.Secret && t.What != "" }},
	{"write.outside", "Writes %s outside the project", outside("write")},
	{"process", "Acts on other processes or the machine", does("process")},
	{"unknown", "", does("unknown")},
	{"remote-write", "Changes something in a service", does("remote-write")},
	{"delete", "Deletes %s", func(t Touch) bool { return t.Does == "delete" && t.What != "" }},
	{"net", "Connects to %s", func(t Touch) bool { return t.Does == "net" && t.What != "" }},
	{"exec", "", does("exec")},
	{"repository", "Changes the repository", does("repository")},
	{"write", "Writes %s", func(t Touch) bool { return t.Does == "write" && t.What != "" }},
	{"read.outside", "Reads %s outside the project", outside("read")},
}

// about tells the gravest of what a command does, "" if that is best told by
// what runs.
func about(ts []Touch) (string, Say) {
	for _, h := range headlines {
		var found []Touch
		seen := map[string]bool{}
		for _, t := range ts {
			if h.matches(t) && !seen[t.What] {
				found, seen[t.What] = append(found, t), true
			}
		}
		switch {
		case len(found) == 0:
			continue
		case h.says == "":
			return "", Say{}
		case !strings.Contains(h.says, "%s"):
			return h.says, Say{Key: h.key}
		case len(found) == 1:
			what := thing(found[0])
			return fmt.Sprintf(h.says, what), Say{Key: h.key, What: what}
		}
		return fmt.Sprintf(h.says, count(len(found), h.noun())), Say{Key: h.key, Count: len(found)}
	}
	return "", Say{}
}

func (h headline) noun() string {
	if h.key == "net" {
		return "host"
	}
	return "path"
}

// thing names what is touched in a sentence of ours: a file by its last element.
func thing(t Touch) string {
	switch {
	case t.Does == "net":
		return named(t.What)
	case t.Below:
		return "files in " + lastOf(t.What, named)
	}
	return lastOf(t.What, named)
}
