package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

// maxHits is how many places of one command line a rule points at. More would
// say nothing new.
const maxHits = 16

// shellUse is what a call of Bash would run. Only the tool of exactly that
// name is one: a field called "command" makes no other tool a shell.
type shellUse struct {
	src   string
	facts *shell.Facts
	named []shell.Command // see commands
	plain *shell.Analysis // see found

	guards map[int]*gatelatch.Reason // see guard
	short  map[int][]shell.Effect    // see fellShort

	looked []mayRead // paths that it reads
	few    [2]mayRead

	open  []int // commands that nothing covers, once the rules were asked
	reads bool  // what only reads may run
}

// A mayRead is a path, and whether a command may read it.
type mayRead struct {
	path string
	may  bool
}

func (f *Facts) readShell() {
	src, ok := f.text("command")
	if !ok {
		f.concern("the input has no command")
		raw := string(f.call.Input)
		f.shell = &shellUse{src: raw, facts: shell.Uninspectable(raw)}
		return
	}
	f.shell = &shellUse{src: src, facts: shell.Read(src, shell.Env{
		Dir: f.call.Dir, Home: given(f.world.home), Project: given(f.session.Project), Files: f.world.disk,
	})}
	for _, m := range f.fields {
		switch name, value := m.Name, m.Value; {
		case name == "command" || name == "description" || name == "timeout" || name == "run_in_background":
		case name == "dangerouslyDisableSandbox" && value == false:
		case name == "dangerouslyDisableSandbox":
			f.concern("it would run outside the agent's sandbox")
		default:
			f.concern("the input has a field %.40q that may change how it runs", name)
		}
	}
	f.approverCommand()
}

// found is the older, coarser reading, for what the finer one can't say. It is
// made when something wants it.
func (u *shellUse) found() *shell.Analysis {
	if u.plain == nil {
		a := shell.Analyse(u.src)
		u.plain = &a
	}
	return u.plain
}

// commands returns everything that looks like a command, for rules that forbid:
// rather too much where it is not certain what runs.
func (u *shellUse) commands() []shell.Command {
	if u.named != nil {
		return u.named
	}
	for _, c := range u.facts.Commands {
		u.named = append(u.named, u.simple(c)...)
	}
	if !u.facts.Readable() || slices.ContainsFunc(u.facts.Effects, func(e shell.Effect) bool { return e.Action == shell.Unknown || e.Action == shell.Executes }) {
		u.named = append(u.named, u.facts.Guesses...)
		u.named = append(u.named, u.found().Commands...)
	}
	return u.named
}

// simple returns a command with the words that are known; of the others, what
// is written. If its program is one of several, there are several.
func (u *shellUse) simple(c shell.Simple) (out []shell.Command) {
	cmd := shell.Command{Start: c.Start, End: c.End, Literal: true}
	for _, w := range c.Words {
		text := w.Text
		if !w.Known() {
			cmd.Literal = false
			text = cmp.Or(text, u.part(w.Start, w.End))
		}
		cmd.Words = append(cmd.Words, text)
	}
	switch {
	case len(cmd.Words) == 0:
		return nil
	case c.Words[0].Kind != shell.OneOf:
		return []shell.Command{cmd}
	}
	for _, alt := range c.Words[0].Alts {
		one := cmd
		one.Words = append([]string{alt}, cmd.Words[1:]...)
		out = append(out, one)
	}
	return out
}

// words is the pattern of a Bash rule.
type words struct {
	want []string
	more bool // others may follow
}

var anyCommand = words{more: true}

// parseWords reads "git status", or with a rest "npm run:*", "npm run *" or "*".
func parseWords(pattern string, allow bool) (matcher, error) {
	if pattern == "*" || pattern == ":*" {
		return anyCommand, nil
	}
	text, more := strings.CutSuffix(pattern, ":*")
	if !more {
		text, more = strings.CutSuffix(pattern, " *")
	}
	want, ok := shell.Words(text) // a * in quotes is itself
	switch {
	case !ok && strings.Contains(text, "*"):
		return nil, errors.New("a * stands only at the end, for more words: npm run:*")
	case !ok:
		return nil, errors.New("the pattern is not plain words; expansions, operators and redirections can't be matched")
	case allow && shell.IsWrapper(want[0]):
		return nil, fmt.Errorf("%s runs what its arguments say, so no rule can allow it", want[0])
	}
	if _, plain := shell.Plain(text); allow && !plain {
		return nil, errors.New("this is never one plain command, so no rule can allow it")
	}
	return words{want, more}, nil
}

// match implements matcher. To allow, it names each command that it covers;
// whether that is enough for the whole line, the Set says.
func (w words) match(f *Facts, allow bool, to []hit) ([]hit, error) {
	u := f.shell
	switch {
	case u == nil:
	case allow:
		for i := range u.facts.Commands {
			if w.covers(f, i) {
				to = append(to, u.hitOf(i))
			}
		}
	case len(w.want) == 0:
		to = append(to, hit{field: "command"})
	default:
		to = w.possible(u, to)
	}
	return to, nil
}

// possible matches every command that is found, and behind wrappers at every
// word: sudo -u x rm y.
func (w words) possible(u *shellUse, to []hit) []hit {
	n := len(to)
	for _, c := range u.commands() {
		if len(to)-n == maxHits {
			break
		}
		if h := u.hit(c); w.in(c) && !slices.Contains(to[n:], h) {
			to = append(to, h)
		}
	}
	return to
}

func (w words) in(c shell.Command) bool {
	if w.among(c.Words, w.more || c.Wrapper && c.Guess) {
		return true
	}
	for i := 1; c.Wrapper && i < len(c.Words); i++ {
		if sameProgram(w.want[0], c.Words[i]) {
			return w.among(c.Words[i:], true) // a later one has fewer words behind it
		}
	}
	return false
}

// among reports whether have starts with the program of the rule and goes on
// with its words in their order, whatever stands between them: the options of
// git -C . push. Unless more may follow, the last word must be the rule's.
func (w words) among(have []string, more bool) bool {
	n, last := len(w.want), len(have)-1
	switch {
	case last+1 < n || !sameProgram(w.want[0], have[0]):
		return false
	case !more && n == 1:
		return last == 0
	case !more && have[last] != w.want[n-1]:
		return false
	case !more:
		n, have = n-1, have[:last]
	}
	want := w.want[1:n]
	for _, word := range have[1:] {
		if len(want) > 0 && want[0] == word {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// sameProgram takes /bin/rm and RM for rm. A rule with a path is about that path.
func sameProgram(rule, word string) bool {
	if !strings.Contains(rule, "/") {
		word = word[strings.LastIndexByte(word, '/')+1:]
	}
	return strings.EqualFold(rule, word)
}

func (u *shellUse) hit(c shell.Command) hit {
	return hit{field: "command", part: u.part(c.Start, c.End), start: c.Start, end: c.End}
}

// part is a piece of the source, "" if there is none.
func (u *shellUse) part(start, end int) string {
	if start < 0 || end < start || end > len(u.src) {
		return ""
	}
	return u.src[start:end]
}
