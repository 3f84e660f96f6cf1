package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func newPolicySuggestCmd(sys system) *cobra.Command {
	var from string
	var asJSON, write, yes bool
	var opt history.SuggestOptions
	var rules rulesFlags
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Find the narrowest rules that would have saved most questions",
		Long: `Look at what people were asked and find rules that would have answered: the
narrowest that save most questions first. None of them covers a call that a person
refused, and none is wider than what a click may remember. Each says what else it
would let through.

With --write they are added to policy.yaml, after a backtest and after the change
was shown.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&from, "from", "", `use a history that "gatelatch policy history" wrote`)
	cmd.Flags().IntVar(&opt.Rules, "limit", 10, "at most so many rules")
	cmd.Flags().IntVar(&opt.Saves, "saves", 2, "only rules that save at least so many questions")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&write, "write", false, "add the rules to policy.yaml")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --write: do not ask")
	rules.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if opt.Rules < 1 || opt.Saves < 1 {
			return errors.New("--limit and --saves are at least 1")
		}
		force, err := rules.load()
		if err != nil {
			return err
		}
		p, err := openPast(cmd, from, rules.state)
		if err != nil {
			return err
		}
		defer p.close()
		got, err := history.Suggest(cmd.Context(), force.Set(), p.Source, opt)
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(cmd, got)
		} else {
			printSuggestions(cmd.OutOrStdout(), got)
		}
		if err != nil || !write || len(got.Rules) == 0 {
			return err
		}
		block, err := listOf(got)
		if err != nil {
			return err
		}
		return mergeRules(cmd, sys, &rules, writing{yes: yes, json: asJSON}, map[string]string{"allow": block}, func(set *policy.Set) error {
			res, err := backtest(cmd, set, p)
			if err == nil {
				err = refusals(res)
			}
			return err
		})
	}
	return cmd
}

// listOf writes the rules as a list of YAML.
func listOf(got *history.Suggestions) (string, error) {
	var texts []string
	for _, s := range got.Rules {
		texts = append(texts, s.Rule)
	}
	list, err := yaml.Marshal(texts)
	return string(list), err
}

func printSuggestions(w io.Writer, got *history.Suggestions) {
	if len(got.Rules) == 0 {
		fmt.Fprintf(w, "No rule would have saved any of the %d questions safely.\n", got.Asks)
		return
	}
	saves := 0
	for _, s := range got.Rules {
		saves += s.Saves
		fmt.Fprintf(w, "%s\n    saves %s\n", render.OneLine(s.Rule), questions(s.Saves))
		for _, e := range s.Examples {
			fmt.Fprintf(w, "      %s\n", briefly(e))
		}
		fmt.Fprintf(w, "    lets through: %s\n", s.Also)
		if s.Undecided > 0 {
			fmt.Fprintf(w, "    and %s that nobody answered\n", questions(s.Undecided))
		}
	}
	fmt.Fprintf(w, "\nTogether they would have saved %d of %s.\n", saves, questions(got.Asks))
}

func questions(n int) string {
	if n == 1 {
		return "1 question"
	}
	return fmt.Sprintf("%d questions", n)
}
