package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/shell"
)

// maxHits is how many places of one command line a rule points at. More would
// say nothing new.
const maxHits = 16

// shellUse is what a call of Bash would run. Only the tool of exactly that
// name is one: a field called "command" makes no other tool a shell.
type shellUse struct {
	src   string
	found shell.Analysis
	does  *shell.Facts // read when something wants it
}

func (f *Facts) readShell() {
	src, ok := f.text("command")
	if !ok {
		f.concern("the input has no command")
		raw := string(f.call.Input)
		f.shell = &shellUse{src: raw, found: shell.Unreadable(raw, "not a command")}
		return
	}
	f.shell = &shellUse{src: src, found: shell.Analyse(src)}
	f.unmatched = f.shell.unmatched()
	f.protectWords()
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		switch value := f.fields[name]; {
		case name == "command" || name == "description" || name == "timeout" || name == "run_in_background":
		case name == "dangerouslyDisableSandbox" && value == false:
		case name == "dangerouslyDisableSandbox":
			f.concern("it would run outside the agent's sandbox")
		default:
			f.concern("the input has a field %.40q that may change how it runs", name)
		}
	}
}

// effects says what the command would do.
func (f *Facts) effects() *shell.Facts {
	if f.shell.does == nil {
		f.shell.does = shell.Read(f.shell.src, shell.Env{Dir: f.call.Dir, Home: f.home.given, Project: f.project.given})
	}
	return f.shell.does
}

func (u *shellUse) unmatched() string {
	switch cs := u.found.Commands; {
	case u.found.Err != "":
		return "the command can't be read: " + u.found.Err
	case u.found.Plain != nil:
		return ""
	case len(cs) > 0 && cs[0].Literal && cs[0].Wrapper && !cs[0].Guess:
		return fmt.Sprintf("no rule can allow %s: it runs what its arguments say", cs[0].Program())
	}
	return "no rule can allow this: it is not one plain command"
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
	case allow && shell.Analyse(text).Plain == nil:
		return nil, errors.New("this is never one plain command, so no rule can allow it")
	}
	return words{want, more}, nil
}

// match implements matcher.
func (w words) match(f *Facts, allow bool, to []hit) ([]hit, error) {
	switch u := f.shell; {
	case u == nil:
		return to, nil
	case allow && w.certain(u.found.Plain):
		return append(to, u.hit(*u.found.Plain)), nil
	case allow:
		return to, nil
	case len(w.want) == 0:
		return append(to, hit{field: "command"}), nil
	default:
		return w.possible(u, to), nil
	}
}

// certain matches if the whole command line is one plain command.
func (w words) certain(p *shell.Command) bool {
	n := len(w.want)
	return p != nil && !p.Wrapper && len(p.Words) >= n && (len(p.Words) == n || w.more) && slices.Equal(p.Words[:n], w.want)
}

// possible matches every command that is found, and behind wrappers at every
// word: sudo -u x rm y.
func (w words) possible(u *shellUse, to []hit) []hit {
	n := len(to)
	for _, c := range u.found.Commands {
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
// git -C . push. Unless more may follow, the last word must be the rule'f.
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
	return hit{field: "command", part: u.src[c.Start:c.End], start: c.Start, end: c.End}
}
