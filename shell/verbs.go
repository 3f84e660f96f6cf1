package shell

import (
	"slices"
	"strings"
)

// A recall says what may follow a command that is remembered, where its effect
// alone does not say.
type recall uint8

const (
	recallNone    recall = iota
	recallAny            // any words
	recallProject        // any words; it runs what the files of the project say
	recallNamed          // the same, behind one that names what: npm run build
)

// Verbs returns how many of the words say what a program is to do: its name,
// its subcommands, and what the project calls a task. It is 0 for a program or
// a subcommand that nobody described.
func Verbs(words []string) int {
	n, _ := verbs(words)
	return n
}

// verbs also returns what the words lead to, nil if they leave that open: git
// remote and npm run do. What the program does on its way counts, too.
func verbs(words []string) (n int, leaf *spec) {
	if len(words) == 0 {
		return 0, nil
	}
	s := findSpec(words[0])
	if s == nil {
		return 0, nil
	}
	n = 1
	var does actions
	for i := 1; i < len(words) && len(s.commands) > 0; i++ {
		c := s.command(words[i])
		_, group := slices.BinarySearch(s.groups, words[i])
		switch {
		case group && (c == nil || strings.Contains(c.name, "*")):
		case c != nil:
			does |= s.does
			s, n = c, i+1
		case strings.HasPrefix(words[i], "-") && s.flag(words[i]):
		case strings.HasPrefix(words[i], "-"):
			return n, nil
		default:
			return 0, nil
		}
	}
	if s.recall == recallNamed {
		if n == len(words) || words[n] == "" || words[n][0] == '-' {
			return n, nil
		}
		n++
	}
	if len(s.commands) > 0 {
		return n, nil
	}
	found := *s
	found.does |= does
	return n, &found
}

// flag reports whether a word is an option that takes no value and changes
// nothing to speak of.
func (s *spec) flag(word string) bool {
	o := s.option(word)
	return o != nil && o.takes == asNone && o.does == 0 && !o.help
}

// Bounded reports whether whatever follows these words can be left open: what
// the command is for only looks, or its spec says so. An option that does
// something else is not meant.
func Bounded(words []string) bool {
	_, s := verbs(words)
	if s == nil || Runs(words) != "" || s.is(assigns) || s.reads() != nil {
		return false
	}
	const looks = 1<<Reads | 1<<AsksService
	more := slices.ContainsFunc(s.operands, func(o shape) bool { return o != asText && o != asRead && o != asPath && o != asChange }) ||
		slices.ContainsFunc(s.when, func(w when) bool { return w.does&^looks != 0 })
	return s.recall != recallNone || s.does&^looks == 0 && !more
}

// maxNeighbours is how many commands are worth trying.
const maxNeighbours = 32

// Neighbours returns commands that begin with the same verbs and do something
// to think about: examples of the spec, reading a file that is not of the
// project, and options with an effect of their own.
func Neighbours(words []string) (out []string) {
	n, s := verbs(words)
	if s == nil {
		return nil
	}
	for _, example := range findSpec(words[0]).asks {
		if w, ok := Words(example); ok && len(w) > n && slices.Equal(w[:n], words[:n]) {
			out = append(out, example)
		}
	}
	start := strings.Join(words[:n], " ")
	if s.recall == recallNamed {
		out = append(out, start+" -- --require ./x.js")
	}
	if i := slices.Index(s.operands, asRead); i >= 0 {
		out = append(out, start+strings.Repeat(" x", i)+" /etc/passwd")
	}
	type kind struct {
		takes shape
		does  actions
	}
	seen := map[kind]bool{}
	for _, o := range slices.SortedStableFunc(slices.Values(s.options), func(a, b option) int { return len(a.name) - len(b.name) }) {
		looks := o.does == 0 && (o.takes == asNone || o.takes == asText || o.takes == asRead || o.takes == asPath)
		k := kind{o.takes, o.does}
		if o.help || looks || seen[k] {
			continue
		}
		seen[k] = true // one of a kind is enough
		value := " x"
		if o.takes == asNone || o.optional {
			value = ""
		}
		out = append(out, start+" "+o.name+value)
	}
	return out[:min(len(out), maxNeighbours)]
}
