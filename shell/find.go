package shell

import (
	"strings"
	"sync"
)

// find reads paths, then an expression. Its tables are those of GNU find, with
// what BSD adds.
func find(u *usage) WordValue {
	u.findOptions()
	roots := u.findPaths()
	found := WordValue{Kind: Listed, Text: "."}
	switch {
	case len(roots) == 1 && roots[0].Known() && roots[0].Text != "":
		found.Text = roots[0].Text
	case len(roots) > 0:
		found = WordValue{Kind: Begins, Text: "/"} // somewhere, and no option
	}
	names := true
	for len(u.args) > 0 {
		names = names && u.args[0].Text != "-printf" && u.args[0].Text != "-ls"
		u.findTerm(roots, &found)
	}
	if !names {
		return WordValue{} // whatever the format says
	}
	return found
}

func (u *usage) findOptions() {
	for len(u.args) > 0 && u.args[0].Known() {
		switch t := u.args[0].Text; {
		case t == "-D" && len(u.args) == 1:
			u.args = nil
		case t == "-D", t == "-f" && len(u.args) > 1:
			if t == "-f" {
				u.file(Reads, u.args[1], u.st)
			}
			u.args = u.args[2:]
		case strings.HasPrefix(t, "-O") || t == "--":
			u.args = u.args[1:]
		case len(t) > 1 && t[0] == '-' && strings.Trim(t[1:], "HLPEXdsx") == "":
			u.args = u.args[1:]
		default:
			return
		}
	}
}

func (u *usage) findPaths() []WordValue {
	var roots []WordValue
	for len(u.args) > 0 {
		w := u.args[0]
		if w.Known() && (w.Text == "!" || w.Text == "(" || w.Text == ")" || w.Text == "," || strings.HasPrefix(w.Text, "-")) {
			break
		}
		if mayBeOption(w) || w.Kind == Glob && strings.HasPrefix(w.Text, "*") {
			u.blame(Unknown, "MAY_BE_OPTION", w)
		}
		u.file(Reads, w, u.st)
		roots = append(roots, w)
		u.args = u.args[1:]
	}
	if len(roots) == 0 {
		u.file(Reads, WordValue{Kind: Const, Text: "."}, u.st)
	}
	return roots
}

var (
	findAlone = names(`! -not -a -and -o -or , ( ) -true -false -daystart -depth -d -mount -xdev -x -noleaf -follow
		-ignore_readdir_race -noignore_readdir_race -warn -nowarn -empty -executable -readable -writable -nogroup -nouser
		-print -print0 -ls -prune -quit -help --help -version --version -acl -xattr -sparse`)
	findText = names(`-amin -atime -cmin -ctime -mmin -mtime -fstype -gid -group -ilname -iname -inum -ipath -iregex
		-iwholename -links -lname -name -path -perm -regex -size -type -uid -used -user -wholename -xtype -context -maxdepth
		-mindepth -regextype -printf -since -flags -Bmin -Btime -xattrname`)
	findNames = names(`-name -iname -path -ipath -wholename -iwholename -regex -iregex`)
	findFile  = names(`-anewer -cnewer -newer -samefile -mnewer -Bnewer`)
	findWrite = names(`-fprint -fprint0 -fls -fprintf`)
	findExec  = names(`-exec -execdir -ok -okdir`)
)

// names is a list of words, read when one is first looked for: hardly any
// process needs more than a few lists.
func names(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for _, n := range strings.Fields(list) {
			out[n] = true
		}
		return out
	})
}

func (u *usage) findTerm(roots []WordValue, found *WordValue) {
	w := u.args[0]
	u.args = u.args[1:]
	t := w.Text
	switch {
	case !w.Known():
		u.blame(Unknown, "MAY_BE_OPTION", w)
	case findAlone()[t]:
		if t == "!" || t == "-not" || t == "-o" || t == "-or" || t == "," {
			u.choice, found.named = true, nil // which names are found is not clear
		}
	case findText()[t]:
		v := u.findValue(w)
		if findNames()[t] && (secretGlob(v.Text) || secretPath(v.Text)) {
			found.secret = true
		}
		if t == "-name" && v.Known() && !u.choice {
			found.named = &v.Text
		}
	case findFile()[t] || strings.HasPrefix(t, "-newer"):
		u.file(Reads, u.findValue(w), u.st)
	case findWrite()[t]:
		u.file(Writes, u.findValue(w), u.st)
		if t == "-fprintf" {
			u.findValue(w)
		}
	case findExec()[t]:
		if strings.HasPrefix(t, "-ok") {
			u.blame(Unknown, "WAITS_FOR_ANSWER", w)
		}
		u.findRuns(*found)
	case t == "-delete":
		for _, r := range roots {
			u.file(Deletes, r, u.st)
		}
		u.blame(Deletes, "FIND_DELETE", w)
	default:
		u.add(Effect{Code: "UNKNOWN_OPTION", Detail: "find " + t, Start: w.Start, End: w.End})
	}
}

// findValue takes the word behind a test. If it may be several words, what
// follows is no longer certain.
func (u *usage) findValue(test WordValue) WordValue {
	if len(u.args) == 0 {
		return WordValue{Kind: Const, Start: test.Start, End: test.End}
	}
	w := u.args[0]
	u.args = u.args[1:]
	if w.Kind == Fields || w.Kind == Glob || w.Kind == Listed {
		u.blame(Unknown, "MAY_BE_OPTION", w)
	}
	return w
}

// findRuns judges the command of -exec for a path that is found.
func (u *usage) findRuns(found WordValue) {
	var command []WordValue
	for len(u.args) > 0 {
		w := u.args[0]
		u.args = u.args[1:]
		if w.Known() && (w.Text == ";" || w.Text == "+" && len(command) > 0 && command[len(command)-1].Text == "{}") {
			break
		}
		command = append(command, w)
	}
	if len(command) == 0 {
		u.unknown("NO_OPERAND", "find -exec")
		return
	}
	if found.Kind == Listed {
		found.Kind = Names
	}
	u.run(substitute(command, "{}", found), "find -exec")
}
