package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

// inboxTerminal runs "gatelatch watch" as a person would, in a tmux of its own.
func inboxTerminal(t *testing.T, g *gateway, env ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, env: append(cleanEnv(g.home, "TERM=xterm-256color", "TMUX_TMPDIR="+tempDir(t)), env...)}
	term.tmux("new-session", "-d", "-s", "agent", "-x", "80", "-y", "24", need(t, product).gatelatch, "watch", "--state", g.state)
	t.Cleanup(term.cleanUp)
	term.pid = strings.TrimSpace(term.tmux("display-message", "-p", "-t", "agent", "#{pane_pid}"))
	return term
}

// insist presses a key until something holds. One that comes too early does
// nothing, and one that is held down never does: they are far apart.
func (term *terminal) insist(key, what string, fact func() bool) {
	term.t.Helper()
	looks := 0
	until(term.t, key+" to "+what, func() bool {
		if looks++; looks%8 == 0 {
			term.press(key)
		}
		return fact()
	})
}

// decides presses a key until the call is settled, and says how.
func (term *terminal) decides(key string, call func() *gatelatch.Call) gatelatch.State {
	term.t.Helper()
	term.insist(key, "decide", func() bool { return call().State != gatelatch.Pending })
	return call().State
}

func TestWatchDecidesInATerminal(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d := newDrafter(t, g)
	editor := filepath.Join(g.home, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/origin/upstream/' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	term := inboxTerminal(t, g, "EDITOR="+editor, "NO_COLOR=1")
	term.waitFor("Nothing waits.")

	// A call comes by itself, with nothing hidden in it; one key allows it.
	push := d.propose("m1", d.bash("git push origin \x1b[31mmain\u202e"))
	term.waitFor("│ git push origin ⟨ESC⟩[31mmain⟨U+202E⟩")
	term.waitFor("Asked because")
	later := d.propose("m2", d.bash("git fetch"))
	term.waitFor("2 waiting")
	term.waitFor("│ git push origin")
	if got := term.decides("a", func() *gatelatch.Call { return d.now(push, 0) }); got != gatelatch.Allowed {
		t.Errorf("a gave %s", got)
	}

	// The next one is edited, on a narrow screen, and denied in words.
	term.waitFor("│ git fetch")
	term.tmux("resize-window", "-t", "agent", "-x", "60", "-y", "24")
	edit := d.propose("m3", d.bash("git pull origin"))
	if got := term.decides("d", func() *gatelatch.Call { return d.now(later, 0) }); got != gatelatch.Denied {
		t.Errorf("d gave %s", got)
	}
	term.waitFor("│ git pull origin")
	term.insist("e", "edit", func() bool { return strings.Contains(term.screen(), "│ git pull upstream") })
	term.insist("D", "ask for words", func() bool { return strings.Contains(term.screen(), "What should the agent") })
	term.tmux("send-keys", "-t", "agent", "-l", "use a branch")
	if got := term.decides("Enter", func() *gatelatch.Call { return d.now(edit, 0) }); got != gatelatch.Denied || !strings.HasSuffix(d.now(edit, 0).Decided.Note, "use a branch") {
		t.Errorf("Enter gave %s, %q", got, d.now(edit, 0).Decided.Note)
	}

	// What is long waits until all of it was in sight.
	long := d.propose("m4", d.bash("git push\n"+strings.Repeat("true\n", 60)+"git push end"))
	term.waitFor("between, not seen yet")
	term.waitFor("│ git push end")
	term.insist("a", "be refused", func() bool { return strings.Contains(term.screen(), "Allow waits until") })
	for range 8 {
		term.press("Space")
	}
	// The gateway goes away and comes back; nothing is decided meanwhile.
	g.stop()
	term.waitFor("no connection")
	g.start()
	term.waitFor("live")
	if got := term.decides("a", func() *gatelatch.Call { return d.now(long, 0) }); got != gatelatch.Allowed {
		t.Errorf("a gave %s", got)
	}

	// Somebody else is first.
	last := d.propose("m5", d.bash("git gc"))
	term.waitFor("│ git gc")
	g.cli("deny", last.Calls[0].ID)
	term.waitFor("Already decided: denied by")
	term.press("q")
	until(t, "the inbox to end", func() bool { return !exists(filepath.Join("/proc", term.pid, "exe")) })
}
