package shell

import (
	"fmt"
	"slices"
	"strings"
)

// Runs says why a plain command must not be remembered: it may run what its
// words say, or what a file says that they name, and that file may change. ""
// is no promise that it does not: a program that nobody knows is not known to.
//
// It is stricter than IsWrapper, which no rule may allow at all. What a person
// writes into a rule was thought about; what is remembered was one click.
func Runs(words []string) string {
	if len(words) == 0 {
		return "there is no command"
	}
	program, args := words[0], words[1:]
	_, evaluates := lookUp(evaluators(), program)
	switch {
	case strings.Contains(program, "/"):
		return program + " is a file, and what is in it may change"
	case evaluates || IsWrapper(program):
		return program + " runs what its arguments say"
	}
	options, _ := lookUp(runsBeginnings, program)
	for _, arg := range args {
		if runsOption(arg, options) {
			return fmt.Sprintf("the option %s of %s may name a program to run", arg, program)
		}
	}
	if _, git := lookUp(gitItself(), program); git {
		return gitRuns(args)
	}
	subcommands, _ := lookUp(runsSubcommand(), program)
	letters, _ := lookUp(runsLetters, program)
	for i, arg := range args {
		undashed := i == 0 && strings.HasSuffix(program, "tar") // tar xIf
		switch {
		case subcommands[arg]:
			return fmt.Sprintf("%s %s runs what its arguments say", program, arg)
		case (undashed || isCluster(arg)) && strings.ContainsAny(arg, letters):
			return fmt.Sprintf("the option %s of %s may name a program to run", arg, program)
		}
	}
	return ""
}

// Builds reports whether a program is known to run what the files of a project
// tell it to. The same words do something else in another project.
func Builds(program string) bool {
	_, found := lookUp(builders(), program)
	return found
}

// runsOption knows the options by which programs take a program to run. Of
// those in beginnings any beginning is enough, as GNU programs and Git read it.
func runsOption(arg string, beginnings []string) bool {
	name, _, _ := strings.Cut(arg, "=")
	long, isLong := strings.CutPrefix(name, "--")
	if !isLong {
		short, isOption := strings.CutPrefix(name, "-")
		return isOption && runsOptions()[short] // go test -exec
	}
	return runsOptions()[long] || long != "" && slices.ContainsFunc(beginnings, func(option string) bool {
		return strings.HasPrefix(option, long)
	})
}

// isCluster reports whether a word is one-letter options.
func isCluster(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
}

// gitRuns allows what is known: another subcommand may be an alias, and an
// option in front of it may set one.
func gitRuns(args []string) string {
	for len(args) > 0 && gitHarmless()[args[0]] {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return ""
	case strings.HasPrefix(args[0], "-"):
		return fmt.Sprintf("git %s may change what git runs", args[0])
	case !gitSubcommands()[args[0]]:
		return fmt.Sprintf("git %s may be an alias, or run what its arguments say", args[0])
	}
	letters := map[string]string{"rebase": "x", "grep": "O"}[args[0]]
	for _, arg := range args[1:] {
		switch {
		case strings.Contains(arg, "::"):
			return fmt.Sprintf("git runs a program to reach %s", arg)
		case isCluster(arg) && strings.ContainsAny(arg, letters):
			return fmt.Sprintf("the option %s of git %s may name a program to run", arg, args[0])
		}
	}
	return ""
}
