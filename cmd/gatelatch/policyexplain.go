package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/spf13/cobra"
)

func newPolicyExplainCmd() *cobra.Command {
	var rules rulesFlags
	var project, mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [flags] -- TOOL [INPUT]",
		Short: "Say what the rules make of a call, and why",
		Long: `Judge one call by the rules and explain: each reason in words, with the rule, its
file and line, and the part of the input that it is about. INPUT is what the tool
is mainly about (a command, a path, an address), or its whole input as JSON.
Nothing is run and nobody is asked; what was remembered does not count.

  gatelatch policy explain -- Bash 'git push -f'
  gatelatch policy explain --project . -- Edit src/main.go
  gatelatch policy explain -- mcp__github__create_issue '{"repo": "a/b"}'`,
		Args: cobra.RangeArgs(1, 2),
	}
	cmd.Flags().StringVar(&project, "project", "", "the project of the session (default the current directory)")
	cmd.Flags().StringVar(&mode, "mode", "", "the mode that a person chose: default, acceptEdits, plan or bypassPermissions")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	rules.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		force, err := rules.load()
		if err != nil {
			return err
		}
		c, sess, err := hypothetical(args, project, mode)
		if err != nil {
			return err
		}
		v := force.Judge(cmd.Context(), c, sess, nil)
		if asJSON {
			return printJSON(cmd, v)
		}
		review.Explain(cmd.OutOrStdout(), c, v, force.For(sess).Rules())
		return nil
	}
	return cmd
}

// hypothetical is a call that nobody makes.
func hypothetical(args []string, project, mode string) (*gatelatch.Call, *gatelatch.Session, error) {
	if args[0] == "" {
		return nil, nil, errors.New("the name of the tool is empty")
	}
	dir, err := os.Getwd()
	if project != "" {
		dir, err = filepath.Abs(project)
	}
	if err != nil {
		return nil, nil, err
	}
	sess := &gatelatch.Session{ID: "explain", Project: dir}
	if mode != "" {
		m, err := gatelatch.ParseMode(mode)
		if err != nil {
			return nil, nil, err
		}
		sess.Chosen = gatelatch.ModeChoice{Mode: m}
	}
	text := ""
	if len(args) > 1 {
		text = args[1]
	}
	input, err := review.Input(args[0], text)
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: args[0], Input: input, Dir: dir}, sess, err
}
