package main

import (
	"fmt"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newUninstallCmd() *cobra.Command { return uninstallCmd(thisSystem()) }

func uninstallCmd(sys system) *cobra.Command {
	cmd := hostCmd("uninstall", "Take the gateway's hooks out of an agent's settings")
	cmd.AddCommand(uninstallClaudeCmd(sys))
	return cmd
}

type uninstallReport struct {
	File    string `json:"file"`
	Link    string `json:"link,omitempty"`
	Changed bool   `json:"changed"`
	DryRun  bool   `json:"dry_run,omitempty"`
	Removed int    `json:"removed"`
}

func uninstallClaudeCmd(sys system) *cobra.Command {
	var w writing
	var place claudePlace
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Take the hooks out of Claude Code's settings",
		Long: `Take out what "gatelatch install claude" wrote, and nothing else. If the file
was not changed since, it gets its old bytes back.`,
		Args: cobra.NoArgs,
	}
	w.flags(cmd)
	place.flags(cmd)
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		return uninstallClaude(cmd, sys, w, place, dir)
	}
	return cmd
}

func uninstallClaude(cmd *cobra.Command, sys system, w writing, place claudePlace, state statedir.Dir) error {
	file, change, err := place.plan(sys, func(f settingsFile) (hostconfig.Change, error) {
		return hostconfig.Uninstall(f.data, f.backup, place.managed())
	})
	if err != nil {
		return err
	}
	report := uninstallReport{File: file.path, Link: file.link, Changed: change.Hooks > 0, DryRun: w.dryRun, Removed: change.Hooks}
	if report.Changed {
		if err := w.apply(cmd, sys, file, change); err != nil {
			return place.asRoot(err)
		}
	}
	if !w.dryRun && !place.managed() {
		if err := forgetInstalled(state, file.path); err != nil {
			return err
		}
	}
	switch {
	case w.json:
		return printJSON(cmd, report)
	case !report.Changed:
		fmt.Fprintf(cmd.OutOrStdout(), "%s has no hooks of gatelatch.\n", file.path)
	case !w.dryRun:
		fmt.Fprintf(cmd.OutOrStdout(), "Removed %d hooks from %s. Claude Code does not ask the gateway any more.\n", report.Removed, file.path)
	}
	return nil
}
