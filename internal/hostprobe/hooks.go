package hostprobe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
)

// Hooks is the channel of the hooks that "gatelatch install claude" writes. Of
// the hook only the program counts: state and limit are the stage's.
func Hooks(hook hostconfig.Hook) Channel {
	command := func(s *Stage, prompt string) ([]string, error) {
		h := hostconfig.Hook{Command: hook.Command, Timeout: s.Limit(), Args: []string{"claude", "--state", string(s.State), "--limit", strconv.Itoa(s.Limit())}}
		if len(hook.Args) > 0 && hook.Args[0] == "hook" { // gatelatch itself
			h.Args = append([]string{"hook"}, h.Args...)
		}
		if s.Hook != "" {
			h.Command = s.Hook
		}
		file := filepath.Join(s.Home, ".claude", "settings.json")
		if h.Only = s.opt.Managed != ""; h.Only {
			file = filepath.Join(s.Managed, "managed-settings.json")
		}
		settings, err := hostconfig.Claude(nil, h)
		if err != nil {
			return nil, err
		}
		return s.Claude(prompt), os.WriteFile(file, settings, 0o600)
	}
	return Channel{Name: "hooks", Command: command, Cases: hookCases(hook.Command)}
}

// hookCases are what can happen to the hook itself.
func hookCases(hook string) []Case {
	// Events that hold nothing back would only cost time.
	broken := func(does string) func(context.Context, *Stage) error {
		text := "#!/bin/sh\ncase $(cat) in *'\"PreToolUse\"'*) " + does + ";; esac\necho '{}'\n"
		return func(_ context.Context, s *Stage) error { return s.replaceHook(text) }
	}
	return []Case{
		{Name: "hook killed", Why: "the hook is killed while it waits", Calls: held, Before: func(_ context.Context, s *Stage) error {
			return errors.Join(s.startGateway(), s.replaceHook(marked(hook)))
		}, While: killMarked},
		{Name: "hook missing", Why: "the hook is not there", Calls: held, Before: func(_ context.Context, s *Stage) error {
			s.Hook = filepath.Join(s.Home, "none", "gatelatch-hook")
			return nil
		}},
		{Name: "hook hangs", Why: "the hook never answers", Calls: held, Limit: soon, Before: broken("exec sleep 60")},
		{Name: "hook breaks", Why: "the hook prints nonsense and fails", Calls: held, Before: broken("echo '{\"permissionDecision\":'; exit 1")},
	}
}

// replaceHook puts a script in the hook's place.
func (s *Stage) replaceHook(text string) error {
	s.Hook = filepath.Join(s.Home, "bin", "gatelatch-hook")
	return errors.Join(os.MkdirAll(filepath.Dir(s.Hook), 0o700), os.WriteFile(s.Hook, []byte(text), 0o700)) //nolint:gosec // it is a program
}
