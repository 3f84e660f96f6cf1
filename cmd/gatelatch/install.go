package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newInstallCmd() *cobra.Command { return installCmd(thisSystem()) }

func installCmd(sys system) *cobra.Command {
	cmd := hostCmd("install", "Let an agent ask the gateway before each tool call")
	cmd.AddCommand(installClaudeCmd(sys))
	return cmd
}

// hostCmd is a command whose sub-commands are hosts.
func hostCmd(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name + " HOST",
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return withHint(fmt.Errorf("unknown host %q", args[0]), `the hosts are: claude`)
		},
	}
}

type installOptions struct {
	writing
	place   claudePlace
	hook    string
	config  string
	limit   time.Duration
	after   string
	noStart bool
	force   bool
}

type installReport struct {
	File     string             `json:"file"`
	Link     string             `json:"link,omitempty"`
	Changed  bool               `json:"changed"`
	DryRun   bool               `json:"dry_run,omitempty"`
	Backup   string             `json:"backup,omitempty"`
	Hooks    []hostconfig.Entry `json:"hooks"`
	Warnings []string           `json:"warnings,omitempty"`
}

func installClaudeCmd(sys system) *cobra.Command {
	var opt installOptions
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Add the hooks to Claude Code's settings",
		Long: `Add the hooks to Claude Code's settings, so that it asks the gateway before
each tool call of the main agent, sub-agents and MCP servers. Everything else
in the file stays as it is; "gatelatch uninstall claude" takes the hooks out
again.

The change is shown before it is written. Hooks of user settings are for
people who want to be asked: "claude --safe-mode" runs without them. Those of
managed settings (--scope managed, as root) hold in every mode.`,
		Args: cobra.NoArgs,
	}
	opt.flags(cmd)
	opt.place.flags(cmd)
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&opt.hook, "hook", "", "the hook program (default gatelatch-hook beside this program)")
	cmd.Flags().DurationVar(&opt.limit, "limit", 24*time.Hour, "how long a call may wait for a decision")
	cmd.Flags().StringVar(&opt.after, "defer-after", "", "end a headless session that waits this long (0s, 10m) until \"gatelatch resume\" goes on with it")
	cmd.Flags().StringVar(&opt.config, "config", "", "configuration directory of a gateway that the hook starts (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().BoolVar(&opt.noStart, "no-start", false, "the hook does not start a gateway when none runs")
	cmd.Flags().BoolVar(&opt.force, "force", false, "go on with a Claude Code that is too old")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := opt.place.whose(cmd); err != nil {
			return err
		}
		dir, err := state()
		if err != nil {
			return err
		}
		hook, err := opt.hookFor(sys, string(dir))
		if err != nil {
			return err
		}
		return installClaude(cmd, sys, opt, dir, hook)
	}
	return cmd
}

func installClaude(cmd *cobra.Command, sys system, opt installOptions, state statedir.Dir, hook hostconfig.Hook) error {
	warnings, err := checkClaude(cmd.Context(), sys, opt.force)
	if err != nil {
		return err
	}
	file, change, err := opt.place.plan(sys, func(f settingsFile) (hostconfig.Change, error) {
		return hostconfig.Install(f.data, f.backup, hook)
	})
	if err != nil {
		return err
	}
	report := installReport{
		File: file.path, Link: file.link, DryRun: opt.dryRun,
		Changed:  string(change.Settings) != string(file.data),
		Hooks:    hostconfig.ClaudeEntries(hook),
		Warnings: slices.Concat(warnings, opt.place.warnings(hook), hostconfig.ClaudeWarnings(change.Settings)),
	}
	if change.Backup != nil {
		report.Backup = file.backupPath()
	}
	for _, w := range report.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w)
	}
	if report.Changed {
		if err := opt.apply(cmd, sys, file, change); err != nil {
			return opt.place.asRoot(err)
		}
	}
	// Managed settings are root's, the state directory is the user's.
	if !opt.dryRun && !opt.place.managed() {
		if err := (installed{file.path, hook}).save(state); err != nil {
			return err
		}
	}
	if opt.json {
		return printJSON(cmd, report)
	}
	sayInstalled(cmd, opt, report)
	return nil
}

func sayInstalled(cmd *cobra.Command, opt installOptions, r installReport) {
	out := cmd.OutOrStdout()
	switch {
	case !r.Changed:
		fmt.Fprintf(out, "%s has these hooks already.\n", r.File)
	case r.DryRun:
		return
	default:
		fmt.Fprintf(out, "Wrote %d hooks to %s. Claude Code sessions that run already may need a restart.\n", len(r.Hooks), r.File)
	}
	if opt.noStart {
		fmt.Fprintln(out, "Until a gateway runs, every tool call is blocked.")
	}
	fmt.Fprintln(out, "Start the gateway: gatelatch serve, or gatelatch service install")
}

// hookFor returns the command that the settings will run. The state directory
// is part of it, so that no environment of a project can move it.
func (o installOptions) hookFor(sys system, state string) (hostconfig.Hook, error) {
	if o.limit < time.Minute || o.limit%time.Second != 0 {
		return hostconfig.Hook{}, fmt.Errorf("--limit %s: must be whole seconds, a minute or more", o.limit)
	}
	program, err := sys.program()
	if err != nil {
		return hostconfig.Hook{}, err
	}
	hook, err := o.hookPath(sys, program)
	if err != nil {
		return hostconfig.Hook{}, err
	}
	seconds := int(o.limit / time.Second)
	args := []string{"claude", "--state", state, "--limit", strconv.Itoa(seconds)}
	if o.after != "" {
		if d, err := time.ParseDuration(o.after); err != nil || d < 0 {
			return hostconfig.Hook{}, fmt.Errorf("--defer-after %s: must be a time such as 0s, 10m or 1h", o.after)
		}
		args = append(args, "--defer-after", o.after)
	}
	// On Windows the hook cannot start a gateway yet.
	if !o.noStart && sys.goos != "windows" {
		config, err := configDir(o.config)
		if err != nil {
			return hostconfig.Hook{}, err
		}
		args = append(args, "--start", program, "--config", config)
	}
	return hostconfig.Hook{Command: hook, Args: args, Timeout: seconds, Only: o.place.managed()}, nil
}

// hookPath finds the hook. One that is named is taken as named, even if it is
// a link: a package manager's link outlives the version it points to.
func (o installOptions) hookPath(sys system, program string) (string, error) {
	path := o.hook
	if path == "" {
		path = filepath.Join(filepath.Dir(program), "gatelatch-hook")
		if sys.goos == "windows" {
			path += ".exe"
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", withHint(fmt.Errorf("there is no hook at %s", path),
			`install gatelatch-hook beside gatelatch ("make build" makes both), or name it with --hook PATH`)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || sys.goos != "windows" && info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s is not a program", path)
	}
	return path, nil
}
