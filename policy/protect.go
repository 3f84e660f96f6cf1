package policy

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// protectedDirs hold what decides about the agent itself, or is run by others:
// no rule allows writing below them, whether or not they exist yet.
var protectedDirs = map[string]bool{
	".git": true, ".husky": true, ".ssh": true,
	".claude": true, ".codex": true, ".gemini": true, ".cursor": true, ".vscode": true, ".idea": true, ".devcontainer": true,
	".config/gatelatch": true, "state/gatelatch": true, "etc/gatelatch": true, ".gatelatch": true,
	"etc/claude-code": true, ".config/git": true, ".config/fish": true, ".config/systemd": true,
}

// protectedFiles are read by shells, by Git or by agents when they start.
var protectedFiles = map[string]bool{
	".mcp.json": true, ".claude.json": true, ".envrc": true, ".gitconfig": true, ".gitmodules": true,
	".profile": true, ".bashrc": true, ".bash_profile": true, ".bash_login": true, ".bash_logout": true, ".bash_aliases": true,
	".zshrc": true, ".zshenv": true, ".zprofile": true, ".zlogin": true, ".zlogout": true,
	".kshrc": true, ".cshrc": true, ".tcshrc": true, ".login": true, ".logout": true, ".inputrc": true, ".xprofile": true,
	"config.fish": true, "authorized_keys": true,
}

// maxResolved is how many elements of paths are looked up for one command or
// input, less than a tenth of a second. maxPath is what systems take at most.
const (
	maxResolved = 20_000
	maxPath     = 4096
)

// protect asks about writes to protected paths, by any name the path may have.
func (s *subject) protect() {
	if what := s.protected(s.path.possible); what != "" {
		s.concern("protected path: no rule allows writing to %s", what).Part = s.path.given
	}
}

// protectWords asks about a command that names a protected path. Which of its
// words are paths, and which it writes to, only the program knows. Commands
// that are not plain are asked about anyway.
func (s *subject) protectWords() {
	if s.shell.found.Plain == nil {
		return
	}
	left := maxResolved
	for _, word := range s.shell.found.Plain.Words[1:] {
		names := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=:,@", r) })
		if strings.HasPrefix(word, "-") && len(word) > 2 {
			names = append(names, word[2:]) // -ofile
		}
		if !slices.Contains(names, word) {
			names = append(names, word)
		}
		for _, name := range names {
			if s.named(name, word, "a command", &left) {
				return
			}
		}
	}
}

// protectStrings does the same for any text in the input of another tool that
// looks like a path, also as the name of a field.
func (s *subject) protectStrings() {
	left, by := maxResolved, "a tool"
	if strings.HasPrefix(s.call.Tool, "mcp__") {
		by = "an MCP tool"
	}
	dec := json.NewDecoder(bytes.NewReader(s.call.Input))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return // the end: the input was checked before
		}
		text, ok := token.(string)
		if !ok || !looksLikePath(text) {
			continue
		}
		names := []string{text}
		if u, err := url.Parse(text); err == nil && strings.EqualFold(u.Scheme, "file") {
			names = append(names, u.Path)
		}
		for _, name := range names {
			if s.named(name, text, by, &left) {
				return
			}
		}
	}
}

func looksLikePath(text string) bool {
	start := strings.TrimSpace(text)
	return strings.Contains(text, "/") || strings.HasPrefix(start, "~") || strings.HasPrefix(start, ".")
}

// named makes a concern if name is a protected path, or there is too much to
// look up to know.
func (s *subject) named(name, part, by string, left *int) bool {
	possible := []string{name}
	if len(name) <= maxPath {
		possible = s.newPathUse(name, left).possible
	}
	if len(part) > maxPath {
		part = "" // too long to show
	}
	what := s.protected(possible)
	switch {
	case what != "":
		s.concern("protected path: no rule allows %s that names %s", by, what).Part = part
	case *left < 0:
		s.concern("there are too many paths to look for protected ones")
	default:
		return false
	}
	return true
}

// protected returns what makes one of the paths protected, or "".
func (s *subject) protected(paths []string) string {
	for _, path := range paths {
		if what := protected(path); what != "" {
			return what
		}
	}
	return s.own(paths)
}

// own returns the directory of the gateway that one of the paths lies in, or "".
func (s *subject) own(paths []string) string {
	for _, path := range paths {
		for _, dir := range s.dirs {
			if _, inside := relative(strings.ToLower(dir), strings.ToLower(path)); inside {
				return dir
			}
		}
	}
	return ""
}

// protected returns the elements that make the path protected, or "". Some
// file systems ignore case, and blanks and dots at the end of a name.
func protected(path string) string {
	parts, before := strings.Split(strings.ToLower(path), "/"), ""
	for i, part := range parts {
		part = strings.TrimRight(part, " .")
		both := before + "/" + part
		switch {
		case protectedDirs[part] || i == len(parts)-1 && protectedFiles[part]:
			return part
		case protectedDirs[both], strings.HasSuffix(before, ".git") && (part == "hooks" || part == "config"): // of a bare repository
			return both
		}
		before = part
	}
	return ""
}

// places returns what directories are called, and where that leads.
func places(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if dir == "" || err != nil {
			continue
		}
		out = append(out, filepath.ToSlash(abs))
		if resolved, err := resolve(abs, nil); err == nil {
			out = append(out, resolved)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// protecting returns the same rules with other directories to protect.
func (s *Set) protecting(dirs []string) *Set {
	with := *s
	with.dirs = dirs
	return &with
}
