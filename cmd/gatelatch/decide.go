package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

// allowing is what "allow" was told.
type allowing struct {
	answers              map[string]string
	digest, choice, mode string
	input                string
	scope, match         string
	uses                 int
	until                time.Duration
}

func newAllowCmd() *cobra.Command {
	var a allowing
	cmd := &cobra.Command{
		Use:   "allow ID",
		Short: "Allow one call, once or remembered",
		Long: `Allow one call, once. The decision is bound to the call as it is printed here.

With --for it is remembered, too: calls of the same agent that the matcher covers
are then not asked about. "gatelatch show" says what would be remembered.`,
		Example: `  gatelatch allow cal_tbm2
  gatelatch allow cal_tbm2 --for session --uses 5
  gatelatch allow cal_tbm2 --for project --match 'Bash(git commit:*)' --until 8h`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringToStringVar(&a.answers, "answer", nil, `for a question: --answer "Which database?=Postgres"`)
	f.StringVar(&a.digest, "digest", "", "refuse unless the call still has this digest")
	f.StringVar(&a.choice, "choice", "", "for a plan: startEditing or clearContextAndStart")
	f.StringVar(&a.mode, "mode", "", "for a plan: carry it out in this mode, default or acceptEdits")
	f.StringVar(&a.input, "input", "", "replace the input first, by a JSON file or - for standard input")
	f.StringVar(&a.scope, "for", "", "remember it for this session, in this project or always: session, project or always")
	f.StringVar(&a.match, "match", "", "what to remember (default what \"gatelatch show\" says)")
	f.IntVar(&a.uses, "uses", 0, "remember it for that many calls")
	f.DurationVar(&a.until, "until", 0, "remember it for that long, such as 30m or 8h")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		if err := a.check(f.Changed); err != nil {
			return err
		}
		call, err := findCall(ctx, c, f.Arg(0))
		if err != nil {
			return err
		}
		if a.digest != "" {
			call.Digest = a.digest
		}
		if a.input != "" {
			if call, err = replaceInput(ctx, cmd, c, call, a.input); err != nil {
				return err
			}
			if !asJSON {
				printCall(cmd.OutOrStdout(), call)
			}
		}
		return a.decide(ctx, cmd, c, call, asJSON)
	})
}

func (a *allowing) check(set func(flag string) bool) error {
	switch {
	case a.scope == "" && (set("match") || set("uses") || set("until")):
		return withHint(errors.New("--match, --uses and --until say what to remember"), "add --for session, --for project or --for always")
	case set("match") && a.match == "":
		return errors.New("--match is empty")
	case set("uses") && a.uses < 1:
		return errors.New("--uses is a number from 1")
	case set("until") && a.until < time.Second:
		return errors.New("--until is a time from 1s")
	}
	return nil
}

func (a *allowing) decide(ctx context.Context, cmd *cobra.Command, c *client.Client, call api.Call, asJSON bool) error {
	d := api.Decision{State: string(gatelatch.Allowed), Digest: call.Digest, Answers: a.answers, Choice: a.choice, Mode: a.mode}
	if a.scope != "" {
		match, err := a.matcher(call)
		if err != nil {
			return err
		}
		d.Remember = &api.Terms{Scope: a.scope, Match: match, For: int(a.until / time.Second), Uses: a.uses}
	}
	call, err := c.Decide(ctx, call.ID, d)
	if err != nil {
		if d.Remember != nil && errors.Is(err, gatelatch.ErrInvalid) {
			err = withHint(err, stillWaits)
		}
		return err
	}
	if err := printDecided(cmd, call, asJSON); err != nil || asJSON || d.Remember == nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "remembers %s %s; revoke with gatelatch grants revoke %s%s\n",
		d.Remember.Match, termsLine(*d.Remember), shortID(call.Decided.Grant), stateArg(c.State()))
	return err
}

const stillWaits = `nothing was decided; "gatelatch show" says what can be remembered, and without --for the call is allowed once`

// matcher is what was asked for, or what the gateway suggests.
func (a *allowing) matcher(call api.Call) (string, error) {
	if a.match != "" {
		return a.match, nil
	}
	for _, r := range call.Remember {
		switch {
		case r.Scope != a.scope:
		case r.Refused != "":
			return "", withHint(fmt.Errorf("this can't be remembered: %s", r.Refused), stillWaits)
		default:
			return r.Match, nil
		}
	}
	switch gatelatch.Scope(a.scope) {
	case gatelatch.ForSession, gatelatch.ForProject, gatelatch.Always:
		return "", withHint(errors.New("the gateway has nothing to remember for this call"), stillWaits)
	default:
		return "", fmt.Errorf("--for is session, project or always, not %q", a.scope)
	}
}

var reaches = map[string]string{"session": "for this session", "project": "in this project", "always": "always"}

func termsLine(t api.Terms) string {
	s := reaches[t.Scope]
	if t.Uses > 0 {
		s += fmt.Sprintf(", for %s", plural(t.Uses, "call"))
	}
	if t.For > 0 {
		s += fmt.Sprintf(", until %s", moment(time.Now().Add(time.Duration(t.For)*time.Second)))
	}
	return s
}

func newDenyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Deny one call",
		Args:  cobra.ExactArgs(1),
	}
	note := cmd.Flags().StringP("note", "m", "", "tell the agent why")
	interrupt := cmd.Flags().Bool("interrupt", false, "end the agent's turn, too")
	return settleCmd(cmd, func() api.Decision {
		return api.Decision{State: string(gatelatch.Denied), Note: *note, Interrupt: *interrupt}
	})
}

func newReplyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reply ID TEXT",
		Short: "Answer the agent instead: the call does not run, it goes on with your words",
		Args:  cobra.ExactArgs(2),
	}
	return settleCmd(cmd, func() api.Decision {
		return api.Decision{State: string(gatelatch.Denied), Note: cmd.Flags().Arg(1), Reply: true}
	})
}

func settleCmd(cmd *cobra.Command, decision func() api.Decision) *cobra.Command {
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		call, err := findCall(ctx, c, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		d := decision()
		d.Digest = call.Digest
		if call, err = c.Decide(ctx, call.ID, d); err != nil {
			return err
		}
		return printDecided(cmd, call, asJSON)
	})
}

func printDecided(cmd *cobra.Command, call api.Call, asJSON bool) error {
	if asJSON {
		return printJSON(cmd, call)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s (%s)\n", stateWord(call), call.Card.Says, cut(call.Card.Subject, 80))
	return err
}
