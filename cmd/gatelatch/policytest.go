package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
)

func newPolicyTestCmd() *cobra.Command {
	var rules rulesFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Check a table of calls with the verdicts they must get",
		Long: `Judge every call in FILE and compare with what it must get. The exit code is 1 if
one differs, so a team can keep such a file beside its rules and run it in CI.

  version: 1
  tests:
    - {tool: Bash, command: git status, expect: allow}
    - {tool: Bash, command: git push -f, expect: deny, because: "Bash(git push:*)"}
    - {tool: Read, path: .env, expect: ask}`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	rules.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		cases, err := review.ParseTable(filepath.Base(args[0]), data)
		if err != nil {
			return err
		}
		force, err := rules.load()
		if err != nil {
			return err
		}
		out := tested{Tests: []review.Outcome{}}
		for i := range cases {
			o := cases[i].Try(cmd.Context(), force)
			out.Tests = append(out.Tests, o)
			if !o.OK {
				out.Failed++
			}
		}
		if asJSON {
			err = printJSON(cmd, out)
		} else {
			printTested(cmd.OutOrStdout(), out)
		}
		switch {
		case err != nil:
			return err
		case out.Failed > 0:
			return fmt.Errorf("%d of %d tests failed", out.Failed, len(out.Tests))
		case len(out.Tests) == 0:
			return errors.New("there are no tests")
		}
		return nil
	}
	return cmd
}

type tested struct {
	Tests  []review.Outcome `json:"tests"`
	Failed int              `json:"failed"`
}

func printTested(w io.Writer, t tested) {
	for _, o := range t.Tests {
		if o.OK {
			continue
		}
		fmt.Fprintf(w, "%s: %s\n  want %s", o.Source, cut(render.OneLine(o.Name), 80), o.Want)
		if o.Because != "" {
			fmt.Fprintf(w, " because of %s", render.OneLine(o.Because))
		}
		fmt.Fprintf(w, "\n  got  %s", o.Verdict.Effect)
		if rs := o.Verdict.Reasons; len(rs) > 0 {
			fmt.Fprintf(w, ": %s%s", render.OneLine(rs[0].Message), where(rs[0]))
		}
		fmt.Fprintln(w)
	}
	if t.Failed == 0 {
		fmt.Fprintf(w, "%d tests, all as expected\n", len(t.Tests))
	}
}
