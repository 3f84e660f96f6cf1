package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newGrantsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List what was remembered with an allow, or revoke it",
		Args:  cobra.NoArgs,
	}
	all := cmd.Flags().Bool("all", false, "also what was revoked, used up or is over")
	cmd.AddCommand(newRevokeCmd())
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Grants(ctx, *all)
		if err != nil {
			return err
		}
		if !*all { // one may have ended without anybody writing it down
			list.Grants = good(list.Grants)
		}
		if asJSON {
			return printJSON(cmd, list)
		}
		return printGrants(cmd.OutOrStdout(), list.Grants)
	})
}

func good(gs []api.Grant) []api.Grant {
	out := []api.Grant{}
	for _, g := range gs {
		if g.Good {
			out = append(out, g)
		}
	}
	return out
}

func newRevokeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "End grants at once: what they allowed and has not begun is taken back",
		Args:  cobra.MinimumNArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Grants(ctx, true)
		if err != nil {
			return err
		}
		done := api.Grants{Grants: []api.Grant{}}
		var errs []error // one that is not found keeps no other alive
		for _, id := range cmd.Flags().Args() {
			g, err := findGrant(list.Grants, id)
			if err == nil {
				g, err = c.RevokeGrant(ctx, g.ID)
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			done.Grants = append(done.Grants, g)
			if !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "revoked: %s (%s)\n", g.Match, g.ID)
			}
		}
		if asJSON {
			errs = append(errs, printJSON(cmd, done))
		}
		return errors.Join(errs...)
	})
}

// findGrant finds a grant by its id or the beginning of it.
func findGrant(gs []api.Grant, id string) (api.Grant, error) {
	var found []api.Grant
	for _, g := range gs {
		if g.ID == id {
			return g, nil
		}
		if strings.HasPrefix(g.ID, id) || strings.HasPrefix(g.ID, "gra_"+id) {
			found = append(found, g)
		}
	}
	switch {
	case len(strings.TrimPrefix(id, "gra_")) < 4 || len(found) == 0:
		return api.Grant{}, withHint(fmt.Errorf("no grant has the id %s", id), `give at least four characters of an id that "gatelatch grants --all" lists`)
	case len(found) > 1:
		return api.Grant{}, withHint(fmt.Errorf("%d grants begin with %s", len(found), id), "give more characters of the id")
	}
	return found[0], nil
}

func printGrants(out io.Writer, gs []api.Grant) error {
	if len(gs) == 0 {
		_, err := fmt.Fprintln(out, "Nothing is remembered.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, g := range gs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\tby %s %s ago\t%s\t%s\n", shortID(g.ID), g.Match, reachOf(g), cut(g.Agent, 12),
			actorName(g.By), shortAge(g.At), lasts(g), lastUse(g))
	}
	return w.Flush()
}

// reachOf says where a grant holds.
func reachOf(g api.Grant) string {
	switch g.Scope {
	case "session":
		return "session " + cut(g.Session, 12)
	case "project":
		return "project " + g.Project
	default:
		return g.Scope
	}
}

// lasts says how long a grant holds, or how it ended.
func lasts(g api.Grant) string {
	switch {
	case g.Revoked != nil:
		return "revoked " + shortAge(*g.Revoked) + " ago"
	case g.Uses > 0 && g.Used >= g.Uses:
		return "used up"
	case !g.Good:
		return "over"
	}
	var limits []string
	if g.Uses > 0 {
		limits = append(limits, plural(g.Uses-g.Used, "use")+" left")
	}
	if g.Until != nil {
		limits = append(limits, "until "+moment(*g.Until))
	}
	if len(limits) == 0 {
		return "until revoked"
	}
	return strings.Join(limits, ", ")
}

func lastUse(g api.Grant) string {
	if g.LastUsed == nil {
		return "never used"
	}
	return "used " + shortAge(*g.LastUsed) + " ago"
}

// moment is a time on this machine's clock; on another day, with the day.
func moment(t time.Time) string {
	t = t.Local()
	if t.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 2006 15:04")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
