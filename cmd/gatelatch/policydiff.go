package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
)

func newPolicyDiffCmd() *cobra.Command {
	var asJSON, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say whether rules became wider or narrower, with examples",
		Long: `Compare two policy files by what they say about calls: wider (more gets through),
narrower, or both, with an example call for each difference. The calls are thought
up from the rules of both files; that none is found is no proof that there is none.`,
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if the rules differ")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var sets [2]*policy.Set
		for i, name := range args {
			set, err := policy.Load(name)
			if err != nil {
				return err
			}
			sets[i] = set
		}
		d := review.Diff(sets[0], sets[1])
		if asJSON {
			if err := printJSON(cmd, d); err != nil {
				return err
			}
		} else {
			printDifference(cmd.OutOrStdout(), d)
		}
		if exitCode && d.Relation != review.Same {
			return errors.New("the rules differ")
		}
		return nil
	}
	return cmd
}

var relations = map[review.Relation]string{
	review.Same:     "The rules are the same.",
	review.Alike:    "The rules are written differently, and no example tells them apart.",
	review.Wider:    "The new rules are wider: they let more through.",
	review.Narrower: "The new rules are narrower: they let less through.",
	review.Both:     "The new rules are wider in some ways and narrower in others.",
}

func printDifference(w io.Writer, d *review.Difference) {
	fmt.Fprintln(w, relations[d.Relation])
	for _, x := range d.Witnesses {
		sign := "narrower"
		if x.Wider() {
			sign = "wider"
		}
		card := render.Call(&x.Call, nil)
		fmt.Fprintf(w, "\n%s: %s %s\n", sign, render.OneLine(x.Tool), cut(card.Subject, 80))
		fmt.Fprintf(w, "  old  %s\n  new  %s\n", said(x.Old), said(x.New))
	}
}

// said is a verdict in one line.
func said(v gatelatch.Verdict) string {
	r := review.Telling(v)
	return strings.TrimSpace(fmt.Sprintf("%-5s  %s%s", v.Effect, render.OneLine(r.Message), where(r)))
}
