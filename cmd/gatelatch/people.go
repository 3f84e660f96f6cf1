package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/spf13/cobra"
)

// person runs fn with a client that may decide.
func person(cmd *cobra.Command, fn func(ctx context.Context, c *client.Client, asJSON bool) error) *cobra.Command {
	state := stateFlag(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	key := cmd.Flags().String("key-file", "", "file with the key to use (default approver.key in the state directory)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		c, err := client.ForPerson(dir, *key)
		if err != nil {
			return err
		}
		_ = useMaskKey(dir) // without it masks are still masks
		return fn(cmd.Context(), c, *asJSON)
	}
	return cmd
}

func newLsCmd() *cobra.Command {
	var settled bool
	var limit int
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List what waits for a decision",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&settled, "settled", false, "list what was decided instead, newest first")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		which := "pending"
		if settled {
			which = "settled"
		}
		if limit < 1 || limit > 500 {
			return errors.New("--limit is a number from 1 to 500")
		}
		list, err := c.Calls(ctx, which, "", limit)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, list)
		}
		if err := printNotices(ctx, cmd.ErrOrStderr(), c); err != nil {
			return err
		}
		return printCalls(cmd.OutOrStdout(), list, settled)
	})
}

// printNotices says what holds for the whole gateway and explains the list.
func printNotices(ctx context.Context, w io.Writer, c *client.Client) error {
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if st.Notice != "" {
		fmt.Fprintln(w, "gatelatch: "+st.Notice)
	}
	for _, m := range st.Muted {
		fmt.Fprintf(w, "gatelatch: %s asked too much and may not ask until \"gatelatch unmute %s\"\n", cmp.Or(m.Name, m.Agent), m.Agent)
	}
	if p := st.Paused; p != nil {
		fmt.Fprintf(w, "gatelatch: paused by %s, everything is denied until \"gatelatch unpause\"\n", p.By.Name)
	}
	return nil
}

func printCalls(out io.Writer, list api.Calls, settled bool) error {
	if len(list.Calls) == 0 {
		_, err := fmt.Fprintln(out, map[bool]string{false: "Nothing waits.", true: "Nothing was decided yet."}[settled])
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	same := map[string]int{}
	for _, c := range list.Calls {
		same[c.Agent+c.Digest]++
	}
	for _, c := range list.Calls {
		n := same[c.Agent+c.Digest]
		if same[c.Agent+c.Digest] = 0; n == 0 && !settled {
			continue // it stands in the row of the first
		}
		mark := shortAge(c.Created)
		if settled {
			mark = c.State + " by " + byName(c.Decided) + wentWrong(c.Outcome)
		} else if n > 1 {
			mark += fmt.Sprintf(" ×%d", n)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", shortID(c.ID), mark, whose(c.Session), redact.Text(c.Card.Says), cut(redact.Text(c.Card.Subject), 60))
	}
	if list.More {
		fmt.Fprintln(w, "…\t\t\tmore with --limit\t")
	}
	return w.Flush()
}

// whose names a session by its project, or its agent.
func whose(s api.Session) string {
	if s.Project == "" {
		return s.Name
	}
	return path.Base(s.Project)
}

// shortID is enough to name a call: ids begin with when, the rest is random.
func shortID(id string) string { return id[:min(len(id), len("cal_")+10)] }

func shortAge(t time.Time) string {
	switch d := time.Since(t).Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
}

func byName(d *api.Decided) string {
	if d == nil {
		return "nobody"
	}
	return actorName(d.By)
}

func actorName(a api.Actor) string { return cmp.Or(a.Name, a.Kind) }

// wentWrong says that a call ran and did not end well.
func wentWrong(o *api.Outcome) string {
	if o == nil || o.Kind == string(gatelatch.Done) {
		return ""
	}
	return ", " + o.Kind
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func newShowCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one call in full",
		Args:  cobra.ExactArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		call, err := findCall(ctx, c, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, call)
		}
		printCall(cmd.OutOrStdout(), call)
		return nil
	})
}

// findCall finds a call by its id or the beginning of one that waits.
func findCall(ctx context.Context, c *client.Client, id string) (api.Call, error) {
	call, err := c.Call(ctx, id)
	if !errors.Is(err, gatelatch.ErrNotFound) {
		return call, err
	}
	if len(strings.TrimPrefix(id, "cal_")) < 4 {
		return call, withHint(fmt.Errorf("no call has the id %s", id), "give at least four characters of an id that \"gatelatch ls\" lists")
	}
	var found []api.Call
	for _, state := range []string{"pending", "settled"} {
		list, err := c.Calls(ctx, state, "", 500)
		if err != nil {
			return call, err
		}
		for _, x := range list.Calls {
			if strings.HasPrefix(x.ID, id) || strings.HasPrefix(x.ID, "cal_"+id) {
				found = append(found, x)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		return call, withHint(fmt.Errorf("no call has the id %s", id), `list what there is with "gatelatch ls"`)
	case 1:
		return found[0], nil
	}
	return call, withHint(fmt.Errorf("%d calls begin with %s", len(found), id), "give more characters of the id")
}

func newPauseCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Stop everything: deny what waits and all that comes",
		Args:  cobra.NoArgs,
	}
	note := cmd.Flags().StringP("note", "m", "", "tell agents and people why")
	return statusCmd(cmd, func(ctx context.Context, c *client.Client) (api.Status, error) { return c.Pause(ctx, *note) })
}

func newUnpauseCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "unpause",
		Short: "End a pause: rules and people decide again",
		Args:  cobra.NoArgs,
	}
	return statusCmd(cmd, func(ctx context.Context, c *client.Client) (api.Status, error) { return c.Unpause(ctx) })
}

func statusCmd(cmd *cobra.Command, do func(context.Context, *client.Client) (api.Status, error)) *cobra.Command {
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		st, err := do(ctx, c)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, st)
		}
		text := "Rules and people decide."
		if st.Paused != nil {
			text = "Paused: everything is denied until \"gatelatch unpause\"."
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		return err
	})
}
