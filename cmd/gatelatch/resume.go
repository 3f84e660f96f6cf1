package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/spf13/cobra"
)

func newResumeCmd() *cobra.Command {
	var watch, list bool
	var program string
	cmd := &cobra.Command{
		Use:   "resume [SESSION] [-- CLAUDE ARGUMENTS]",
		Short: "Go on with headless sessions whose deferred call is decided",
		Long: `Go on with headless sessions of Claude Code that ended until somebody decides
("gatelatch install claude --defer-after"). It runs "claude -p --resume" here, as
you and in each session's own folder; the gateway never starts an agent.

What stands behind -- is given to Claude Code. Give what the session was
started with and is not in its settings, such as --settings or --model.`,
		Example: "  gatelatch resume\n  gatelatch resume --watch -- --permission-mode default",
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "stay, and go on with each session when its call is decided")
	cmd.Flags().BoolVar(&list, "list", false, "only list what is deferred")
	cmd.Flags().StringVar(&program, "claude", "claude", "the Claude Code to run")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		args := cmd.Flags().Args()
		own := len(args)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			own = dash
		}
		if own > 1 {
			return withHint(errors.New("one session at most"), `arguments for Claude Code stand behind "--"`)
		}
		r := &resumer{
			client: c, only: strings.Join(args[:own], ""), out: cmd.OutOrStdout(), notes: cmd.ErrOrStderr(),
			run: claudeRun(program, args[own:]), dir: sessionDir, tried: map[string]bool{},
		}
		if list || asJSON {
			return r.list(ctx, cmd, asJSON)
		}
		lock, err := filelock.Lock(filepath.Join(c.State().Run(), "resume.lock"))
		if errors.Is(err, filelock.ErrLocked) {
			return withHint(errors.New("another \"gatelatch resume\" runs"), "two would both go on with a session")
		}
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
		if watch {
			return r.watch(ctx)
		}
		return r.once(ctx)
	})
}

// resumer goes on with sessions, one after the other.
type resumer struct {
	client     *client.Client
	only       string // the beginning of a session's id
	out, notes io.Writer
	run        func(ctx context.Context, dir, session string, out, notes io.Writer) error
	dir        func(session string) (string, error)
	tried      map[string]bool
}

// deferrals returns those that are wanted, and the end of the trail before.
func (r *resumer) deferrals(ctx context.Context) (wanted []api.Deferral, seq int64, err error) {
	all, err := r.client.Deferrals(ctx)
	for _, d := range all.Deferrals {
		if strings.HasPrefix(d.Session.ID, r.only) {
			wanted = append(wanted, d)
		}
	}
	return wanted, all.Seq, err
}

func (r *resumer) list(ctx context.Context, cmd *cobra.Command, asJSON bool) error {
	ds, seq, err := r.deferrals(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd, api.Deferrals{Deferrals: append([]api.Deferral{}, ds...), Seq: seq})
	}
	if len(ds) == 0 {
		_, err := fmt.Fprintln(r.out, "Nothing is deferred.")
		return err
	}
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, d := range ds {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s ago\n", cut(d.Session.ID, 36), shortID(d.Call), d.State, cut(d.Tool+" "+d.Subject, 60), shortAge(d.Since))
	}
	return w.Flush()
}

// once goes on with what is decided now.
func (r *resumer) once(ctx context.Context) error {
	ds, _, err := r.deferrals(ctx)
	if err != nil {
		return err
	}
	n, err := r.resume(ctx, ds)
	if n == 0 && err == nil {
		_, err = fmt.Fprintf(r.notes, "Nothing to go on with; %d deferred and not decided.\n", len(ds))
	}
	return err
}

// resume goes on with what is ready, each deferral once.
func (r *resumer) resume(ctx context.Context, ds []api.Deferral) (n int, err error) {
	for _, d := range ds {
		key := d.Batch + d.Since.String()
		if !d.Ready || r.tried[key] {
			continue
		}
		r.tried[key] = true
		n++
		dir, e := r.dir(d.Session.ID)
		if e == nil {
			fmt.Fprintf(r.notes, "Going on with session %s in %s: %s was %s.\n", d.Session.ID, dir, shortID(d.Call), d.State)
			e = r.run(ctx, dir, d.Session.ID, r.out, r.notes)
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("session %s: %w", cut(d.Session.ID, 36), e))
		}
	}
	return n, err
}

// watch goes on with each session when it can, through restarts of the gateway.
func (r *resumer) watch(ctx context.Context) error {
	fmt.Fprintln(r.notes, "Waiting for decisions about deferred calls. Ctrl-C ends it.")
	var wait client.Backoff
	for ctx.Err() == nil {
		err := r.next(ctx)
		switch {
		case err == nil:
			wait = client.Backoff{}
		case ctx.Err() == nil && !client.Again(err):
			return err
		default:
			_ = wait.Wait(ctx) // when it ends, so does the loop
		}
	}
	return nil
}

// next goes on with what is ready and waits for the next decision.
func (r *resumer) next(ctx context.Context) error {
	ds, seq, err := r.deferrals(ctx)
	if err != nil {
		return err
	}
	if _, err := r.resume(ctx, ds); err != nil {
		fmt.Fprintln(r.notes, "gatelatch: "+err.Error()) // the others go on
	}
	return r.client.Events(ctx, seq, func(e api.Event) bool { return !settles(e.Kind) })
}

// settles reports whether an event may have made a deferral ready, or is one.
func settles(kind string) bool {
	return slices.Contains([]string{
		"call.decided", "call.judged", "call.expired", "call.withdrawn", "call.lapsed", "call.revoked", "batch.parked", "gate.restored",
	}, kind)
}

// claudeRun returns what runs Claude Code on a session, with the user's own
// environment and nothing on standard input.
func claudeRun(program string, args []string) func(context.Context, string, string, io.Writer, io.Writer) error {
	return func(ctx context.Context, dir, session string, out, notes io.Writer) error {
		cmd := exec.CommandContext(ctx, program, append([]string{"-p", "--resume", session}, args...)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, notes
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		return cmd.Run()
	}
}

var errNoSession = errors.New("it is not a session of yours on this machine")

// sessionDir returns the folder that a session was started in. The session's
// own file says so: what an agent told the gateway must not choose where, or
// with which arguments, a program runs.
func sessionDir(session string) (string, error) {
	if !isUUID(session) {
		return "", errNoSession
	}
	home := os.Getenv("CLAUDE_CONFIG_DIR")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		home = filepath.Join(user, ".claude")
	}
	files, err := filepath.Glob(filepath.Join(home, "projects", "*", session+".jsonl"))
	if err != nil {
		return "", err
	}
	dirs := map[string]bool{}
	for _, f := range files {
		dir, err := transcriptDir(f)
		if err != nil {
			return "", err
		}
		dirs[dir] = true
	}
	switch found := slices.Collect(maps.Keys(dirs)); len(found) {
	case 0:
		return "", errNoSession
	case 1:
		return found[0], nil
	default:
		return "", errors.New("it was started in several folders")
	}
}
