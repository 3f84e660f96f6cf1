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
	top    reader
	state  state
	source strings.Reader
	free   []WordValue // not yet given away
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
	a.env, a.budget, a.funcs = env, maxCommands, nil
	a.facts = Facts{Commands: a.commands[:0], Effects: a.effects[:0]}
	a.free, a.spare = a.words[:], &a.usage
	a.args[0] = WordValue{Kind: Fields}
	a.state = state{dir: env.Dir, args: a.args[:]}
	return a
}

// small is room for the facts of most commands, in one piece.
type small struct {
	facts    Facts
	commands [1]Simple
	words    [3]WordValue
	effects  [1]Effect
}

// finish returns the facts in memory of their own, and gives the reading back.
func (a *reading) finish() *Facts {
	commands, effects, n := a.facts.Commands, a.facts.Effects, 0
	for i := range commands {
		n += len(commands[i].Words)
	}
	var out *Facts
	var words []WordValue
	if len(commands) <= 1 && len(effects) <= 1 && n <= 3 {
		s := &small{}
		out, words = &s.facts, s.words[:0]
		out.Commands = append(s.commands[:0], commands...)
		out.Effects = append(s.effects[:0], effects...)
	} else {
		out, words = &Facts{}, make([]WordValue, 0, n)
		out.Commands = append(make([]Simple, 0, len(commands)), commands...)
		out.Effects = append(make([]Effect, 0, len(effects)), effects...)
	}
	out.Guesses = a.facts.Guesses
	for i := range out.Commands {
		c, from := &out.Commands[i], len(words)
		words = append(words, c.Words...)
		c.Words = words[from:len(words):len(words)]
	}
	a.release()
	return out
}

// release gives a back. What it read stays in it until it reads again; of long
// lines it keeps nothing.
func (a *reading) release() {
	a.quick.reset()
	if len(a.facts.Commands) > len(a.commands) || len(a.facts.Effects) > len(a.effects) || cap(a.funcs) > 0 {
		*a = reading{}
	}
	readings.Put(a)
}

// room returns an empty list for n words.
func (a *reading) room(n int) []WordValue {
	if n > len(a.free) {
		a.free = make([]WordValue, max(n, len(a.words)))
	}
	out := a.free[:0:n]
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
