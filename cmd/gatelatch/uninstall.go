package main

import (
	"fmt"
	"os"
	"path/filepath"

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
	file, change, err := place.plan(func(f settingsFile) (hostconfig.Change, error) {
		return hostconfig.Uninstall(f.data, f.backup)
	})
	if err != nil {
		return err
	}
	report := uninstallReport{File: file.path, Link: file.link, Changed: change.Hooks > 0, DryRun: w.dryRun, Removed: change.Hooks}
	if report.Changed {
		if err := w.apply(cmd, sys, file, change); err != nil {
			return err
		}
	}
	if !w.dryRun {
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

// claudePlace says which of Claude Code's settings files is meant.
type claudePlace struct {
	settings string
	project  bool
}

func (p *claudePlace) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.settings, "settings", "", "settings file (default $CLAUDE_CONFIG_DIR/settings.json, or ~/.claude/settings.json)")
	cmd.Flags().BoolVar(&p.project, "project", false, "only this project: ./.claude/settings.local.json")
	cmd.MarkFlagsMutuallyExclusive("settings", "project")
}

func (p *claudePlace) path() (string, error) {
	switch {
	case p.settings != "":
		return p.settings, nil
	case p.project:
		return filepath.Join(".claude", "settings.local.json"), nil
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".claude", "settings.json"), nil
}

// plan reads the file and works out its change; errors name the file.
func (p *claudePlace) plan(change func(settingsFile) (hostconfig.Change, error)) (settingsFile, hostconfig.Change, error) {
	path, err := p.path()
	if err != nil {
		return settingsFile{}, hostconfig.Change{}, err
	}
	file, err := readSettings(path)
	if err != nil {
		return file, hostconfig.Change{}, err
	}
	c, err := change(file)
	if err != nil {
		return file, c, withHint(fmt.Errorf("%s: %w", file.path, err), "nothing was written; mend the file and try again")
	}
	return file, c, nil
}
