package policy

import "strings"

// protectedDirs hold what decides about the agent itself, or is run by others:
// no rule allows writing below them, whether or not they exist yet.
var protectedDirs = map[string]bool{
	".git": true, ".husky": true, ".ssh": true,
	".claude": true, ".codex": true, ".gemini": true, ".cursor": true, ".vscode": true, ".idea": true, ".devcontainer": true,
	"gatelatch": true, ".gatelatch": true,
}

// protectedFiles are read by shells, by Git or by agents when they start.
var protectedFiles = map[string]bool{
	".mcp.json": true, ".claude.json": true, ".envrc": true, ".gitconfig": true, ".gitmodules": true,
	".profile": true, ".bashrc": true, ".bash_profile": true, ".bash_login": true, ".bash_logout": true, ".bash_aliases": true,
	".zshrc": true, ".zshenv": true, ".zprofile": true, ".zlogin": true, ".zlogout": true,
	".kshrc": true, ".cshrc": true, ".tcshrc": true, ".login": true, ".logout": true, ".inputrc": true, ".xprofile": true,
	"config.fish": true, "authorized_keys": true,
}

// protect asks about writes to protected paths, by any name the path may have.
func (s *subject) protect() {
	for _, path := range s.path.possible {
		if what := protected(path); what != "" {
			s.concern("protected path: no rule allows writing to %s", what).Part = s.path.given
			return
		}
	}
}

// protected returns the element that makes the path protected, or "". Some
// file systems ignore case, and blanks and dots at the end of a name.
func protected(path string) string {
	parts := strings.Split(strings.ToLower(path), "/")
	for i, part := range parts {
		part = strings.TrimRight(part, " .")
		if protectedDirs[part] || i == len(parts)-1 && protectedFiles[part] {
			return part
		}
	}
	return ""
}
