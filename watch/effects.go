package watch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/api"
)

// effect is one of the six that are told of each call, in the same order as on
// the page.
type effect struct {
	name   string
	noun   string
	things []api.Touch
	close  bool // worth a look
}

func isFile(t api.Touch) bool {
	return t.Does == "read" || t.Does == "write" || t.Does == "delete"
}

func isNet(t api.Touch) bool {
	return t.Does == "net" || t.Does == "remote-read" || t.Does == "remote-write"
}

// effectsOf returns the six. What can't be known is never none.
func effectsOf(c api.Card) (six []effect, known bool) {
	does := func(word string) func(api.Touch) bool {
		return func(t api.Touch) bool { return t.Does == word }
	}
	outside := func(t api.Touch) bool { return isFile(t) && t.Outside && t.What != "" }
	secret := func(t api.Touch) bool { return t.Secret }
	pick := func(is func(api.Touch) bool) (out []api.Touch) {
		for _, t := range c.Touches {
			same := func(o api.Touch) bool { return o.What == t.What }
			if is(t) && !slices.ContainsFunc(out, same) {
				out = append(out, t)
			}
		}
		return out
	}
	leaks := len(pick(secret)) > 0
	six = []effect{
		{"Reads", "path", pick(does("read")), false},
		{"Writes", "path", pick(does("write")), false},
		{"Deletes", "path", pick(does("delete")), true},
		{"Network", "place", pick(isNet), leaks},
		{"Outside project", "path", pick(outside), true},
		{"Secrets", "thing", pick(secret), true},
	}
	unclear := func(t api.Touch) bool {
		return t.Does == "unknown" || t.Does == "exec" || isFile(t) && t.What == ""
	}
	return six, c.More == 0 && !slices.ContainsFunc(c.Touches, unclear)
}

// besides tells what a call does beyond the six.
func besides(c api.Card) (out []string) {
	for _, t := range c.Touches {
		said, ok := doing[t.Does]
		if !ok {
			said = t.Does
		}
		if !isFile(t) && !isNet(t) && t.Does != "secret" && !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	if c.More > 0 {
		out = append(out, fmt.Sprintf("touches %s more that are not listed", count(c.More, "thing")))
	}
	return out
}

var doing = map[string]string{
	"exec":       "runs code that the line does not show",
	"privilege":  "gains or gives rights",
	"process":    "acts on other processes or the machine",
	"repository": "changes the repository",
	"session":    "changes the shell for what comes after",
	"unknown":    "does what nobody can know",
}

// names lists what is touched, as it is told inside the project.
func (e effect) names(project string) string {
	var out []string
	for _, t := range e.things {
		what := t.What
		switch root := strings.TrimSuffix(project, "/") + "/"; {
		case what == "":
			what = "can't be known"
		case len(root) > 1 && what == project:
			what = "."
		case len(root) > 1:
			what = strings.TrimPrefix(what, root)
		}
		if t.What != "" {
			what = quoted(what)
		}
		if t.Below {
			what = "files in " + what
		}
		out = append(out, what)
	}
	return strings.Join(out, ", ")
}

var plainName = regexp.MustCompile(`^[\w.+@/~:*-]+$`)

// quoted keeps a name in a sentence of ours from being taken for a part of it.
func quoted(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return "“" + strings.NewReplacer("“", "⟨U+201C⟩", "”", "⟨U+201D⟩").Replace(name) + "”"
}

// danger is why one key is not enough for an allow, and the word to type.
type danger struct{ why, word string }

func dangerOf(c api.Call) (danger, bool) {
	find := func(is func(api.Touch) bool) *api.Touch {
		if i := slices.IndexFunc(c.Card.Touches, is); i >= 0 {
			return &c.Card.Touches[i]
		}
		return nil
	}
	host := find(func(t api.Touch) bool { return t.Does == "net" })
	secret := find(func(t api.Touch) bool { return t.Secret })
	rights := find(func(t api.Touch) bool { return t.Does == "privilege" })
	gone := find(func(t api.Touch) bool { return t.Does == "delete" && t.Outside && t.What != "" })
	switch {
	case host != nil && secret != nil:
		return danger{"It reads what may be secret and talks to another machine.", typable(host.What)}, true
	case rights != nil:
		return danger{"It gains or gives rights on this machine.", typable(rights.What)}, true
	case gone != nil:
		return danger{"It deletes outside the project.", typable(gone.What)}, true
	}
	return danger{}, false
}

var plainWord = regexp.MustCompile(`^[\w.:@-]{1,40}$`)

// typable is the last part of a name, if it can be typed.
func typable(what string) string {
	what = strings.TrimRight(what, "/")
	if last := what[strings.LastIndexByte(what, '/')+1:]; plainWord.MatchString(last) {
		return last
	}
	return "allow"
}

// needsALook reports whether the row of a call is marked.
func needsALook(c api.Call) bool {
	if _, grave := dangerOf(c); grave {
		return true
	}
	if len(c.Card.Touches) == 0 {
		return false
	}
	six, known := effectsOf(c.Card)
	return !known || slices.ContainsFunc(six, func(e effect) bool { return e.close && len(e.things) > 0 })
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
