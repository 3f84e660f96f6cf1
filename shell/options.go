package shell

import (
	"slices"
	"strings"
)

// A usage is the words of one command, read by the spec of its program.
type usage struct {
	*reader
	st       *state
	spec     *spec
	chain    []*spec // the specs of the commands around it, for their options
	name     string  // the program with its subcommands
	args     []WordValue
	operands []WordValue
	from     []WordValue // the words from the first operand on
	given    []given
	few      [3]given // room for most
	outer    [2]*spec // … and for chain
	loose    int      // operands before the first that may be none or several; -1: there is none
	ended    bool     // after --
	help     bool
	strange  bool // an option is not known
	unlisted bool // an option is not listed, and need not be
	choice   bool // find has more than one expression
	grouped  bool // the last word was one that stands in front of a command
}

// begin makes a usage that may have been another one ready for a command.
func (u *usage) begin(r *reader, st *state, s *spec, name string, args []WordValue) {
	u.reader, u.st, u.spec, u.name, u.args = r, st, s, name, args
	u.chain, u.operands, u.from, u.given, u.loose = u.outer[:0], nil, nil, u.few[:0], -1
	u.ended, u.help, u.strange, u.unlisted, u.choice, u.grouped = false, false, false, false, false, false
}

type given struct {
	*option
	value WordValue
}

// has reports whether one of the options was given.
func (u *usage) has(names ...string) bool {
	for _, g := range u.given {
		for _, n := range names {
			if g.name == n {
				return true
			}
		}
	}
	return false
}

func (u *usage) value(names ...string) (WordValue, bool) {
	for i := len(u.given) - 1; i >= 0; i-- {
		for _, n := range names {
			if u.given[i].name == n {
				return u.given[i].value, true
			}
		}
	}
	return WordValue{}, false
}

// parse sorts words into options and operands, until a subcommand.
func (u *usage) parse() {
	for len(u.args) > 0 {
		w := u.args[0]
		switch {
		case u.ended || !mayBeOption(w):
			if len(u.spec.commands) > 0 && len(u.operands) == 0 {
				if !u.descend(w) {
					return
				}
				continue
			}
			if u.spec.is(letters) && len(u.operands) == 0 && len(u.given) == 0 && w.Known() && w.Text != "" && !u.ended {
				u.args = u.args[1:]
				u.cluster(w, "-"+w.Text, true)
				continue
			}
			u.operand(w)
			if u.spec.is(stops) {
				u.ended = true
			}
		case w.Kind != Const && !u.certain(w):
			u.doubt(w)
		case w.Text == "--":
			u.ended = true
			u.args = u.args[1:]
		case strings.HasPrefix(w.Text, "--"):
			u.long(w)
		default:
			u.short(w)
		}
	}
}

func (u *usage) operand(w WordValue) {
	if w.Kind == Fields || w.Kind == Glob || w.Kind == Listed {
		if u.loose < 0 {
			u.loose = len(u.operands)
		}
	}
	if u.operands == nil {
		u.from = u.args
	}
	if n := len(u.operands); len(u.from) == n+len(u.args) { // nothing stood between them
		u.operands = u.from[: n+1 : n+1]
	} else {
		u.operands = append(u.operands, w)
	}
	u.args = u.args[1:]
}

func (u *usage) find(name string) *option {
	if o := u.spec.option(name); o != nil {
		return o
	}
	for i := len(u.chain) - 1; i >= 0; i-- {
		if o := u.chain[i].option(name); o != nil && (!o.help || name == "--help") { // docker -v, but compose down -v
			return o
		}
	}
	return nil
}

func (u *usage) long(w WordValue) {
	name, value, glued := strings.Cut(w.Text, "=")
	u.args = u.args[1:]
	o := u.find(name)
	switch {
	case o == nil:
		u.noOption(w, name)
	case glued && o.takes == asNone:
		u.take(o, WordValue{})
		if !isBool(value) {
			u.blame(Unknown, "UNKNOWN_OPTION", w)
		}
	case glued:
		v := w
		v.Text = value
		if w.Kind == Begins && value == "" {
			v.Kind = Any
		}
		u.take(o, v)
	default:
		u.next(o, w)
	}
}

// next takes an option whose value, if it has one, is the next word.
func (u *usage) next(o *option, w WordValue) {
	switch {
	case o.takes == asNone || o.optional:
		u.take(o, WordValue{})
	case len(u.args) == 0:
		u.take(o, WordValue{Kind: Const, Start: w.Start, End: w.End})
	default:
		v := u.args[0]
		if (v.Kind == Fields || v.Kind == Listed || v.Kind == Glob) && !u.spec.is(readonly) {
			u.blame(Unknown, "MAY_BE_OPTION", v)
		}
		u.args = u.args[1:]
		if o.two && len(u.args) > 0 {
			v, u.args = u.args[0], u.args[1:]
		}
		u.take(o, v)
	}
}

func (u *usage) short(w WordValue) {
	u.args = u.args[1:]
	if u.spec.is(numeric) && isInteger(w.Text) {
		return
	}
	if u.spec.is(single) {
		name, value, glued := strings.Cut(w.Text, "=")
		if o := u.find(name); o != nil {
			switch {
			case glued && o.takes == asNone:
				u.take(o, WordValue{})
				if !isBool(value) {
					u.blame(Unknown, "UNKNOWN_OPTION", w)
				}
			case glued:
				v := w
				v.Text = value
				u.take(o, v)
			default:
				u.next(o, w)
			}
			return
		}
	}
	u.cluster(w, w.Text, false)
}

// letterNames are the names of options of one letter.
var letterNames = func() (names [128]string) {
	for c := range names {
		names[c] = "-" + string(rune(c))
	}
	return names
}()

// cluster reads -abc, or abc if the first word may do without a dash: then
// values are the next words.
func (u *usage) cluster(w WordValue, text string, undashed bool) {
	for i := 1; i < len(text); i++ {
		var o *option
		if text[i] < 128 {
			o = u.find(letterNames[text[i]])
		}
		if o == nil {
			u.noOption(w, text)
			return
		}
		rest := text[i+1:]
		switch {
		case o.takes == asNone:
			u.take(o, WordValue{})
		case undashed:
			u.next(o, w)
		case rest != "":
			v := w
			v.Text = rest
			u.take(o, v)
			return
		default:
			u.next(o, w)
			return
		}
	}
}

func (u *usage) take(o *option, v WordValue) {
	if o.help && u.spec.grammar != "none" {
		u.help = true
	}
	u.given = append(u.given, given{o, v})
}

// descend goes on with a subcommand.
func (u *usage) descend(w WordValue) bool {
	var c *spec
	if w.Known() {
		c = u.spec.command(w.Text)
		_, group := slices.BinarySearch(u.spec.groups, w.Text)
		if group && (c == nil || strings.Contains(c.name, "*")) {
			u.name += " " + w.Text
			u.args, u.grouped = u.args[1:], true
			return true
		}
	}
	if c == nil {
		u.add(Effect{Code: "UNKNOWN_COMMAND", Detail: u.name + " " + w.Text, Start: w.Start, End: w.End})
		u.strange = true
		return false
	}
	u.chain = append(u.chain, u.spec)
	u.spec, u.name, u.grouped = c, u.name+" "+w.Text, false
	u.args = u.args[1:]
	return true
}
