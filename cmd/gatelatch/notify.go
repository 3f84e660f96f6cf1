package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/spf13/cobra"
)

const silentHint = "name a channel in config.yaml (docs/notify.md), or let your browser show messages, on the page"

// outbox is what tells people, by the channels of the configuration.
func (g *gateway) outbox() (*notify.Outbox, error) {
	o := &notify.Outbox{Store: g.store, URL: g.page, Public: g.opt.public, Log: g.opt.log, Signs: g.opt.signing.must()}
	missed := g.numbers.Counter("gatelatch_notify_failures_total", "Messages of this gateway that a channel did not take, each try.", "channel")
	o.Missed = func(channel string) { missed.Inc(channel) }
	return o, g.tells.Configure(o)
}

// saySilent says so at once if nobody would be told of a call.
func (g *gateway) saySilent(w io.Writer) {
	if g.server.Silent() {
		fmt.Fprintf(w, "gatelatch: nobody is told of calls but on the page\nhint: %s\n", silentHint)
	}
}

func newNotifyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "See who is told of calls that wait, and try it",
		Long: `People are told that a call waits by the channels under "notify" in config.yaml:
desktop, webhook, ntfy, email or a command of your own; and by browsers that
show messages. See docs/notify.md.`,
		Args: cobra.NoArgs,
		RunE: helpOnly,
	}
	cmd.AddCommand(newNotifyTestCmd(), newNotifyLsCmd())
	return cmd
}

func newNotifyTestCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "test [CHANNEL]",
		Short:   "Send a test by one channel, or by all, and say what happened",
		Example: "  gatelatch notify test\n  gatelatch notify test phone",
		Args:    cobra.MaximumNArgs(1),
	}
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		out, err := c.TryChannels(ctx, cmd.Flags().Arg(0))
		if err != nil {
			return err
		}
		if asJSON {
			err = printJSON(cmd, out)
		} else {
			err = printTried(cmd.OutOrStdout(), out.Tried)
		}
		failed := 0
		for _, t := range out.Tried {
			if !t.OK {
				failed++
			}
		}
		if err == nil && failed > 0 {
			err = fmt.Errorf("%d of %d channels failed", failed, len(out.Tried))
		}
		return err
	})
}

func printTried(out io.Writer, tried []api.TriedChannel) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range tried {
		how := fmt.Sprintf("sent in %d ms", t.Millis)
		if !t.OK {
			how = "failed: " + t.Error
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Channel, t.Type, how)
	}
	return w.Flush()
}

func newNotifyLsCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the channels, and the messages that wait or can't be delivered",
		Args:  cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&all, "all", false, "list messages that were sent or not needed, too")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		n, err := c.Notifications(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, n)
		}
		return printNotifications(cmd.OutOrStdout(), n, all)
	})
}

func printNotifications(out io.Writer, n api.Notifications, all bool) error {
	if len(n.Channels) == 0 && n.Browsers == 0 {
		_, err := fmt.Fprintf(out, "Nobody is told of calls but on the page: %s.\n", silentHint)
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range n.Channels {
		last := "nothing sent yet"
		if c.Sent != nil {
			last = "last sent " + shortAge(*c.Sent) + " ago"
		}
		fmt.Fprintf(w, "%s\t%s\t%d waiting\t%d dead\t%s\n", c.Name, c.Type, c.Waiting, c.Dead, last)
	}
	if n.Browsers > 0 {
		fmt.Fprintf(w, "browsers\t%d\t\t\t\n", n.Browsers)
	}
	for _, m := range n.Messages {
		if all || m.State == "waiting" || m.State == "dead" {
			fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%s\n", shortAge(m.At), m.Channel, m.Kind, shortID(m.Call), messageState(m), m.Error)
		}
	}
	return w.Flush()
}

func messageState(m api.Message) string {
	if m.State == "waiting" && m.Due != nil && m.Tries > 0 {
		return fmt.Sprintf("tried %d times, again at %s", m.Tries, moment(*m.Due))
	}
	return m.State
}

// checkNotify says whether anybody would be told.
func (d *doctor) checkNotify(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	c, err := client.ForPeople(d.state)
	var n api.Notifications
	if err == nil {
		n, err = c.Notifications(ctx)
	}
	var remote *api.RemoteError
	switch {
	case errors.As(err, &remote):
		d.warn("notify", "start the gateway anew", "it does not say who is told: %v", err)
		return
	case err != nil: // that none runs was said before
		return
	case len(n.Channels) == 0 && n.Browsers == 0:
		d.warn("notify", silentHint, "nobody is told of calls but on the page")
		return
	}
	for _, ch := range n.Channels {
		if ch.Dead > 0 {
			d.warn("notify", "gatelatch notify ls, then gatelatch notify test "+ch.Name, "%d messages could not be delivered by %s", ch.Dead, ch.Name)
			continue
		}
		d.ok("notify", "people are told by %s (%s)", ch.Name, ch.Type)
	}
	if n.Browsers > 0 {
		d.ok("notify", "%d browsers show messages", n.Browsers)
	}
}
