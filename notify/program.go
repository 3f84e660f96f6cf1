package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// command runs a program with the event of a webhook on its standard input.
type command struct {
	path    string
	args    []string
	source  string
	timeout time.Duration
}

// Send implements Channel.
func (c *command) Send(ctx context.Context, n Notice) error {
	body, err := envelope(n, c.source)
	if err != nil {
		return permanent(err)
	}
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	defer stop()
	return start(ctx, body, c.path, c.args...)
}

// start runs a program to its end. What it prints is not kept, but for the
// first line of what it complains.
func start(ctx context.Context, stdin []byte, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(stdin), time.Second
	var said head
	cmd.Stderr = &said
	err := cmd.Run()
	line, _, _ := strings.Cut(strings.TrimSpace(string(said.b)), "\n")
	switch {
	case ctx.Err() != nil && err != nil:
		return errors.New("the program did not end in time")
	case errors.Is(err, exec.ErrNotFound):
		return permanent(err)
	case err != nil && line != "":
		return fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// head keeps the first bytes written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 512
	h.b = append(h.b, p[:min(len(p), most-len(h.b))]...)
	return len(p), nil
}

// desktop shows a bubble where the gateway's user is logged in.
type desktop struct {
	system string
	run    func(ctx context.Context, name string, args ...string) error
}

func newDesktop() (*desktop, error) {
	switch runtime.GOOS {
	case "linux", "freebsd", "openbsd", "netbsd", "darwin":
		return &desktop{system: runtime.GOOS, run: func(ctx context.Context, name string, args ...string) error { return start(ctx, nil, name, args...) }}, nil
	}
	return nil, fmt.Errorf("there is no desktop channel on %s: let the browser show messages, on the page", runtime.GOOS)
}

// script takes its texts as arguments, so that nothing in them is code.
const script = `on run argv
display notification (item 2 of argv) with title (item 1 of argv)
end run`

// Send implements Channel.
func (d *desktop) Send(ctx context.Context, n Notice) error {
	text := n.Text
	if n.Input != "" {
		text += "\n" + n.Input
	}
	if n.Call != "" {
		text += "\n" + n.Link
	}
	if d.system == "darwin" {
		return d.run(ctx, "osascript", "-e", script, n.Title, text)
	}
	urgency := "normal"
	if n.Risk == High {
		urgency = "critical"
	}
	return d.run(ctx, "notify-send", "--app-name=Gatelatch", "--urgency="+urgency, "--category=im.received",
		"--hint=string:x-dunst-stack-tag:"+n.Thread, "--", n.Title, markup.Replace(text))
}

// markup is what bodies of bubbles may hold on freedesktop systems.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
