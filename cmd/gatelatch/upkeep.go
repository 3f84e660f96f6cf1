package main

import (
	"context"
	"time"

	"github.com/gatelatch/gatelatch"
)

// lookEvery is how often the gateway looks at files that people and agents
// change beside it.
const lookEvery = 2 * time.Second

// upkeep follows the rules in force and watches the settings of hosts, until
// ctx ends.
func (g *gateway) upkeep(ctx context.Context, gate *gatelatch.Gate, rules *rules) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := g.drift.check(ctx); err != nil && ctx.Err() == nil {
			g.opt.log.Warn("could not look at the settings of agents", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := g.auth.Flush(ctx, false); err != nil && ctx.Err() == nil {
			g.opt.log.Warn("could not note when keys were used", "err", err)
		}
		if err := rules.follow(ctx, gate); err != nil && ctx.Err() == nil {
			g.opt.log.Warn("could not note the rules in force", "err", err)
		}
	}
}
