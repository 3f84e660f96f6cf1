package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newKeysCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "List, make and end what lets agents and people in",
		Long: `List what lets somebody in: keys of agents and of command lines, and browsers
that are logged in. Only hashes of secrets are kept; a key is shown once, when
it is made.

  agent     asks, waits and reports; it can never have another role
  auditor   reads everything, and changes nothing
  approver  decides
  admin     changes rules and keys, and decides

The keys in the state directory, agent.key and approver.key, are made by the
gateway itself; approver.key is an admin's.`,
		Example: `  gatelatch keys add ci --role agent --expires 90d
  gatelatch keys revoke 3f9k
  gatelatch keys rotate 3f9k`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newKeysAddCmd(), newKeysEndCmd(), newKeysRotateCmd())
	all := cmd.Flags().Bool("all", false, "also those that were revoked or have expired")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Keys(ctx, *all)
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, list)
		}
		return printKeys(cmd.OutOrStdout(), list.Keys)
	})
}

func printKeys(out io.Writer, ks []api.Key) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range ks {
		what := k.Role
		if k.Kind == string(gatelatch.BrowserKey) {
			what += ", browser"
		}
		used := "never used"
		if k.Used != nil {
			used = "used " + shortAge(*k.Used) + " ago"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", shortID(k.ID), k.Name, what, used, keyNotes(k))
	}
	return w.Flush()
}

func keyNotes(k api.Key) string {
	var notes []string
	switch {
	case k.Revoked != nil:
		notes = append(notes, "revoked "+moment(*k.Revoked))
	case k.Expires != nil && !k.Expires.After(time.Now()):
		notes = append(notes, "expired "+moment(*k.Expires))
	case k.Expires != nil:
		notes = append(notes, "until "+moment(*k.Expires))
	}
	if k.File != "" {
		notes = append(notes, "in "+k.File)
	}
	return strings.Join(notes, ", ")
}

func newKeysAddCmd() *cobra.Command {
	var role, expires string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a key and print it, once",
		Args:  cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&role, "role", string(gatelatch.AgentRole), "agent, auditor, approver or admin")
	cmd.Flags().StringVar(&expires, "expires", "", "when it ends: after a time such as 12h or 90d, or at a date such as 2027-01-31 (default never)")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		switch gatelatch.Role(role) {
		case gatelatch.AgentRole, gatelatch.AuditorRole, gatelatch.ApproverRole, gatelatch.AdminRole:
		default:
			return withHint(fmt.Errorf("no key has the role %q", role), "it is agent, auditor, approver or admin, one of them")
		}
		life, err := lifetime(expires, time.Now())
		if err != nil {
			return err
		}
		made, err := c.AddKey(ctx, api.AddKey{Name: cmd.Flags().Arg(0), Role: role, For: int(life / time.Second)})
		if err != nil {
			return err
		}
		return printMade(cmd, made, asJSON)
	})
}

// printMade prints the secret alone on stdout, so that it can be piped.
func printMade(cmd *cobra.Command, made api.MadeKey, asJSON bool) error {
	if asJSON {
		return printJSON(cmd, made)
	}
	where := "It is not shown again."
	if made.Key.File != "" {
		where = "It lies in " + made.Key.File + "; who reads it there goes on."
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "gatelatch: the key %s of %s, %s. %s\n", shortID(made.Key.ID), made.Key.Name, made.Key.Role, where)
	if made.Key.File != "" {
		return nil
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), made.Secret)
	return err
}

// lifetime reads how long a key lasts; 0 is for ever.
func lifetime(text string, now time.Time) (d time.Duration, err error) {
	wrong := withHint(fmt.Errorf("a key can't last until %q", text), "give a time to come: 12h, 90d or 2027-01-31")
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		const aCentury = 36500
		n, e := strconv.Atoi(days)
		if e != nil || n > aCentury {
			return 0, wrong
		}
		d = time.Duration(n) * 24 * time.Hour
	} else if d, err = time.ParseDuration(text); err != nil {
		day, e := time.ParseInLocation(time.DateOnly, text, time.Local)
		if e != nil {
			return 0, wrong
		}
		d = day.Sub(now)
	}
	if d < time.Second {
		return 0, wrong
	}
	return d, nil
}

func newKeysEndCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "End keys or browsers at once, with the browsers that they let in",
		Args:  cobra.MinimumNArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		return endKeys(ctx, cmd, c, asJSON, cmd.Flags().Args(), func(api.Key) bool { return true })
	})
}

// endKeys revokes the keys of those ids, of all that fit.
func endKeys(ctx context.Context, cmd *cobra.Command, c *client.Client, asJSON bool, ids []string, fit func(api.Key) bool) error {
	list, err := c.Keys(ctx, false)
	if err != nil {
		return err
	}
	ended := api.Keys{Keys: []api.Key{}}
	for _, id := range ids {
		k, err := findKey(list.Keys, id, fit)
		if err != nil {
			return err
		}
		if k, err = c.RevokeKey(ctx, k.ID); err != nil {
			return err
		}
		ended.Keys = append(ended.Keys, k)
	}
	if asJSON {
		return printJSON(cmd, ended)
	}
	return printKeys(cmd.OutOrStdout(), ended.Keys)
}

// findKey finds a key by its id or the beginning of it.
func findKey(ks []api.Key, id string, fit func(api.Key) bool) (api.Key, error) {
	var found []api.Key
	for _, k := range ks {
		if fit(k) && id != "" && (strings.HasPrefix(k.ID, id) || strings.HasPrefix(k.ID, "key_"+id)) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return api.Key{}, withHint(fmt.Errorf("nothing that lets in has the id %s", id), `"gatelatch keys" lists them`)
	case 1:
		return found[0], nil
	}
	return api.Key{}, withHint(fmt.Errorf("%d ids begin with %s", len(found), id), "give more characters of the id")
}

func newKeysRotateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Give a key another secret, and end the one it has",
		Long: `Give a key another secret, print it once, and end the one it has at once, also on
connections that are open. It stays the same agent or person: what waits, and
what was remembered for it, stays its own. A key that lies in the state
directory is replaced there.`,
		Args: cobra.ExactArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Keys(ctx, false)
		if err != nil {
			return err
		}
		k, err := findKey(list.Keys, cmd.Flags().Arg(0), func(k api.Key) bool { return k.Kind != string(gatelatch.BrowserKey) })
		if err != nil {
			return err
		}
		made, err := c.RotateKey(ctx, k.ID)
		if err != nil {
			return err
		}
		return printMade(cmd, made, asJSON)
	})
}
