package shell

import "slices"

// An Action is one kind of thing that a command does. The zero value is the
// worst: nobody knows what.
type Action uint8

// Actions, by what a person would call them.
const (
	Unknown           Action = iota // can't be known from the text
	Reads                           // a file or folder
	Writes                          // creates or changes a file
	Deletes                         // removes a file
	Executes                        // runs code that the text does not show
	Connects                        // talks to a host that the words choose
	AsksService                     // asks a service that is set up on the machine
	ChangesService                  // changes something there
	ShowsSecret                     // shows credentials
	GainsRights                     // gains or gives rights
	ActsOnSystem                    // acts on other processes, or on the machine
	ChangesRepository               // changes a repository
	ChangesShell                    // changes the shell that goes on to live
)

var actionNames = [...]string{
	"unknown", "read", "write", "delete", "exec", "net", "remote-read", "remote-write",
	"secret", "privilege", "process", "repository", "session",
}

func (a Action) String() string { return actionNames[a] }

// An Effect is one thing that a command line would do, or may do.
type Effect struct {
	Action Action
	// Below says that Path is only where the files lie; Which says which.
	Below bool
	// Code names the reason: UNKNOWN_OPTION, WRITE_REDIRECT. Detail is the word
	// that is to blame, as it is known.
	Code, Detail string
	// Path is set for files: absolute and clean if the directory is known, ""
	// if the path can't be known.
	Path string
	// Walked is Path before ".." was removed, if there is one: behind a link it
	// is the parent of where that leads.
	Walked string
	Which  *Which // nil is all
	// Start and End are bytes of the source.
	Start, End int
	// Command is the index of the command that has the effect.
	Command int
}

// Which says which files below a folder are meant.
type Which struct {
	Glob    string // a pattern of the shell, or "" for all at any depth
	Named   string // what the last element matches, with braces; "" is anything
	Visible bool   // none behind a name with a dot in front
	Linked  bool   // links are followed
}

// A WordKind says how much is known about a word.
type WordKind uint8

// Kinds of words. Of all but Const and OneOf, Text is the beginning that is known.
const (
	Any     WordKind = iota // any text, one word
	Fields                  // any text, any number of words, perhaps none
	Const                   // Text is the value
	OneOf                   // one of Alts
	Glob                    // file names that the pattern Text matches, or Text itself
	Names                   // a path at or below Text, "" for the working directory
	Listed                  // any number of such paths
	Begins                  // one word that begins with Text
	Integer                 // a number
)

// A WordValue is a word as the command gets it.
type WordValue struct {
	Kind       WordKind
	secret     bool // the names were chosen as those of credentials
	home       bool // the text begins with a home directory that was written ~
	Text       string
	Alts       []string
	Start, End int
	named      *string // what the names were chosen by
}

// Known reports whether the value is certain.
func (w WordValue) Known() bool { return w.Kind == Const }

// A Redirect is a redirection of a command to or from a file, or a
// here-document.
type Redirect struct {
	Op         string
	Target     WordValue
	Start, End int
}

// A Simple is one command that the text would run, after expansion.
type Simple struct {
	Words      []WordValue
	Dir        string   // where it runs, "" if that is not known
	Via        []string // the programs that run it, outermost first: sudo, xargs
	Redirects  []Redirect
	Start, End int
}

// Facts is what a command line would do.
type Facts struct {
	Commands []Simple
	Effects  []Effect
	// Guesses are commands that a raw split finds if the text can't be read,
	// for rules that forbid.
	Guesses []Command
}

// Of returns the effects of the command with that index.
func (f *Facts) Of(command int) []Effect {
	var out []Effect
	for _, e := range f.Effects {
		if e.Command == command {
			out = append(out, e)
		}
	}
	return out
}

// Readable reports whether all of the text could be read. What it does may
// still be unknown.
func (f *Facts) Readable() bool { return f.Guesses == nil }

// A Scope is what may be done without asking.
type Scope struct {
	Roots  []string // folders that may be read, without secrets in them
	Remote bool     // services that are set up may be asked
}

// Beyond returns the effects that are more than reading within the scope.
func (f *Facts) Beyond(s Scope) []Effect {
	var out []Effect
	for _, e := range f.Effects {
		if !s.holds(e) {
			out = append(out, e)
		}
	}
	return out
}

// ReadOnly reports whether the command line does nothing but read within the
// scope.
func (f *Facts) ReadOnly(s Scope) bool {
	return f.Readable() && !slices.ContainsFunc(f.Effects, func(e Effect) bool { return !s.holds(e) })
}

func (s Scope) holds(e Effect) bool {
	switch e.Action {
	case Reads:
		return e.Path != "" && slices.ContainsFunc(s.Roots, func(root string) bool { return within(root, e.Path) })
	case AsksService:
		return s.Remote
	default:
		return false
	}
}
