package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inputMark begins the agent's input line, and in a dialog the chosen answer.
const inputMark = "❯"

// terminal is an interactive session of the agent in a tmux of its own.
type terminal struct {
	t   *testing.T
	env []string
	pid string // the agent's
}

// terminal starts the agent as a person would, at a prompt that waits for input.
func (a *agent) terminal() *terminal {
	a.t.Helper()
	return a.terminalIn("default")
}

// terminalIn starts it in a permission mode.
func (a *agent) terminalIn(mode string) *terminal {
	a.t.Helper()
	term := &terminal{t: a.t, env: a.env("TERM=xterm-256color", "TMUX_TMPDIR="+tempDir(a.t))}
	term.tmux("new-session", "-d", "-s", "agent", "-x", "140", "-y", "50", "-c", a.project,
		a.bin, "--permission-mode", mode)
	a.t.Cleanup(term.cleanUp)
	term.pid = strings.TrimSpace(term.tmux("display-message", "-p", "-t", "agent", "#{pane_pid}"))
	term.waitFor(inputMark)
	return term
}

// cleanUp ends the session and waits for the agent, which would otherwise go on
// writing into a HOME that is being removed.
func (term *terminal) cleanUp() {
	if term.t.Failed() {
		term.t.Logf("the terminal showed:\n%s", term.tryScreen())
	}
	_ = term.command("kill-server").Run() // it ends by itself when the agent does
	err := poll(context.Background(), func() bool { return !exists(filepath.Join("/proc", term.pid, "exe")) })
	if err != nil {
		term.t.Errorf("the agent did not end with its terminal: %v", err)
	}
}

func (term *terminal) command(args ...string) *exec.Cmd {
	// No configuration file: the developer's own must not change keys or size.
	cmd := exec.Command("tmux", append([]string{"-L", "gl", "-f", "/dev/null"}, args...)...)
	cmd.Env = term.env
	return cmd
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := term.command(args...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s (is tmux installed? run make test): %v\n%s", args[0], err, out)
	}
	return string(out)
}

// say types a prompt and sends it. Enter goes out only when the agent has drawn
// the prompt: right behind the text it would count as a part of a paste.
func (term *terminal) say(prompt string) {
	term.t.Helper()
	term.tmux("send-keys", "-t", "agent", "-l", prompt)
	end := prompt[len(prompt)-10:]
	until(term.t, "the terminal to show the prompt", func() bool { return strings.Contains(term.typed(), end) })
	term.press("Enter")
	until(term.t, "the prompt to be sent", func() bool { return !strings.Contains(term.typed(), end) })
}

// typed is what stands in the agent's input line.
func (term *terminal) typed() string {
	term.t.Helper()
	screen := term.screen()
	return screen[max(0, strings.LastIndex(screen, inputMark)):]
}

// press sends one key, by tmux's name for it.
func (term *terminal) press(key string) {
	term.t.Helper()
	term.tmux("send-keys", "-t", "agent", key)
}

// answer presses a key until a dialog is gone: the agent drops keys that come
// while it still draws.
func (term *terminal) answer(key, dialog string) {
	term.t.Helper()
	looks := 0
	until(term.t, key+" to end the dialog", func() bool {
		if !strings.Contains(term.screen(), dialog) {
			return true
		}
		if looks%15 == 0 {
			term.press(key)
		}
		looks++
		return false
	})
}

// screen is the text that a person sees now.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p", "-t", "agent")
}

func (term *terminal) tryScreen() string {
	out, err := term.command("capture-pane", "-p", "-t", "agent").CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func (term *terminal) waitFor(text string) {
	term.t.Helper()
	until(term.t, "the terminal to show "+text, func() bool { return strings.Contains(term.screen(), text) })
}

// waitTimes waits until a text stands there that often.
func (term *terminal) waitTimes(text string, n int) {
	term.t.Helper()
	until(term.t, fmt.Sprintf("the terminal to show %s %d times", text, n), func() bool { return strings.Count(term.screen(), text) == n })
}

func (term *terminal) waitGone(text string) {
	term.t.Helper()
	until(term.t, "the terminal to stop showing "+text, func() bool { return !strings.Contains(term.screen(), text) })
}
