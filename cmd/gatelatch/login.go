package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

func newLoginCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Print a link that logs one browser in, once",
		Long: `Print a link that logs one browser in, once, within a minute. The browser may do
what the key may that made the link, and ends with it. "gatelatch open" does the
same and opens the link here.`,
		Example: "  gatelatch login\n  gatelatch login --qr",
		Args:    cobra.NoArgs,
	}
	phone := cmd.Flags().Bool("qr", false, "draw the link for a phone")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		code, err := c.LoginCode(ctx)
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd, code)
		case *phone:
			return drawLink(cmd.OutOrStdout(), code)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), code.URL)
		if err == nil && code.Public != "" {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), code.Public)
		}
		return err
	})
}

func newLogoutCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logout [ID...]",
		Short: "Log browsers out",
		Long: `Log browsers out, with the devices that they let in. IDs are those of browsers
that "gatelatch keys" lists, or their beginnings.`,
		Example: "  gatelatch logout 3f9k\n  gatelatch logout --all",
	}
	all := cmd.Flags().Bool("all", false, "every browser")
	isBrowser := func(k api.Key) bool { return k.Kind == string(gatelatch.BrowserKey) }
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		ids := cmd.Flags().Args()
		if *all == (len(ids) > 0) {
			return withHint(errors.New("say which browsers to log out, or --all"), `"gatelatch keys" lists them`)
		}
		if *all {
			list, err := c.Keys(ctx, false)
			if err != nil {
				return err
			}
			for _, k := range list.Keys {
				if isBrowser(k) {
					ids = append(ids, k.ID)
				}
			}
		}
		return endKeys(ctx, cmd, c, asJSON, ids, isBrowser)
	})
}
