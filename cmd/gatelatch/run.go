package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/gatelatch/gatelatch/adapter/runner"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

// exitError ends gatelatch with the code of what it ran, and no words of its own.
type exitError int

func (c exitError) Error() string { return fmt.Sprintf("ended with code %d", int(c)) }

func newRunCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [flags] -- claude [arguments] [prompt]",
		Short: "Run Claude Code with Gatelatch as its host",
		Long: `Run Claude Code as its host: every call it wants to make is decided here, its
questions and plans are answered here, and its output goes to your terminal as
usual. Nothing is written into its settings. Its exit code is yours.

Interrupt once to end the agent's turn, twice to end the agent.`,
		Example: `  gatelatch run -- claude "fix the failing test"
  gatelatch run -- claude -p --output-format stream-json "list the open tasks"
  git diff | gatelatch run -- claude -p "write a commit message"`,
		Args: cobra.MinimumNArgs(1),
	}
	state := stateFlag(cmd)
	f := cmd.Flags()
	f.SetInterspersed(false)
	onlyAsked := f.Bool("only-asked", false, "decide only what the agent itself would ask about; its own mode and rules allow the rest")
	giveUp := f.Duration("give-up", 15*time.Minute, "deny what waits when the gateway was away for so long; 0 waits for ever")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		return runAgent(cmd, dir, args, !*onlyAsked, *giveUp)
	}
	return cmd
}

func runAgent(cmd *cobra.Command, dir statedir.Dir, args []string, gate bool, giveUp time.Duration) error {
	// Signals are for the agent: what it is doing ends before we do.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx := context.WithoutCancel(cmd.Context())
	c, err := reach(ctx, dir)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return withHint(err, "install Claude Code, or give the path of its program")
	}
	host, _ := os.Hostname()
	r := &runner.Runner{
		Wishes: c, Gate: gate, Machine: host, Signals: signals,
		Stdin: cmd.InOrStdin(), Terminal: isTerminal(cmd.InOrStdin()), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(),
	}
	r.Service = &client.Patient{Client: c, Grace: 10 * time.Second, Limit: giveUp, Back: r.Again}
	code, err := r.Run(ctx, program, args[1:])
	if err != nil {
		complain(err)
		return exitError(max(code, 1))
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// reach makes sure that there is a gateway before an agent is started that
// could do nothing without one.
func reach(ctx context.Context, dir statedir.Dir) (*client.Client, error) {
	c, err := client.ForAgents(dir)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	if _, err := c.Batch(ctx, "bat_none"); client.Again(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return c, nil
}
