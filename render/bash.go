package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/shell"
)

func bash(c *gatelatch.Call, in *input) (Card, bool) {
	command, ok := in.text("command")
	if !ok {
		return Card{}, false
	}
	// The description stands apart, as what the agent says.
	if text, ok := in.text("description"); ok {
		in.shown["description"] = text == c.Claim
	}
	parts, words := anatomy(command)
	card := Card{
		Icon: iconTerm, Subject: OneLine(command), Touches: touches(c.Verdict.Needs, parts),
		Blocks: []Block{{Kind: "command", Segments: dissect(command, asked(c.Verdict.Reasons, len(command)), parts, words), Bytes: len(command)}},
	}
	if card.Says, card.Say = about(card.Touches); card.Says == "" {
		card.Says, card.Say = runs(command)
	}
	return card, true
}

// runs says what a command line runs. A program's name stands in it only if it
// can't be taken for words of ours.
func runs(command string) (string, Say) {
	a := shell.Analyse(command)
	if a.Err != "" {
		return "Runs a script that can't be read", Say{Key: "unreadable"}
	}
	found := slices.DeleteFunc(slices.Clone(a.Commands), func(c shell.Command) bool { return c.Guess })
	switch n := len(found); n {
	case 0:
		return "Runs a script without a command", Say{Key: "nothing"}
	case 1:
		if program := name(found[0].Words[0]); program == found[0].Words[0] {
			if verb := verbOf(found[0].Words); verb != "" {
				program = name(program + " " + verb)
			}
			return "Runs " + program, Say{Key: "runs", What: program}
		}
		return "Runs one command", Say{Key: "commands", Count: 1}
	default:
		return "Runs " + count(n, "command"), Say{Key: "commands", Count: n}
	}
}

// verbOf returns what a program is told to do, or the script that it runs: the
// word behind it, if that is simple.
func verbOf(words []string) string {
	if len(words) < 2 || strings.HasPrefix(words[1], "-") || name(words[1]) != words[1] || len(words[1]) > 40 {
		return ""
	}
	return words[1]
}

type span struct{ start, end int }

type word struct {
	span
	role string
}

// anatomy finds the commands of a line that stand in no other one, and their
// words. What can't be read has none.
func anatomy(command string) (parts []span, words []word) {
	facts := shell.Read(command, shell.Env{})
	if !facts.Readable() {
		return nil, nil
	}
	outer := slices.Clone(facts.Commands)
	slices.SortStableFunc(outer, func(a, b shell.Simple) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	end := 0
	for _, c := range outer {
		if c.Start < end || c.Start >= c.End || c.End > len(command) {
			continue
		}
		end = c.End
		for _, r := range c.Redirects {
			if end < r.End && r.End <= len(command) && !strings.Contains(command[end:r.End], "\n") {
				end = r.End
			}
		}
		parts = append(parts, span{c.Start, end})
		words = append(words, wordsOf(command, c)...)
	}
	return parts, words
}

func wordsOf(command string, c shell.Simple) (out []word) {
	last := c.Start
	for i, w := range c.Words {
		if w.Start < last || w.Start >= w.End || w.End > c.End {
			continue
		}
		role := "word"
		switch {
		case i == 0:
			role = "prog"
		case strings.HasPrefix(command[w.Start:w.End], "-"):
			role = "opt"
		}
		out, last = append(out, word{span{w.Start, w.End}, role}), w.End
	}
	return out
}
