package shell

import "strings"

//go:generate go run ./spec/gen

// A shape says what an operand or the value of an option is.
type shape uint8

const (
	asNone    shape = iota // an option that takes no value
	asText                 // any text
	asRead                 // a file or folder to read
	asWrite                // a file to write
	asDelete               // a file to remove
	asProgram              // a program to run
	asShell                // a line for a shell
	asLine                 // this and what follows is a line for a shell
	asArgv                 // this and what follows is a command
	asScript               // a file with code to run
	asCode                 // code to run
	asHost                 // a host or URL to talk to
	asAssign               // a variable for what is run
	asName                 // a variable to assign to
	asSecret               // a credential, or what names one
	asChange               // something that is changed: a process, a branch, an object
	asPath                 // a folder to work in
)

// A trait says how a program reads its words.
type trait uint16

const (
	gnu      trait = 1 << iota // the beginning of a long option is enough
	stops                      // options end at the first operand
	numeric                    // -20 is an option
	single                     // long options have one dash
	readonly                   // no option makes it do more than read
	open                       // an option that is not listed does nothing special
	assigns                    // a builtin that changes variables or the directory
	needs                      // without operands it does something else
	letters                    // the first operand may be options without a dash
	here                       // without operands it reads the working directory
)

// actions is a set of them.
type actions uint16

func (a actions) each(yield func(Action) bool) {
	for i := Unknown; i <= ChangesShell; i++ {
		if a&(1<<i) != 0 && !yield(i) {
			return
		}
	}
}

// An option of a program, under one of its names.
type option struct {
	name     string
	takes    shape
	two      bool // takes two values; the first is a name
	optional bool // a value stands in the same word, or there is none
	instead  bool // takes the place of the first operand
	help     bool // all else is ignored
	does     actions
}

// A spec is what is known about a program or one of its subcommands. The
// tables are written by spec/gen from spec/*.yaml.
type spec struct {
	name     string
	traits   trait
	options  []option // by name
	operands []shape  // the last one repeats if many is set
	many     bool
	does     actions
	when     []when
	commands []spec   // by name; those with a * stand last
	groups   []string // words that may stand in front of a command
	grammar  string
	output   string
	env      []string // variables that it reads
	envKnown bool     // … and no others
	recall   recall
	asks     []string // examples that are asked about
}

// when changes a spec by the options that are given.
type when struct {
	with, without []string
	operands      []shape
	many          bool
	does          actions
}

func (s *spec) is(t trait) bool { return s.traits&t != 0 }

// findSpec finds a program by any of the names it goes by.
func findSpec(name string) *spec {
	if name == "" {
		return nil
	}
	some := specNames[specsFrom[name[0]]:specsFrom[int(name[0])+1]]
	if i := search(len(some), func(i int) bool { return some[i].name >= name }); i < len(some) && some[i].name == name {
		return &specTable[some[i].at]
	}
	if strings.HasPrefix(name, "g") && len(name) > 1 {
		if s := findSpec(name[1:]); s != nil && s.is(gnu) { // GNU programs on other systems
			return s
		}
		return nil
	}
	if short := strings.TrimRight(name, "0123456789."); short != "" && short != name && short[len(short)-1] != '-' {
		if s := findSpec(short); s != nil && s.grammar == "interpreter" { // python3.12
			return s
		}
	}
	return nil
}

// specsFrom tells where in specNames the names with a first letter begin.
var specsFrom = func() (from [257]int) {
	at := 0
	for c := range from {
		for at < len(specNames) && int(specNames[at].name[0]) < c {
			at++
		}
		from[c] = at
	}
	return from
}()

// search is sort.Search, made to be inlined.
func search(n int, from func(int) bool) int {
	i, j := 0, n
	for i < j {
		if h := int(uint(i+j) >> 1); from(h) {
			j = h
		} else {
			i = h + 1
		}
	}
	return i
}

type specName struct {
	name string
	at   int
}

// option finds an option by its name, or by the beginning of it.
func (s *spec) option(name string) *option {
	i := search(len(s.options), func(i int) bool { return s.options[i].name >= name })
	if i < len(s.options) && s.options[i].name == name {
		return &s.options[i]
	}
	if !s.is(gnu) || !strings.HasPrefix(name, "--") || len(name) < 3 {
		return nil
	}
	var found *option
	for ; i < len(s.options) && strings.HasPrefix(s.options[i].name, name); i++ {
		o := &s.options[i]
		if found != nil && (found.takes != o.takes || found.does != o.does || found.optional != o.optional || found.instead != o.instead) {
			return nil // which one is not known
		}
		found = o
	}
	return found
}

// command finds a subcommand.
func (s *spec) command(name string) *spec {
	plain := len(s.commands)
	for plain > 0 && strings.Contains(s.commands[plain-1].name, "*") {
		plain--
	}
	if i := search(plain, func(i int) bool { return s.commands[i].name >= name }); i < plain && s.commands[i].name == name {
		return &s.commands[i]
	}
	for i := len(s.commands) - 1; i >= plain; i-- {
		before, after, _ := strings.Cut(s.commands[i].name, "*")
		if len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			return &s.commands[i]
		}
	}
	return nil
}
