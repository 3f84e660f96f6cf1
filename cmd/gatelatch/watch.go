package main

import (
	"context"
	"io"
	"os"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/watch"
	"github.com/spf13/cobra"
)

func newWatchCmd() *cobra.Command {
	var plain, bell bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "A live inbox in the terminal: look at what waits and decide with one key",
		Long: `Show what waits as it comes, with the same facts as the page, and decide with one
key: a allows once, d denies, D denies with a text, s, p and A allow and remember for
the session, in the project or always, e edits first. "?" shows all keys.

A key counts only when the card has been in sight, unchanged, for half a second, and
an allow only when all of a long call was paged through.

On a terminal that can't be drawn on (TERM=dumb, or --plain) calls are printed as they
come and decided by typed lines: "a 3", "d 3 not today". Without a terminal calls are
only printed; --json prints each one in a line.`,
		Example: `  gatelatch watch
  ssh build -t gatelatch watch
  gatelatch watch --json | jq -r .card.says`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print lines instead of drawing on the terminal")
	cmd.Flags().BoolVar(&bell, "bell", false, "ring the terminal's bell when a call comes")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		if !plain && !asJSON && watch.Usable(os.Stdin, os.Stdout, os.Getenv("TERM")) {
			return watch.Run(ctx, watch.Options{
				Gateway: c, In: os.Stdin, Out: os.Stdout, Bell: bell, Color: os.Getenv("NO_COLOR") == "",
				Edit: func(ctx context.Context, call api.Call) (api.Call, error) { return editInput(ctx, cmd, c, call) },
			})
		}
		var in io.Reader
		if !asJSON && watch.Interactive(os.Stdin) {
			in = os.Stdin
		}
		return watch.Plain(ctx, watch.PlainOptions{Gateway: c, Out: cmd.OutOrStdout(), JSON: asJSON, In: in, Width: 80})
	})
}
