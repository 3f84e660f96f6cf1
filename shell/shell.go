// Package shell says what a command line would do, without running it: [Read]
// gives its commands and their effects, by what is known about each program
// (the files in spec). What can't be known is an effect, too.
//
// [Plain] is for rules that allow: the words of a text that can't be anything but
// one simple command. [Analyse] is for rules that forbid where something is not
// known: everything that looks like a command, however deep, and rather too much.
// Aliases and functions that a shell has from elsewhere are out of sight of all.
package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits. A longer or deeper text is not parsed, only split into raw words.
const (
	MaxPlain  = 8 << 10
	MaxSource = 64 << 10
	maxParens = 200
	maxNested = 4             // scripts within arguments within scripts
	maxGuess  = 4 * MaxSource // bytes of such scripts in all
	guessCost = 64            // bytes that even the shortest counts for
)

// An Analysis is what was found in one command line.
type Analysis struct {
	// Commands holds every simple command, also those in substitutions,
	// subshells, functions and loops, and guesses at scripts in arguments.
	// If Err is set it holds what a raw split into words finds, so that a rule
	// that forbids can still look.
	Commands []Command
	// Err says why the text can't be read.
	Err string
}

// A Command is one simple command. Builtins, declarations, tests and
// co-processes count as such.
type Command struct {
	Words      []string // a word that is not known stands as written
	Literal    bool     // all words are known
	Start, End int      // bytes of the source; of the outer command for a guess
	// Wrapper says that some word behind the first may be run or evaluated: the
	// program is in the table of wrappers, or is not known.
	Wrapper bool
	// Guess says that the shell itself does not read these words as a command:
	// they were found in an argument, or in text that does not parse.
	Guess bool
}

// Program returns the last element of the first word's path.
func (c Command) Program() string {
	if len(c.Words) == 0 {
		return ""
	}
	return base(c.Words[0])
}

func base(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }

// Analyse looks at a command line. It never fails: what it can't read it says
// in Err.
func Analyse(src string) (a Analysis) {
	defer func() {
		if p := recover(); p != nil {
			a = Unreadable(src, fmt.Sprintf("the parser failed: %.80v", p))
		}
	}()
	left := maxGuess
	return analyse(src, 0, &left)
}

// Unreadable is the analysis of a text that must not be parsed.
func Unreadable(src, why string) Analysis {
	return Analysis{Commands: raw(src), Err: why}
}

func analyse(src string, depth int, left *int) Analysis {
	if why := hostile(src); why != "" {
		return Unreadable(src, why)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err != nil {
		return Unreadable(src, fmt.Sprintf("%.120s", err.Error()))
	}
	w := walker{src: src, depth: depth, left: left}
	syntax.Walk(f, w.visit)
	a := Analysis{Commands: w.found}
	switch {
	case ambiguous(src):
		a.Err = "shells read this text in different ways"
	case *left < 0:
		a.Err = "too many scripts within scripts"
	default:
		return a
	}
	a.Commands = append(a.Commands, raw(src)...)
	return a
}

// hostile says why a text is not given to the parser at all.
func hostile(src string) string {
	if len(src) > MaxSource {
		return fmt.Sprintf("longer than %d bytes", MaxSource)
	}
	depth := 0
	for i := range len(src) {
		switch src[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(0, depth-1)
		}
		if depth > maxParens {
			return fmt.Sprintf("nested deeper than %d", maxParens)
		}
	}
	return ""
}
