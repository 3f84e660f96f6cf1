package shell

import (
	"slices"
	"strings"
)

// git runs what its configuration says.
func git(u *usage, out WordValue) WordValue {
	if u.help {
		return out
	}
	if u.env.Files == nil || u.st.dir == "" {
		u.unknown("GIT_CONFIG_UNKNOWN", "")
		return out
	}
	settings, known := u.env.Files.GitRuns(u.st.dir)
	if !known {
		u.unknown("GIT_CONFIG_UNKNOWN", u.st.dir)
	}
	for _, s := range settings {
		u.add(Effect{Action: Executes, Code: "GIT_CONFIG_RUNS", Detail: s})
	}
	if !gitShows()[u.spec.name] {
		for _, w := range u.operands {
			if w.home || strings.HasPrefix(w.Text, "/") {
				u.file(Reads, w, u.st)
			}
		}
	}
	if gitShows()[u.spec.name] {
		u.gitPaths()
		u.gitContents()
	}
	if u.has("--line-prefix", "--format") {
		return WordValue{} // whatever the format says
	}
	if u.has("--name-only") && !u.has("--relative") {
		return WordValue{Kind: Listed}
	}
	return out
}

// gitDir follows git -C: paths are seen from there, and the configuration is
// another. A folder that is not there yet may become anything.
func (u *usage) gitDir() {
	if u.root().grammar != "git" {
		return
	}
	move := u.root().option("-C")
	for _, g := range u.given {
		if g.option != move {
			continue
		}
		dir, below := u.st.resolve(g.value)
		u.file(Reads, g.value, u.st)
		if below || !g.value.Known() || g.value.Text == "" || u.st.stay != "" || u.env.Files == nil || !u.env.Files.Repository(dir) {
			u.unknown("GIT_CONFIG_UNKNOWN", g.value.Text)
		}
		u.st = u.st.clone()
		u.st.dir = dir
		u.facts.Commands[u.at].Dir = dir
	}
}

// gitRemote refuses transports that run a program.
func gitRemote(u *usage, out WordValue) WordValue {
	for _, w := range u.operands[:min(1, len(u.operands))] {
		if !w.Known() || strings.ContainsAny(w.Text, ":@/") {
			u.blame(Connects, "OPERAND_HOST", w)
		}
	}
	return out
}

// gitConfig shows a setting only if it is asked to.
func gitConfig(u *usage, out WordValue) WordValue {
	if len(u.operands) == 1 && u.operands[0].Known() && strings.Contains(u.operands[0].Text, ".") {
		return shows(u, out) // options that change are known as such
	}
	reads := u.has("--get", "--get-all", "--get-regexp", "--get-color", "--get-colorbool", "--get-urlmatch", "-l", "--list")
	if len(u.operands) > 0 && (u.operands[0].Text == "list" || u.operands[0].Text == "get") || reads {
		return shows(u, out)
	}
	u.add(Effect{Action: ChangesRepository, Code: "GIT_CONFIG", Detail: u.name})
	return out
}

// gitShows are commands that show what is in files.
var gitShows = names("diff log whatchanged show blame annotate grep cat-file diff-tree diff-files diff-index range-diff")

// Committed is the code of reading what Git keeps of a repository's files,
// CommittedAt of those at or below a path.
const (
	Committed   = "READ_COMMITTED"
	CommittedAt = "READ_COMMITTED_AT"
)

// gitPatches are options that show lines of files, gitOutlines those that show
// something else instead.
var (
	gitPatches  = []string{"-p", "-u", "--patch", "-U", "--unified", "--patch-with-stat", "--patch-with-raw", "-c", "--cc", "--dd", "--remerge-diff", "-L", "-W", "--function-context", "--word-diff", "--color-words", "--word-diff-regex"}
	gitOutlines = map[string][]string{
		"grep":     {"-l", "--files-with-matches", "--name-only", "-L", "--files-without-match", "-c", "--count", "-q", "--quiet"},
		"cat-file": {"-t", "-s", "-e", "--batch-check"},
	}
	gitOutline = []string{"--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--summary", "--compact-summary", "--dirstat", "--raw", "-s", "--no-patch", "--quiet"}
)

// gitContents notes that lines of files are shown: of those behind --, or of any
// that are committed.
func (u *usage) gitContents() {
	outlines, own := gitOutlines[u.spec.name]
	patch := !own && u.has(gitPatches...)
	switch u.spec.name {
	case "blame", "annotate":
		return // of files that are named
	case "log", "whatchanged", "diff-tree", "diff-files", "diff-index":
		if !patch {
			return
		}
	default:
		if !own {
			outlines = gitOutline
		}
		if !patch && u.has(outlines...) {
			return
		}
	}
	words := u.facts.Commands[u.at].Words
	end := slices.IndexFunc(words, func(w WordValue) bool { return w.Known() && w.Text == "--" })
	paths, code := words[end+1:], CommittedAt
	if end < 0 || len(paths) == 0 || slices.ContainsFunc(paths, func(w WordValue) bool { return !w.Known() || strings.ContainsAny(w.Text, "*?[:\\") }) {
		paths, code = []WordValue{{Kind: Const, Text: "."}}, Committed
	}
	for _, w := range paths {
		if path, _ := u.st.resolve(w); path != "" {
			u.add(Effect{Action: Reads, Code: code, Path: path, Detail: u.name})
		}
	}
}

// gitPaths judges operands as the paths that they are, or that they may be
// besides revisions: HEAD:a/b, a/b, :(top)a/b. Outside of the repository, or
// with --no-index, Git reads them from the disk.
func (u *usage) gitPaths() {
	operands := u.operands
	if u.spec.name == "grep" && len(operands) > 0 && !u.has("-e", "-f") {
		operands = operands[1:]
	}
	if u.spec.name == "grep" && u.has("--no-index", "--untracked") && len(operands) == 0 {
		u.file(Reads, WordValue{Kind: Const, Text: "."}, u.st)
	}
	for _, w := range operands {
		before, file, colon := strings.Cut(w.Text, ":")
		switch {
		case w.Kind != Const:
			if w.home || secretPath(file) {
				u.file(Reads, w, u.st)
			}
			continue
		case strings.HasPrefix(w.Text, ":("):
			_, file, _ = strings.Cut(w.Text, ")")
		case colon && before == "":
			file = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(file, "0:"), "1:"), "2:"), "/!^")
		case !colon:
			file = w.Text
		}
		v := w
		for _, base := range []string{"", u.env.Project + "/"} { // from here, or from the top
			if v.Text = base + file; base == "" || colon && base != "/" && !strings.HasPrefix(file, "/") {
				u.file(Reads, v, u.st)
			}
		}
		if strings.ContainsAny(file, "*?[") && secretGlob(file) {
			u.blame(ShowsSecret, "SECRET_FILE", w)
		}
	}
}
