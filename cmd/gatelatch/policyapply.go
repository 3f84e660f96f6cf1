package main

import (
	"fmt"
	"os"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/spf13/cobra"
)

func newPolicyShowCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the rules that the gateway judges by",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the revision and who put it in force")
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := peopleClient(state)
		if err != nil {
			return err
		}
		p, err := c.Policy(cmd.Context())
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, p)
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), p.Text)
		return err
	}
	return cmd
}

func newPolicyApplyCmd(sys system) *cobra.Command {
	var w writing
	var note string
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Put the rules of FILE in force, after a backtest",
		Long: `Put the rules of FILE in force in the gateway that runs: in its policy.yaml or,
where gateways share a PostgreSQL, for all of them at once. Before that it says
whether they are wider or narrower, and replays what happened: rules that would
have allowed what a person refused are not applied. Each change is kept, and
stands in the audit trail.`,
		Args: cobra.ExactArgs(1),
	}
	w.flags(cmd)
	cmd.Flags().StringVar(&note, "note", "", "why, for the audit trail; only where gateways share the rules")
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := policy.Load(args[0])
		if err != nil {
			return withHint(err, `"gatelatch policy check `+args[0]+`" tells more`)
		}
		text, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		c, err := peopleClient(state)
		if err != nil {
			return err
		}
		now, err := c.Policy(cmd.Context())
		if err != nil {
			return err
		}
		if now.Text == string(text) {
			fmt.Fprintln(w.talk(cmd), "These rules are in force already.")
			return nil
		}
		if err := w.compare(cmd, now.Text, set); err != nil {
			return err
		}
		p, err := openPast(cmd, "", state)
		if err != nil {
			return err
		}
		defer p.close()
		res, err := backtest(cmd, set, p)
		if err != nil {
			return err
		}
		fmt.Fprintln(w.talk(cmd))
		printBacktest(w.talk(cmd), res)
		if err := refusals(res); err != nil {
			return err
		}
		return w.putInForce(cmd, sys, c, now, string(text), note)
	}
	return cmd
}

// compare says what is different about new rules.
func (w *writing) compare(cmd *cobra.Command, old string, set *policy.Set) error {
	before, err := policy.Parse("policy.yaml", []byte(old))
	if err != nil {
		fmt.Fprintf(w.talk(cmd), "The rules in force can't be read: %v\n", err)
		return nil
	}
	printDifference(w.talk(cmd), review.Diff(before, set))
	return nil
}

func (w *writing) putInForce(cmd *cobra.Command, sys system, c *client.Client, now api.Policy, text, note string) error {
	if !now.Shared {
		f, err := readSettings(now.Path)
		if err != nil {
			return err
		}
		return w.applyRules(cmd, sys, f, []byte(text))
	}
	if agreed, err := w.agreed(cmd, sys, "policy.yaml", []byte(now.Text), []byte(text)); err != nil || !agreed {
		return err
	}
	rev, err := c.ApplyPolicy(cmd.Context(), api.ApplyPolicy{From: now.Revision, Text: text, Note: note})
	switch {
	case err != nil:
		return withHint(err, "nothing was changed")
	case w.json:
		return printJSON(cmd, rev)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "Revision %d is in force.\n", rev.Revision)
	return err
}
