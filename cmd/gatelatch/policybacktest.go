package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
)

func newPolicyBacktestCmd() *cobra.Command {
	var from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backtest FILE",
		Short: "Replay what happened by the rules of FILE",
		Long: `Judge every call that was settled by the rules of FILE, and compare: how many
questions vanish, which are new, and what a person refused that these rules would
allow. There must be none of that: then the exit code is 1.

FILE stands for your policy.yaml; the rules of the machine hold, too. Links are
followed as they are now, and a path that is gone is taken as it is written. What
a person refused is read both ways, and one that allows is enough to count. Modes
of sessions do not count.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&from, "from", "", `replay a history that "gatelatch policy history" wrote`)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := os.Stat(args[0]); err != nil {
			return err
		}
		rules, err := soundRules(policy.Paths{Machine: policy.MachineFile, User: args[0]})
		if err != nil {
			return err
		}
		p, err := openPast(cmd, from, state)
		if err != nil {
			return err
		}
		defer p.close()
		res, err := backtest(cmd, rules.Set(), p)
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(cmd, res)
		} else {
			printBacktest(cmd.OutOrStdout(), res)
		}
		if err == nil {
			err = refusals(res)
		}
		return err
	}
	return cmd
}

func backtest(cmd *cobra.Command, rules *policy.Set, p *past) (*history.Result, error) {
	show := newBar(cmd.ErrOrStderr(), "judged", p.total)
	defer show.end()
	return history.Backtest(cmd.Context(), rules, p.Source, show.at)
}

// refusals is the error of rules that must not be applied.
func refusals(res *history.Result) error {
	if res.Safe() {
		return nil
	}
	return withHint(fmt.Errorf("the rules would allow %s that a person refused", calls(res.Opened.Count)),
		"make the rules named above narrower, or deny what was refused")
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

func printBacktest(out io.Writer, res *history.Result) {
	const row = "%-29s  %d"
	fmt.Fprintf(out, row+"\n", "calls", res.Calls)
	fmt.Fprintf(out, row+"\n", "asked before", res.AsksBefore)
	fmt.Fprintf(out, row+"; vanished: %d, new: %d\n", "asked by these rules", res.AsksAfter, res.Vanish, res.New)
	for _, part := range []struct {
		name string
		list history.List
	}{
		{"a person refused, now allowed", res.Opened},
		{"a person allowed, now denied", res.Closed},
		{"a rule denied, now allowed", res.Loosened},
	} {
		fmt.Fprintf(out, row+"\n", part.name, part.list.Count)
		printReplayed(out, part.list)
	}
}

func printReplayed(out io.Writer, list history.List) {
	for _, x := range list.First {
		fmt.Fprintf(out, "  %s  %s", shortID(render.OneLine(x.Record.Call)), briefly(x.Record))
		if r := review.Telling(x.Verdict); r.Message != "" {
			fmt.Fprintf(out, "  (%s%s)", render.OneLine(r.Message), where(r))
		}
		fmt.Fprintln(out)
	}
	if rest := list.Count - len(list.First); rest > 0 {
		fmt.Fprintf(out, "  … and %d more\n", rest)
	}
}

func where(r gatelatch.Reason) string {
	if r.Source == "" {
		return ""
	}
	return ", " + render.OneLine(r.Source)
}

// briefly is a recorded call in a few words, safe to print.
func briefly(r history.Record) string {
	card := render.Call(&gatelatch.Call{Kind: r.Kind, Tool: r.Tool, Input: r.Input, Dir: r.Dir}, nil)
	return render.OneLine(r.Tool) + " " + cut(card.Subject, 60)
}
