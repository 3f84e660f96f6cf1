package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// arguments are what a user wants of the agent, read from its command line.
type arguments struct {
	rest    []string // the agent's own, without those that the host sets
	prompt  string
	print   bool   // end after the prompt
	output  string // text, json or stream-json
	input   string // text or stream-json
	mode    string
	partial bool // the user wants partial messages, too
}

// The flags of the agent that take a value, one or several; of all others a
// word that follows is the prompt.
var (
	oneValue = words(`--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort
		--fallback-model --input-format --json-schema --max-budget-usd --max-turns --model -n --name --output-format --permission-mode
		--plugin-dir --plugin-url --session-id --setting-sources --settings --system-prompt --system-prompt-file --system-prompt-snapshot`)
	manyValues = words(`--add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file --mcp-config --tools`)
	maybeValue = words(`-d --debug --from-pr --prompt-suggestions -r --resume -w --worktree`)
	noValue    = words(`--allow-dangerously-skip-permissions --ax-screen-reader --brief --chrome --no-chrome -c --continue
		--dangerously-skip-permissions --disable-slash-commands --exclude-dynamic-system-prompt-sections --fork-session
		--forward-subagent-text --ide --include-hook-events --include-partial-messages --no-session-persistence -p --print
		--replay-user-messages --restricted --safe-mode --strict-mcp-config --verbose`)

	// Each of these would run the agent out of the host's sight.
	refused = map[string]string{
		"--bare":                   "it switches off the host's hooks, so calls would run unseen",
		"--permission-prompt-tool": "Gatelatch is what answers",
		"--permission-prompts":     "Gatelatch is what answers",
		"--sdk-url":                "the agent would talk to another host",
		"--bg":                     "the agent would run out of sight", "--background": "the agent would run out of sight",
		"--cloud": "the agent would run elsewhere", "--teleport": "the agent would run elsewhere", "--environment": "the agent would run elsewhere",
		"--desktop": "the agent would run elsewhere", "--tmux": "the agent would run elsewhere",
		"--remote-control": "the agent would have another host", "--help": "ask the agent itself", "-h": "ask the agent itself",
		"--version": "ask the agent itself", "-v": "ask the agent itself",
	}
	// What begins or goes on with a conversation; a plan is carried out in a new one.
	conversation = words(`-c --continue -r --resume --session-id --fork-session --from-pr`)
)

func words(s string) []string { return strings.Fields(s) }

// parseArgs reads the agent's arguments. What it can't place it refuses: a
// prompt must not be taken for a value, nor the other way round.
func parseArgs(args []string) (a arguments, err error) {
	a.output, a.input = "text", "text"
	var prompts []string
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			prompts = append(prompts, args[1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			prompts, args = append(prompts, arg), args[1:]
			continue
		}
		n, err := arity(args)
		if err != nil {
			return a, err
		}
		if err := a.take(args[:n]); err != nil {
			return a, err
		}
		args = args[n:]
	}
	if len(prompts) > 1 {
		return a, fmt.Errorf("the agent gets one prompt, not %d; quote it", len(prompts))
	}
	if len(prompts) == 1 {
		a.prompt = prompts[0]
	}
	err = a.check()
	return a, err
}

// arity is how many words the flag at the front takes, itself included.
func arity(args []string) (int, error) {
	name, _, joined := strings.Cut(args[0], "=")
	if why, bad := refused[name]; bad {
		return 0, fmt.Errorf("%s can't be used here: %s", name, why)
	}
	value := func(i int) bool { return i < len(args) && !strings.HasPrefix(args[i], "-") }
	switch {
	case joined, slices.Contains(noValue, name):
		return 1, nil
	case slices.Contains(oneValue, name):
		if len(args) < 2 {
			return 0, fmt.Errorf("%s needs a value", name)
		}
		return 2, nil
	case slices.Contains(manyValues, name):
		n := 1
		for value(n) {
			n++
		}
		return n, nil
	case slices.Contains(maybeValue, name):
		if value(1) {
			return 2, nil
		}
		return 1, nil
	case value(1):
		return 0, fmt.Errorf("%s is not known, so %q may be its value or the prompt; write %s=VALUE, or the prompt behind --", name, clip(args[1]), name)
	}
	return 1, nil
}

// take notes one flag with its values.
func (a *arguments) take(flag []string) error {
	name, value, joined := strings.Cut(flag[0], "=")
	if !joined && len(flag) > 1 {
		value = flag[1]
	}
	switch name {
	case "-p", "--print":
		a.print = true
	case "--verbose":
	case "--include-partial-messages":
		a.partial = true
	case "--output-format":
		a.output = value
	case "--input-format":
		a.input = value
	case "--permission-mode":
		a.mode = value
	default:
		a.rest = append(a.rest, flag...)
	}
	return nil
}

func (a *arguments) check() error {
	switch {
	case !slices.Contains(words("text json stream-json"), a.output):
		return fmt.Errorf("--output-format is text, json or stream-json, not %q", clip(a.output))
	case !slices.Contains(words("text stream-json"), a.input):
		return fmt.Errorf("--input-format is text or stream-json, not %q", clip(a.input))
	case a.input == "stream-json" && a.prompt != "":
		return errors.New("with --input-format stream-json the prompt comes in a message")
	}
	return nil
}

// command are the arguments of the agent as the host starts it. Without a mode
// it would begin in the one that its settings name.
func (a arguments) command() []string {
	mode := a.mode
	if mode == "" {
		mode = "default"
	}
	out := words("-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio --include-partial-messages --permission-mode")
	return append(append(out, mode), a.rest...)
}

// afresh are the arguments for a new conversation in a mode.
func (a arguments) afresh(prompt, mode string) arguments {
	var rest []string
	for args := a.rest; len(args) > 0; {
		n, err := arity(args)
		if err != nil {
			n = 1
		}
		if name, _, _ := strings.Cut(args[0], "="); !slices.Contains(conversation, name) {
			rest = append(rest, args[:n]...)
		}
		args = args[n:]
	}
	a.rest, a.prompt, a.mode = rest, prompt, mode
	return a
}

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
