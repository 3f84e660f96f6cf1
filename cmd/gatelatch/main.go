// Command gatelatch is the gateway between agents and what they want to do,
// and the tools around it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	_ "github.com/gatelatch/gatelatch/adapter/hookcmd/first" // answers "gatelatch hook"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/spf13/cobra"
)

var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd, err := newRootCmd().ExecuteContextC(ctx)
	if code := exitError(0); errors.As(err, &code) {
		return int(code)
	}
	if err != nil {
		complain(helped(cmd, err))
		return 1
	}
	return 0
}

// helped points at the help of a command that was not called as it wants.
func helped(cmd *cobra.Command, err error) error {
	for _, start := range []string{"accepts ", "unknown ", "invalid argument ", "flag needs ", "requires "} {
		if strings.HasPrefix(err.Error(), start) && hintOf(err) == "" {
			return withHint(err, `see "`+cmd.CommandPath()+` --help"`)
		}
	}
	return err
}

// complain prints an error the way all of them look: lower case, no period,
// and what to do about it on a line of its own.
func complain(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	fmt.Fprintln(os.Stderr, "gatelatch: "+redact.Text(err.Error()))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(os.Stderr, "hint: "+redact.Text(hint))
	}
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "gatelatch",
		Short: "The gate between AI agents and what they want to do",
		Long: `Gatelatch decides by rules what an agent may do, asks you about the rest,
and lets nothing through that was not allowed.

  gatelatch serve             start the gateway
  gatelatch open              open the page in your browser
  gatelatch install claude    let Claude Code ask before it runs a tool`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
	}
	root.AddGroup(
		&cobra.Group{ID: "gateway", Title: "The gateway:"},
		&cobra.Group{ID: "decide", Title: "Decide in the terminal:"},
		&cobra.Group{ID: "agents", Title: "Agents:"},
	)
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("gateway", newServeCmd(), newOpenCmd(), newLoginCmd(), newLogoutCmd(), newKeysCmd(), newPasskeysCmd(), newServiceCmd(), newConfigCmd(), newNotifyCmd(),
		newLogCmd(), newAuditCmd(), newPolicyCmd(), newBackupCmd(), newRestoreCmd(), newDemoCmd(), newShellCmd(), newAPICmd(), newHealthCmd())
	add("decide", newWatchCmd())
	add("decide", newLsCmd(), newShowCmd(), newAllowCmd(), newDenyCmd(), newReplyCmd(), newEditCmd(), newGrantsCmd(),
		newSessionsCmd(), newModeCmd(), newInterruptCmd(),
		newPauseCmd(), newUnpauseCmd(), newUnmuteCmd())
	add("agents", newInstallCmd(), newUninstallCmd(), newRunCmd(), newHookCmd(), newToolsCmd(), newResumeCmd(), newMCPCmd(), newDoctorCmd())
	root.AddCommand(newManCmd())
	addCompletions(root)
	return root
}

// helpOnly is for a command that has only subcommands: without a RunE of its
// own, cobra takes a mistyped one for a question for help.
func helpOnly(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// newHookCmd only describes the hook, which is answered before main begins.
func newHookCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "hook claude --state DIR [--limit SECONDS] [--defer-after TIME] [--start GATELATCH --config DIR]",
		Short: "Answer an agent's hook: JSON on stdin, the answer on stdout",
		Long: `The hook that "gatelatch install" writes into an agent's settings. It asks the
gateway and waits; whatever goes wrong, it prints a denial in the host's own
form. gatelatch-hook is the same, linked alone so that it starts faster.`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
