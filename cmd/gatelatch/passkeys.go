package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newPasskeysCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passkeys",
		Short: "List and remove the passkeys that sign what people allow",
		Long: `List the passkeys that sign what people allow. With "signing: all" in config.yaml
every allow needs one, with "signing: risky" those of high risk and those that are
remembered; modes that loosen, rules that allow, and new logins and keys of people
need one, too. A stolen session then allows nothing.

Passkeys are added on the page, in the menu behind your name: the first one within
ten minutes of "gatelatch open", each later one with the word of one that is there.`,
		Example: "  gatelatch passkeys\n  gatelatch passkeys remove 3f9k",
		Args:    cobra.NoArgs,
	}
	cmd.AddCommand(newPasskeysRemoveCmd())
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Passkeys(ctx)
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, list)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "gatelatch: signing is "+list.Signing)
		return printPasskeys(cmd.OutOrStdout(), list.Passkeys)
	})
}

func printPasskeys(out io.Writer, ks []api.Passkey) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range ks {
		used := "never used"
		if k.Used != nil {
			used = "used " + shortAge(*k.Used) + " ago"
		}
		if k.Removed != nil {
			used = "removed " + moment(*k.Removed)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", shortID(k.ID), k.Name, k.Domain, used)
	}
	return w.Flush()
}

func newPasskeysRemoveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove ID...",
		Short: "Remove passkeys: they sign nothing any more",
		Long: `Remove passkeys, such as one that was lost. Here, on the gateway's machine, no
other has to sign for that.`,
		Args: cobra.MinimumNArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		list, err := c.Passkeys(ctx)
		if err != nil {
			return err
		}
		gone := []api.Passkey{}
		for _, id := range cmd.Flags().Args() {
			k, err := findPasskey(list.Passkeys, id)
			if err != nil {
				return err
			}
			if k, err = c.RemovePasskey(ctx, k.ID); err != nil {
				return err
			}
			gone = append(gone, k)
		}
		if asJSON {
			return printJSON(cmd, gone)
		}
		return printPasskeys(cmd.OutOrStdout(), gone)
	})
}

// findPasskey finds one by its id or the beginning of it.
func findPasskey(ks []api.Passkey, id string) (found api.Passkey, err error) {
	n := 0
	for _, k := range ks {
		if id != "" && (strings.HasPrefix(k.ID, id) || strings.HasPrefix(k.ID, "key_"+id)) {
			found, n = k, n+1
		}
	}
	if n != 1 {
		return found, withHint(fmt.Errorf("%s have an id that begins with %s", plural(n, "passkey"), id), `"gatelatch passkeys" lists them`)
	}
	return found, nil
}

const enrolHint = `gatelatch open, and within ten minutes "Add a passkey" in the menu behind your name`

// sayUnsigned says so at once if nobody could allow what needs a passkey.
func (g *gateway) sayUnsigned(ctx context.Context, w io.Writer) {
	if g.opt.signing == "" {
		return
	}
	if ks, err := g.auth.Passkeys(ctx, nil); err == nil && len(ks) == 0 {
		fmt.Fprintf(w, "gatelatch: signing is %s, and nobody has a passkey: what needs one can't be allowed\nhint: %s\n", g.opt.signing, enrolHint)
	}
}

// checkSigning warns where nobody could allow anything, or nothing needs what
// people have.
func (d *doctor) checkSigning(ctx context.Context, c *client.Client) {
	list, err := c.Passkeys(ctx)
	switch n := len(list.Passkeys); {
	case err != nil:
		d.warn("signing", "start the gateway anew", "the passkeys can't be read: %v", err)
	case list.Signing == "off" && n > 0:
		d.warn("signing", `"signing: all" in config.yaml, and start the gateway anew`, "there are passkeys, but nothing needs them")
	case list.Signing == "off":
	case n == 0:
		d.warn("signing", enrolHint, "it is %s, but nobody has a passkey: what needs one can't be allowed", list.Signing)
	default:
		d.ok("signing", "%s: %s", list.Signing, plural(n, "passkey"))
	}
}
