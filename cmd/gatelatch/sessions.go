package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newSessionsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of agents, with the mode of each",
		Args:  cobra.NoArgs,
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Sessions(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, list)
		}
		return printSessions(cmd.OutOrStdout(), list.Sessions)
	})
}

func printSessions(out io.Writer, ss []api.AgentSession) error {
	if len(ss) == 0 {
		_, err := fmt.Fprintln(out, "No agent has asked yet.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range ss {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s ago\n", cut(s.Session.ID, 24), s.Session.Name, s.Session.Project, reviewText(s.Review), modeText(s.Mode), shortAge(s.Since))
	}
	return w.Flush()
}

// reviewText says whether the session waits for a person.
func reviewText(n int) string {
	if n == 0 {
		return "not waiting"
	}
	return fmt.Sprintf("in review (%d)", n)
}

// modeText says which mode a person chose, for how long.
func modeText(m *api.Mode) string {
	switch {
	case m == nil:
		return "as the policy says"
	case m.Until != nil:
		return fmt.Sprintf("%s until %s, by %s", m.Mode, moment(*m.Until), actorName(m.By))
	}
	return fmt.Sprintf("%s, by %s", m.Mode, actorName(m.By))
}

func newModeCmd() *cobra.Command {
	var length time.Duration
	cmd := &cobra.Command{
		Use:   "mode SESSION MODE",
		Short: "Choose how much of a session is asked about",
		Long: `Chooses the mode of one session of an agent:

  plan               what does not only read is asked
  default            as the rules say
  acceptEdits        edits inside the project are allowed
  bypassPermissions  what no rule speaks about is allowed; needs --for

No mode weakens a rule that denies or asks, or lets a protected path be
written to. What waits in the session is judged again. SESSION is an id that
"gatelatch sessions" lists, or its beginning.`,
		Example: "  gatelatch mode 5f2c acceptEdits\n  gatelatch mode 5f2c bypassPermissions --for 30m",
		Args:    cobra.ExactArgs(2),
	}
	cmd.Flags().DurationVar(&length, "for", 0, "how long it holds: 30m, 2h; otherwise for as long as the session")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		mode, err := gatelatch.ParseMode(cmd.Flags().Arg(1))
		switch {
		case err != nil:
			return err
		case length < 0 || length%time.Second != 0:
			return errors.New("--for is a time of whole seconds")
		case mode == gatelatch.ModeBypass && length == 0:
			return withHint(fmt.Errorf("%s needs a time", mode), "say how long: --for 30m")
		}
		list, err := c.Sessions(ctx)
		if err != nil {
			return err
		}
		s, err := findSession(list.Sessions, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		s, err = c.SetMode(ctx, api.SetMode{Agent: s.Agent, Session: s.Session.ID, Mode: string(mode), For: int(length / time.Second)})
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, s)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %s: %s\n", s.Session.Name, cut(s.Session.ID, 24), modeText(s.Mode))
		return err
	})
}

// findSession finds a session by its id or the beginning of it.
func findSession(ss []api.AgentSession, id string) (api.AgentSession, error) {
	var found []api.AgentSession
	for _, s := range ss {
		if s.Session.ID == id {
			return s, nil
		}
		if strings.HasPrefix(s.Session.ID, id) {
			found = append(found, s)
		}
	}
	switch {
	case id == "" || len(found) == 0:
		return api.AgentSession{}, withHint(fmt.Errorf("no session has the id %s", id), `"gatelatch sessions" lists them`)
	case len(found) > 1:
		return api.AgentSession{}, withHint(fmt.Errorf("%d sessions begin with %s", len(found), id), "give more characters of the id")
	}
	return found[0], nil
}
