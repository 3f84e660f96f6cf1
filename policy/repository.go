package policy

import (
	"bufio"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// repositories reads what Git would run in a folder. Only the repository's own
// configuration counts: a person's own, elsewhere, is the person's choice.
type repositories struct {
	follow func(name string, left *int) (string, []string, error)
	home   string
}

// maxConfig is more than a repository's configuration has.
const maxConfig = 1 << 20

// GitRuns implements shell.Files.
func (r repositories) GitRuns(dir string) (settings []string, known bool) {
	configs, _, ok := r.find(dir)
	if !ok {
		return nil, false
	}
	return configsHold(configs, runsBySetting)
}

// Folder implements shell.Files. The dot needs the right to enter.
func (repositories) Folder(path string) bool {
	info, err := os.Stat(filepath.FromSlash(path) + "/.")
	return err == nil && info.IsDir()
}

// Repository implements shell.Files.
func (r repositories) Repository(dir string) bool {
	_, found, ok := r.find(dir)
	return found && ok && r.Folder(dir)
}

// find returns the configurations of the repository that a folder is in. Without
// one Git says so and stops.
func (r repositories) find(dir string) (configs []string, found, ok bool) {
	for at := range r.upwards(dir) {
		if at == "" {
			return nil, false, false
		}
		if configs, found, ok = repositoryIn(at); found {
			return configs, true, ok
		}
	}
	return nil, false, true
}

// upwards yields a folder, with links followed, and those above it; "" if that
// can't be known.
func (r repositories) upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		left := maxResolved
		resolved, _, err := r.follow(dir, &left)
		if err != nil {
			yield("")
			return
		}
		for at := filepath.FromSlash(resolved); yield(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		}
	}
}

// repositoryIn returns the configurations of the repository that Git finds in a
// folder: .git, the folder that a file .git names, or the folder itself if it
// looks like one.
func repositoryIn(dir string) (configs []string, found, ok bool) {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	switch {
	case err == nil && info.IsDir():
		return configsIn(git), true, hooksQuiet(git)
	case err == nil:
		configs, ok = linkedConfigs(dir, git, info)
		return configs, true, ok
	case !missingFile(err):
		return nil, true, false
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return nil, false, true
		}
	}
	return configsIn(dir), true, hooksQuiet(dir)
}

// missingFile reports whether there is no such file, or a file where its folder
// would be.
func missingFile(err error) bool { return os.IsNotExist(err) || errors.Is(err, syscall.ENOTDIR) }

// hooksQuiet reports whether a repository has none of the hooks that reading
// runs: git status writes the index anew.
func hooksQuiet(git string) bool {
	return !slices.ContainsFunc([]string{"post-index-change", "fsmonitor-watchman"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(git, "hooks", name))
		return !os.IsNotExist(err)
	})
}

func configsIn(git string) []string {
	return []string{filepath.Join(git, "config"), filepath.Join(git, "config.worktree")}
}

// linkedConfigs follows the file .git of a worktree or a submodule.
func linkedConfigs(dir, file string, info os.FileInfo) ([]string, bool) {
	git, ok := oneLine(file, info, "gitdir: ", dir)
	if !ok {
		return nil, false
	}
	common := filepath.Join(git, "commondir")
	switch info, err := os.Stat(common); {
	case os.IsNotExist(err):
		return configsIn(git), hooksQuiet(git)
	case err != nil:
		return nil, false
	default:
		shared, ok := oneLine(common, info, "", git)
		return append(configsIn(git), filepath.Join(shared, "config")), ok && hooksQuiet(git) && hooksQuiet(shared)
	}
}

// oneLine reads a path from a file that holds nothing else.
func oneLine(file string, info os.FileInfo, prefix, base string) (string, bool) {
	if !info.Mode().IsRegular() || info.Size() > maxPath {
		return "", false
	}
	raw, err := os.ReadFile(file)
	text, has := strings.CutPrefix(strings.TrimRight(string(raw), "\r\n"), prefix)
	if err != nil || !has || text == "" || strings.ContainsAny(text, "\r\n") {
		return "", false
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(base, text)
	}
	return text, true
}

// configsHold returns the settings of some files that holds says yes to.
func configsHold(configs []string, holds func(setting, value string) bool) (settings []string, known bool) {
	for _, path := range configs {
		info, err := os.Stat(path)
		switch {
		case os.IsNotExist(err):
			continue
		case err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig:
			return nil, false
		}
		found, ok := configHolds(path, holds)
		if !ok {
			return nil, false
		}
		settings = append(settings, found...)
	}
	return settings, true
}

func configHolds(path string, holds func(setting, value string) bool) (settings []string, known bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	section := ""
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return settings, lines.Err() == nil
		}
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case strings.HasSuffix(line, `\`):
			return nil, false // goes on in the next line
		case line[0] == '[':
			end := strings.IndexByte(line, ']')
			if end < 0 {
				return nil, false
			}
			section, line = strings.ToLower(strings.TrimSpace(line[1:end])), strings.TrimSpace(line[end+1:])
			if line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
		}
		name, value, _ := strings.Cut(line, "=")
		switch setting := sectionOf(section) + "." + strings.ToLower(strings.TrimSpace(name)); {
		case strings.HasPrefix(setting, "include"):
			return nil, false
		case holds(setting, strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))):
			settings = append(settings, setting)
		}
	}
}

// sectionOf is the section without the name in quotes: diff "x" is diff.
func sectionOf(section string) string {
	name, _, _ := strings.Cut(section, " ")
	name, _, _ = strings.Cut(name, ".") // the old form [diff.x]
	return name
}

// harmlessSections hold nothing that Git runs.
var harmlessSections = []string{"branch", "user", "push", "fetch", "pull", "color", "extensions", "gc", "index", "status", "advice", "init", "rebase", "merge", "pack", "feature", "rerere", "lfs", "commit", "tag", "checkout", "column", "apply", "blame", "format", "log", "versionsort", "receive", "transfer", "maintenance", "clone", "http", "https", "url", "submodule", "remote", "i18n", "safe"}

// runningNames are settings of such sections that name a program after all.
var runningNames = []string{"driver", "uploadpack", "receivepack", "vcs", "proxy", "sslcertpasswordprotected", "update", "command", "cmd", "showsignature", "gpgsign", "editor", "pager", "procreceiverefs", "packobjectshook", "fsmonitor"}

// harmlessCore are settings of core that name no program.
var harmlessCore = []string{"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf", "whitespace", "abbrev", "quotepath", "compression", "preloadindex", "untrackedcache", "sharedrepository", "excludesfile", "attributesfile", "commentchar", "longpaths", "protectntfs", "protecthfs", "trustctime", "checkstat", "sparsecheckout", "sparsecheckoutcone", "commitgraph", "multipackindex", "splitindex", "packedgitlimit", "packedgitwindowsize", "bigfilethreshold", "deltabasecachelimit", "hidedotfiles", "worktree", "notesref", "warnambiguousrefs", "loosecompression", "fsync", "fsyncmethod", "createobject"}

// runsBySetting reports whether a setting may make Git run something. What is
// not known to be harmless may.
func runsBySetting(setting, value string) bool {
	section, name, _ := strings.Cut(setting, ".")
	switch {
	case section == "alias":
		return false // Git takes none for a command that it has itself
	case section == "filter" && strings.HasPrefix(value, "git-lfs "):
		return strings.ContainsAny(value, ";&|$`<>")
	case section == "filter" && name == "required":
		return false
	case section == "core" && name == "fsmonitor":
		return value != "true" && value != "false" && value != "" // true is Git's own
	case section == "core":
		return !slices.Contains(harmlessCore, name)
	case section == "remote" && (name == "url" || name == "pushurl"):
		return strings.HasPrefix(value, "ext::")
	case section == "diff":
		return !slices.Contains([]string{"algorithm", "renames", "renamelimit", "colormoved", "mnemonicprefix", "noprefix", "submodule", "context", "indentheuristic", "tool", "wordregex", "ignoresubmodules", "relative", "orderfile", "statgraphwidth", "suppressblankempty", "xfuncname", "binary"}, name)
	}
	return !slices.Contains(harmlessSections, section) || slices.Contains(runningNames, name)
}
