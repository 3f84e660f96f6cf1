package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gatelatch/gatelatch/policy/claude"
	"github.com/spf13/cobra"
)

func newPolicyImportCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Turn the rules of an agent into ours",
		Args:  cobra.NoArgs,
		RunE:  helpOnly,
	}
	cmd.AddCommand(newImportClaudeCmd(thisSystem()))
	return cmd
}

func newImportClaudeCmd(sys system) *cobra.Command {
	var rules rulesFlags
	var project, managed string
	var write, asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Turn Claude Code's permission rules into a policy",
		Long: `Read the permission rules in Claude Code's settings, managed, of the user and of the
project in the current directory, and print them as a policy. Nothing becomes wider:
a rule that allows and can't be said exactly is made narrower or left out, one that
asks or denies is made stricter, and a comment says so.

With --write they are added to policy.yaml, after the change was shown.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&project, "project", ".", "the project whose settings to read")
	cmd.Flags().StringVar(&managed, "managed", managedSettings(runtime.GOOS), "the file of managed settings")
	cmd.Flags().BoolVar(&write, "write", false, "add the rules to policy.yaml")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --write: do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	rules.addConfig(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		files, err := claudeSettings(managed, project)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return withHint(errors.New("there are no settings of Claude Code"), "give the folder of a project with --project")
		}
		im := claude.Convert(files)
		if asJSON {
			if err := printJSON(cmd, im); err != nil {
				return err
			}
		}
		if !write {
			if !asJSON {
				_, err = cmd.OutOrStdout().Write(im.YAML())
			}
			return err
		}
		blocks := map[string]string{}
		for _, key := range []string{"deny", "ask", "allow", "projects"} {
			blocks[key] = im.Block(key)
		}
		return mergeRules(cmd, sys, &rules, writing{yes: yes, json: asJSON}, blocks, nil)
	}
	return cmd
}

// managedSettings is where an administrator puts settings.
func managedSettings(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// claudeSettings reads the settings of every scope that there are.
func claudeSettings(managed, project string) ([]claude.File, error) {
	project, err := filepath.Abs(project)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob(filepath.Join(filepath.Dir(managed), "managed-settings.d", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []claude.File
	for _, f := range slices.Concat(scoped(claude.Managed, "", append([]string{managed}, more...)...),
		scoped(claude.Local, project, filepath.Join(project, ".claude", "settings.local.json")),
		scoped(claude.Project, project, filepath.Join(project, ".claude", "settings.json")),
		scoped(claude.User, "", filepath.Join(home, ".claude", "settings.json"))) {
		data, err := os.ReadFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			f, err = claude.Parse(f.Path, f.Scope, f.Project, data)
		}
		if err != nil {
			return nil, fmt.Errorf("settings of Claude Code: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

func scoped(scope claude.Scope, project string, paths ...string) (out []claude.File) {
	for _, p := range paths {
		out = append(out, claude.File{Path: p, Scope: scope, Project: filepath.ToSlash(project)})
	}
	return out
}
