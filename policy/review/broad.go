package review

import (
	"fmt"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/shell"
)

// tooBroad says what a rule that allows lets through beside what its author
// probably thought of, and what to write instead; "" if nothing is known.
func tooBroad(r policy.Rule) (why, hint string) {
	if r.Effect != gatelatch.Allow || len(r.Where) > 0 {
		return "", ""
	}
	switch {
	case r.Tool == "Bash":
		return broadCommand(r.Pattern)
	case r.Tool == "WebFetch" && r.Pattern == "":
		return "it allows every address, and an address can carry data out", "name the domains: WebFetch(domain:example.com)"
	case strings.HasPrefix(r.Tool, "mcp__") && (strings.HasSuffix(r.Tool, "*") || strings.Count(r.Tool, "__") == 1):
		return "it allows every tool of the server, also those that it gets later", "name the tools"
	case strings.HasSuffix(mainField[r.Tool], "path"):
		return broadPath(r.Tool, r.Pattern)
	}
	return "", ""
}

func broadPath(tool, pattern string) (why, hint string) {
	var where string
	switch pattern {
	case "", "/**", "**", "**/*", "/**/*":
		where = "the whole disk"
	case "~/**", "~/**/*":
		where = "your home, with its keys and settings"
	case "/home/**", "/root/**", "/etc/**", "/Users/**":
		where = pattern
	default:
		return "", ""
	}
	if tool == "Read" || tool == "Glob" || tool == "LS" || tool == "Grep" {
		return "it shows the agent " + where, "keep it inside the project: " + tool + "(./**)"
	}
	return "it lets the agent write to " + where, "keep it inside the project: " + tool + "(./src/**)"
}

// neighbours are what programs do beside what people allow them for.
var neighbours = map[string]string{
	"git":       "git push --force, git reset --hard and git clean -fdx",
	"docker":    "docker run and exec, with any folder of this machine mounted",
	"podman":    "podman run and exec, with any folder of this machine mounted",
	"kubectl":   "kubectl delete, exec and apply, in whatever cluster is configured",
	"npm":       "npm exec and publish, and install runs scripts of packages",
	"pnpm":      "pnpm exec, dlx and publish",
	"yarn":      "yarn exec, dlx and publish",
	"pip":       "pip install, which runs code of packages",
	"cargo":     "cargo run, install and publish",
	"go":        "go run and generate, which run any program",
	"make":      "any target, and make -f with another file",
	"gh":        "gh api, repo delete and secret set, with your account",
	"aws":       "everything that your account may do",
	"gcloud":    "everything that your account may do",
	"az":        "everything that your account may do",
	"terraform": "terraform apply and destroy",
	"curl":      "sending files to anybody",
	"wget":      "sending files with --post-file, and writing any file with -O",
	"rm":        "rm -rf of any folder that no rule protects",
	"mv":        "moving files over others",
	"cp":        "copying over any file",
	"dd":        "writing over a disk",
	"tee":       "writing to any file",
	"chmod":     "making any file writable or executable",
	"tar":       "writing any file, and programs by --to-command",
	"rsync":     "sending files to another machine",
	"systemctl": "stopping and changing services",
	"brew":      "installing and removing programs",
	"apt":       "installing and removing programs",
}

func broadCommand(pattern string) (why, hint string) {
	have, more := words(pattern)
	if len(have) == 0 {
		return "it allows every plain command", "name the programs, with their subcommands"
	}
	program := have[0]
	narrower := fmt.Sprintf("name what you mean: Bash(%s …)", strings.Join(have, " "))
	if reason := shell.Runs(have); reason != "" {
		return "it is “run anything”: " + reason, "leave it to be asked, or allow exact commands"
	}
	if !more || shell.Bounded(have) {
		return "", ""
	}
	if len(have) == 1 && neighbours[program] != "" {
		return "it also allows " + neighbours[program], narrower
	}
	for _, word := range []string{"run", "exec", "x", "shell", "eval", "config", "ssh", "-c"} {
		if len(have) > 1 {
			break
		}
		if reason := shell.Runs(append(have[:len(have):len(have)], word)); reason != "" {
			return fmt.Sprintf("it also allows %s %s: %s", strings.Join(have, " "), word, reason), narrower
		}
	}
	if len(have) == 1 && !shell.Builds(program) {
		return "any words may follow " + program, narrower
	}
	return "", ""
}
