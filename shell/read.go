package shell

import (
	"fmt"
	"slices"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Env is where a command line would run.
type Env struct {
	Dir     string // working directory, absolute; "" if it is not known
	Home    string
	Project string
	Files   Files // nil: nothing is known about files
}

// Files answers what only the machine knows. Its answers must not be older
// than the command.
type Files interface {
	// GitRuns returns the settings by which Git would run other programs in
	// dir: hooks, filters, pagers, aliases. It is not known if the
	// configuration can't be read.
	GitRuns(dir string) (settings []string, known bool)
	// Folder reports whether path is a folder that can be entered.
	Folder(path string) bool
	// Repository reports whether dir is there, and in a repository.
	Repository(dir string) bool
	// ProjectRuns returns the files of a project by which a program would run
	// code in dir, even if it is only asked to look.
	ProjectRuns(program, dir string) (files []string, known bool)
	// Shows returns the settings that hold credentials, of those that a program
	// prints in dir.
	Shows(program, dir string) (settings []string, known bool)
}

// Limits of one reading. Beyond them the answer is Unknown.
const (
	maxCommands = 4096
	maxScripts  = 8  // scripts within scripts
	maxCalls    = 12 // functions within functions
	maxAlts     = 16 // commands that one command may be
	maxBraces   = 256
)

var parsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// Read says what a command line would do. It never fails: what can't be known
// is an effect, too.
func Read(src string, env Env) (f *Facts) {
	defer func() {
		if p := recover(); p != nil {
			f = &Facts{}
			f.unreadable(src, "PARSER_FAILED", fmt.Sprintf("%.80v", p))
		}
	}()
	all := newReading(env)
	r := &all.top
	*r = reader{reading: all, src: src, span: span{0, len(src)}, at: -1}
	r.script(src, &all.state)
	r.uncalled()
	return all.finish()
}

// Uninspectable is the facts of a text that must not be read as a command.
func Uninspectable(src string) *Facts {
	f := &Facts{}
	f.unreadable(src, "NO_COMMAND", "")
	return f
}

// unreadable keeps the raw words of a text that can't be read.
func (f *Facts) unreadable(src, code, detail string) {
	f.Effects = append(f.Effects, Effect{Code: code, Detail: detail, End: len(src), Command: -1})
	f.Guesses = append(f.Guesses, raw(src)...)
}

type span struct{ start, end int }

// A reader walks one script. Scripts within it have a reader of their own that
// adds to the same facts.
type reader struct {
	*reading
	src   string
	inner bool // src is a word of another script: span is that word
	span  span
	via   []string
	depth int // scripts around this one
	calls int // functions around this one
	stdin *WordValue
	at    int // index of the command that is being judged
}

// script reads src in the state st, and returns what is known of its output.
func (r *reader) script(src string, st *state) WordValue {
	if why := hostile(src); why != "" {
		r.unreadable("TOO_LARGE", why)
		return WordValue{}
	}
	if ambiguous(src) {
		r.unreadable("AMBIGUOUS_TEXT", "shells read this text in different ways")
		return WordValue{}
	}
	if !r.inner {
		if list, ok := r.quick.read(src); ok {
			return r.stmts(list, st)
		}
	}
	p, _ := parsers.Get().(*syntax.Parser)
	r.source.Reset(src)
	file, err := p.Parse(&r.source, "")
	parsers.Put(p) // not after a panic
	if err != nil {
		r.unreadable("SYNTAX", err.Error())
		return WordValue{}
	}
	return r.stmts(file.Stmts, st)
}

func (r *reader) unreadable(code, why string) {
	r.unknown(code, why)
	r.facts.Guesses = append(r.facts.Guesses, raw(r.src)...)
	if r.facts.Guesses == nil {
		r.facts.Guesses = []Command{}
	}
}

// nested reads text as a script that a word of this one holds.
func (r *reader) nested(text WordValue, via string, st *state) WordValue {
	if !text.Known() {
		r.blame(Executes, "UNKNOWN_SCRIPT", text)
		return WordValue{}
	}
	if r.depth+1 >= maxScripts {
		r.unreadable("TOO_DEEP", "scripts within scripts")
		return WordValue{}
	}
	in := *r
	in.src, in.inner, in.depth = text.Text, true, r.depth+1
	in.span = span{text.Start, text.End}
	if via != "" {
		in.via = slices.Concat(r.via, []string{via})
	}
	return in.script(text.Text, st)
}

// spanOf returns where a node stands in the outermost source.
func (r *reader) spanOf(n syntax.Node) span {
	if r.inner {
		return r.span
	}
	start := min(int(n.Pos().Offset()), len(r.src))
	return span{start, max(start, min(int(n.End().Offset()), len(r.src)))}
}

// add records an effect of the command that is being judged.
func (r *reader) add(e Effect) {
	e.Command = r.at
	if e.End == 0 {
		e.Start, e.End = r.span.start, r.span.end
		if r.at >= 0 && r.at < len(r.facts.Commands) {
			e.Start, e.End = r.facts.Commands[r.at].Start, r.facts.Commands[r.at].End
		}
	}
	r.facts.Effects = append(r.facts.Effects, e)
}

func (r *reader) unknown(code, detail string) { r.add(Effect{Code: code, Detail: detail}) }

func (r *reader) blame(a Action, code string, w WordValue) {
	r.add(Effect{Action: a, Code: code, Detail: w.Text, Start: w.Start, End: w.End})
}
