package shell

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Machine answers from the files of this machine.
type Machine struct{}

// maxGitConfig is how much of one file is read.
const maxGitConfig = 1 << 20

// GitRuns implements Files. It looks at the configuration of the repository;
// that of the user and of the system was chosen by a person. What it can't
// follow is not known.
func (Machine) GitRuns(dir string) (settings []string, known bool) {
	gitDir, common, ok := gitDirs(dir)
	if !ok {
		return nil, false
	}
	for _, name := range []string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree")} {
		data, err := readSome(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		found, ok := gitSettings(string(data))
		if err != nil || !ok {
			return nil, false
		}
		settings = append(settings, found...)
	}
	for _, hook := range []string{"post-index-change", "fsmonitor-watchman"} { // those that reading runs
		if _, err := os.Stat(filepath.Join(common, "hooks", hook)); !errors.Is(err, fs.ErrNotExist) {
			settings = append(settings, "hooks/"+hook)
		}
	}
	slices.Sort(settings)
	return slices.Compact(settings), true
}

func readSome(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxGitConfig:
		return nil, errors.New("not a small file")
	}
	return os.ReadFile(name)
}

// gitDirs finds the repository that dir lies in, and the part of it that work
// trees share.
func gitDirs(dir string) (gitDir, common string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		name := filepath.Join(at, ".git")
		info, err := os.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return name, name, true
		case err == nil: // a work tree or a submodule: gitdir: path
			data, err := readSome(name)
			path, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
			if err != nil || !found {
				return "", "", false
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(at, path)
			}
			return path, commonDir(path), true
		case at == filepath.Dir(at) || bareRepository(at):
			return "", "", false
		}
	}
}

func commonDir(gitDir string) string {
	data, err := readSome(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	path := strings.TrimSpace(string(data))
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	return path
}

// bareRepository reports whether Git would take a folder itself for a
// repository, wherever it came from.
func bareRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// gitSettings returns the settings of one file that name a program. It is not
// ok if the file includes others, or is not understood.
func gitSettings(text string) (runs []string, ok bool) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			end := strings.LastIndexByte(line, ']')
			if end < 0 {
				return nil, false
			}
			section = strings.ToLower(line[1:end])
			if line = strings.TrimSpace(line[end+1:]); line == "" {
				continue
			}
		}
		if strings.HasSuffix(line, `\`) {
			return nil, false
		}
		name, value, _ := strings.Cut(line, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)
		kind, _, _ := strings.Cut(section, " ")
		kind, _, _ = strings.Cut(kind, ".")
		switch {
		case kind == "include" || kind == "includeif":
			return nil, false
		case gitRunsSetting(kind, name) && !gitHarmlessValue(name, value):
			runs = append(runs, kind+"."+name)
		}
	}
	return runs, true
}

var gitRunning = names(`core.fsmonitor core.pager core.hookspath core.sshcommand core.gitproxy core.askpass core.alternaterefscommand
	core.worktree diff.external diff.command diff.textconv filter.clean filter.smudge filter.process gpg.program ssh.program
	remote.uploadpack remote.proxy remote.vcs credential.helper log.showsignature url.insteadof`)

// gitRunsSetting knows settings by which reading runs a program, or reads from
// elsewhere. Commands that nobody calls harmless have others.
func gitRunsSetting(section, name string) bool {
	return section == "pager" || gitRunning[section+"."+name]
}

func gitHarmlessValue(name, value string) bool {
	switch name {
	case "fsmonitor": // true is Git's own
		return value == "false" || value == "true"
	case "clean", "smudge", "process":
		return strings.HasPrefix(value, "git-lfs ") && !strings.ContainsAny(value, ";&|$`<>")
	case "helper":
		return false
	}
	return value == "false" || value == "cat"
}
