package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
)

func newPolicyCheckCmd() *cobra.Command {
	var rules rulesFlags
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Say what is wrong or risky in the rules",
		Long: `Read rules and report what is wrong in them (error), what does not do what it seems
to or lets through more than it seems to (warning), and what could be better (info).
Without FILE it is about the rules in force. The exit code is 1 if there are errors;
with --strict, if there are warnings, too.`,
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "fail on warnings, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	rules.addConfig(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		found, err := lintFiles(cmd, &rules, args)
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(cmd, map[string][]review.Finding{"findings": found})
		} else {
			printFindings(cmd.OutOrStdout(), found)
		}
		if err != nil {
			return err
		}
		return verdictOf(found, strict)
	}
	return cmd
}

// lintFiles checks files, or those in force.
func lintFiles(cmd *cobra.Command, rules *rulesFlags, files []string) ([]review.Finding, error) {
	found := []review.Finding{}
	if len(files) == 0 {
		user, err := rules.path()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{policy.MachineFile, user, policy.ProjectFile} {
			if _, err := os.Stat(name); err == nil {
				files = append(files, name)
			} else if name == user && errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(cmd.ErrOrStderr(), "There is no %s: the built-in rules hold.\n", user)
			}
		}
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found = append(found, review.Lint(name, data, time.Now())...)
	}
	return found, nil
}

func printFindings(w io.Writer, found []review.Finding) {
	for _, f := range found {
		fmt.Fprintf(w, "%s:%d: %s: ", f.File, f.Line, f.Severity)
		if f.Rule != "" {
			fmt.Fprintf(w, "%s: ", render.OneLine(f.Rule))
		}
		fmt.Fprintf(w, "%s [%s]\n", render.OneLine(f.Message), f.Code)
		if f.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", render.OneLine(f.Hint))
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(w, "Nothing to report.")
	}
}

func verdictOf(found []review.Finding, strict bool) error {
	n := map[review.Severity]int{}
	for _, f := range found {
		n[f.Severity]++
	}
	switch {
	case n[review.Error] > 0:
		return fmt.Errorf("errors: %d", n[review.Error])
	case strict && n[review.Warning] > 0:
		return fmt.Errorf("warnings: %d", n[review.Warning])
	}
	return nil
}
