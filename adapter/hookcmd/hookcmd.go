// Package hookcmd answers one-shot command hooks: JSON on stdin, the host's
// own form of an answer on stdout. Whatever goes wrong, the answer is a denial
// that says so; silence would let the call through.
package hookcmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// exitBlock is the exit code that hosts read as "do not run this".
const exitBlock = 2

// maxStdin has room for the largest input and for what its tool made of it.
const maxStdin = 4 * gatelatch.MostInput

// options are the hook's arguments. They are written by "gatelatch install"
// and not taken from the environment, which a project can change.
type options struct {
	state  statedir.Dir
	limit  time.Duration // of the host: it kills the hook then, and may go on without it
	start  string        // the gatelatch to start when no gateway runs
	config string        // its configuration directory
	after  time.Duration // a headless agent is deferred then; 0 is never
}

// Main is the whole hook. It returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	h := &hookRun{stdout: stdout, stderr: stderr}
	defer func() {
		if p := recover(); p != nil {
			code = h.deny(fmt.Sprintf("the hook failed: %v", p))
		}
	}()
	opt, bad := parseArgs(args)
	// Nothing below may outlive the host's limit, whatever hangs.
	dog := time.AfterFunc(opt.limit*9/10, func() { os.Exit(h.deny("the hook hung")) })
	defer dog.Stop()
	raw, err := readAll(stdin)
	if err != nil {
		return h.deny(err.Error())
	}
	in, err := readClaude(raw)
	h.event.Store(in.event())
	if err := errors.Join(bad, err); err != nil {
		return h.deny(err.Error())
	}
	if hosted() {
		return h.say(in.event().leave())
	}
	return h.ask(opt, in, getenv)
}

// hookRun is one run of the hook.
type hookRun struct {
	stdout, stderr io.Writer
	event          atomic.Value // the event, once it is known
	said           atomic.Bool
}

func (h *hookRun) ask(opt options, in hookInput, getenv func(string) string) int {
	ctx, stop := context.WithTimeoutCause(context.Background(), opt.limit*8/10, errLimit)
	defer stop()
	ctx, quit := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer quit()
	ctx, leave := withParent(ctx)
	defer leave()
	svc, err := opt.service(in.event())
	if err != nil {
		return h.deny(unreachableText(opt, err))
	}
	c := Claude{
		Service: svc, Attended: getenv("CLAUDE_CODE_SESSION_ATTENDED") == "1",
		Project: getenv("CLAUDE_PROJECT_DIR"), Holder: id.New("hld"), Defer: opt.after,
	}
	a, err := c.Answer(ctx, in)
	if err != nil {
		return h.deny(explain(opt, err))
	}
	return h.say(a)
}

func (h *hookRun) deny(text string) int {
	e, _ := h.event.Load().(event)
	return h.say(e.deny(text))
}

// say prints an answer, the first one only: the watchdog and the run may both
// have one. What can't be printed is left to the exit code.
func (h *hookRun) say(a Answer) int {
	if !h.said.CompareAndSwap(false, true) {
		return exitBlock
	}
	if _, err := h.stdout.Write(a.Out); err != nil || a.Code != 0 {
		fmt.Fprintln(h.stderr, "gatelatch: "+a.Text)
		return exitBlock
	}
	return 0
}

// withParent ends with the process that asked: one that was killed sends no
// signal, and nobody should decide for it.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	const every = time.Second
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	tick := time.NewTicker(every)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != parent {
					cancel(errors.New("the agent is gone"))
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// readAll refuses what is too large: a cut input is not the call.
func readAll(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxStdin+1))
	if err == nil && len(raw) > maxStdin {
		err = fmt.Errorf("the hook's input is larger than %d MiB", maxStdin>>20)
	}
	return raw, err
}

// hostLimit is how long hosts wait for a hook that sets nothing.
const hostLimit = 600 * time.Second

func parseArgs(args []string) (options, error) {
	o := options{limit: hostLimit}
	if len(args) == 0 || args[0] != "claude" {
		return o, errors.New(`the hook must be called as "gatelatch-hook claude --state DIR"`)
	}
	var limit int
	fs := flag.NewFlagSet("gatelatch-hook", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar((*string)(&o.state), "state", "", "")
	fs.IntVar(&limit, "limit", int(hostLimit/time.Second), "")
	fs.Func("defer-after", "", func(s string) (err error) {
		o.after, err = time.ParseDuration(s)
		if err == nil && o.after < 0 {
			return errors.New("a time can't be negative")
		}
		o.after = max(o.after, 1) // "0s" is at once
		return err
	})
	fs.StringVar(&o.start, "start", "", "")
	fs.StringVar(&o.config, "config", "", "")
	if err := fs.Parse(args[1:]); err != nil {
		return o, fmt.Errorf("the hook's arguments are wrong: %w", err)
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("the hook does not know the argument %q", fs.Arg(0))
	case !filepath.IsAbs(string(o.state)):
		return o, errors.New("--state needs an absolute path; run \"gatelatch install claude\" to set the hook up")
	case o.start != "" && (!filepath.IsAbs(o.start) || !filepath.IsAbs(o.config)):
		return o, errors.New("--start needs --config, both with absolute paths")
	case limit < 1:
		return o, errors.New("--limit is the host's time limit in seconds")
	}
	o.limit = time.Duration(limit) * time.Second
	return o, nil
}

func (o options) service(e event) (*client.Patient, error) {
	p := &client.Patient{Grace: time.Second}
	if o.start != "" && e.blocks() {
		p.Start = func() error { return startGateway(o) }
		p.Grace = 10 * time.Second
	}
	var err error
	if p.Client, err = client.ForAgents(o.state); err != nil && p.Start != nil {
		// The key appears with the first gateway.
		if err = p.Start(); err == nil {
			p.Client, err = waitForKey(o, p.Grace)
		}
	}
	return p, err
}

func waitForKey(o options, most time.Duration) (c *client.Client, err error) {
	ctx, stop := context.WithTimeout(context.Background(), most)
	defer stop()
	var wait client.Backoff
	for {
		if c, err = client.ForAgents(o.state); err == nil {
			if _, err = o.state.Gateway(); err == nil {
				return c, nil
			}
		}
		if wait.Wait(ctx) != nil {
			return nil, err
		}
	}
}

func explain(o options, err error) string {
	if client.Again(err) {
		return unreachableText(o, err)
	}
	return err.Error()
}

func unreachableText(o options, err error) string {
	if o.start != "" {
		return fmt.Sprintf("Gatelatch is not reachable and could not be started, so nothing is allowed. %s may say why. (%v)", o.state.Log(), err)
	}
	return fmt.Sprintf("Gatelatch is not reachable, so nothing is allowed. Start it with \"gatelatch serve --state %s\" or \"gatelatch service install\". (%v)", o.state, err)
}
