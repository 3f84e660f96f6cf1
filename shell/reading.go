package shell

import (
	"strings"
	"sync"
)

// A reading is what all readers of one command line share. It is used again and
// again, since most lines are short and memory costs more than reading them:
// nothing that is handed out may point into it.
type reading struct {
	env    Env
	facts  Facts
	budget int         // commands that may still be read
	funcs  []*function // all that the script defines
	state  state
	source strings.Reader
	free   []WordValue // not yet given away
	given  int         // of words
	spare  *usage      // not in use

	commands [8]Simple
	effects  [16]Effect
	words    [32]WordValue
	args     [1]WordValue
	usage    usage
	quick    quick
}

var readings = sync.Pool{New: func() any { return new(reading) }}

func newReading(env Env) *reading {
	a, _ := readings.Get().(*reading)
	a.env, a.budget = env, maxCommands
	a.facts.Commands, a.facts.Effects = a.commands[:0], a.effects[:0]
	a.free, a.spare = a.words[:], &a.usage
	a.args[0] = WordValue{Kind: Fields}
	a.state = state{dir: env.Dir, args: a.args[:]}
	return a
}

// finish returns the facts in memory of their own, and gives the reading back.
func (a *reading) finish() *Facts {
	out := &Facts{Guesses: a.facts.Guesses}
	n := 0
	for i := range a.facts.Commands {
		n += len(a.facts.Commands[i].Words)
	}
	words := make([]WordValue, 0, n)
	if len(a.facts.Commands) > 0 {
		out.Commands = append(make([]Simple, 0, len(a.facts.Commands)), a.facts.Commands...)
	}
	for i := range out.Commands {
		c, from := &out.Commands[i], len(words)
		words = append(words, c.Words...)
		c.Words = words[from:len(words):len(words)]
	}
	if len(a.facts.Effects) > 0 {
		out.Effects = append(make([]Effect, 0, len(a.facts.Effects)), a.facts.Effects...)
	}
	a.release()
	return out
}

// release forgets what was read, and no more than was used.
func (a *reading) release() {
	clear(a.commands[:min(len(a.facts.Commands), len(a.commands))])
	clear(a.effects[:min(len(a.facts.Effects), len(a.effects))])
	clear(a.words[:a.given])
	a.usage, a.state, a.facts, a.env = usage{}, state{}, Facts{}, Env{}
	a.funcs, a.free, a.given = nil, nil, 0
	a.source.Reset("")
	a.quick.reset()
	readings.Put(a)
}

// room returns an empty list for n words.
func (a *reading) room(n int) []WordValue {
	if n > len(a.free) {
		a.given = len(a.words)
		a.free = make([]WordValue, max(n, len(a.words)))
	}
	out := a.free[:0:n]
	a.given = min(len(a.words), a.given+n)
	a.free = a.free[n:]
	return out
}

// use returns a usage that nobody else has, until done.
func (a *reading) use() *usage {
	u := a.spare
	if u == nil {
		return &usage{}
	}
	a.spare = nil
	return u
}

func (a *reading) done(u *usage) { a.spare = u }
