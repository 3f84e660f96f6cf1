package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

// quotaConfig is quota in config.yaml. What is left out is the default, and 0
// is no limit.
type quotaConfig struct {
	Rate    *int           `yaml:"asks_per_minute"`
	Burst   *int           `yaml:"burst"`
	Pending *int           `yaml:"pending"`
	Again   *time.Duration `yaml:"ask_again_after"`
	Overs   *int           `yaml:"mute_after"`
	Daily   *int           `yaml:"mib_per_day"`
	// Together is how many times that all agents with one key have together.
	Together *int `yaml:"together"`
}

func (c quotaConfig) quota() gatelatch.Quota {
	q := gatelatch.DefaultQuota
	set(&q.Rate, c.Rate)
	set(&q.Burst, c.Burst)
	set(&q.Pending, c.Pending)
	set(&q.Again, c.Again)
	set(&q.Overs, c.Overs)
	set(&q.Together, c.Together)
	if c.Daily != nil {
		q.Daily = *c.Daily * mib
	}
	return q
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func newUnmuteCmd() *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use:   "unmute AGENT",
		Short: "Let an agent ask again that asked too much",
		Long: `An agent that asks far more than its quota may not ask for a while: what
rules allow still runs, the rest is denied at once. "gatelatch ls" says which
agents are muted.`,
		Args: cobra.ExactArgs(1),
	}
	cmd.PreRun = func(_ *cobra.Command, args []string) { agent = args[0] }
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		st, err := c.Unmute(ctx, agent)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, st)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s may ask again\n", agent)
		return err
	})
}
