package main

import (
	"context"
	"fmt"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newInterruptCmd() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "interrupt SESSION",
		Short: "Stop what a session is doing",
		Long: `Ends the turn of one session of an agent: what waits in it is denied. An agent
that "gatelatch run" hosts stops at once, any other with its next call, unless
its user says something new first. SESSION is an id that "gatelatch sessions"
lists, or its beginning.`,
		Example: "  gatelatch interrupt 5f2c\n  gatelatch interrupt 5f2c --note 'look at the tests first'",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVarP(&note, "note", "m", "", "tell the agent why")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Sessions(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(list.Sessions, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		s, err = c.Interrupt(ctx, api.Interrupt{Agent: s.Agent, Session: s.Session.ID, Note: note})
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, s)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %s: interrupted\n", s.Session.Name, cut(s.Session.ID, 24))
		return err
	})
}
