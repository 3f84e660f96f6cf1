package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

// healthTime is how long an answer may take.
const healthTime = 5 * time.Second

func newHealthCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Say whether the gateway answers; for health checks",
		Long: `Ask the gateway of a state directory how it stands. The exit code is 0 if it answers
and can read its store, 1 if not. A container without a shell checks itself with it.`,
		Args: cobra.NoArgs,
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		ctx, stop := context.WithTimeout(ctx, healthTime)
		defer stop()
		st, err := c.Status(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, st)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "The gateway answers.")
		return err
	})
}
