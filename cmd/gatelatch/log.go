package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/client"
	"github.com/spf13/cobra"
)

// logOptions says which events of the trail to show.
type logOptions struct {
	kinds, by   []string
	call, batch string
	since       string
	limit       int
	follow      bool
}

func newLogCmd() *cobra.Command {
	var opt logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show what happened, newest last",
		Long: `Show the audit trail: who asked, what the rules said, who decided, what ran.

  gatelatch log --kind call.decided --since 24h
  gatelatch log --by mira --follow
  gatelatch log --call cal_8h2k --json`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringSliceVar(&opt.kinds, "kind", nil, `only events of this kind: "call.decided", or "call" for all that begin so`)
	f.StringSliceVar(&opt.by, "by", nil, `only what this one did: a name, an id, or "person", "agent", "policy" …`)
	f.StringVar(&opt.call, "call", "", "only this call, by its id or the beginning of it")
	f.StringVar(&opt.batch, "batch", "", "only this batch, by its id or the beginning of it")
	f.StringVar(&opt.since, "since", "", "only what is not older: 90m, 24h, 2026-01-31, 2026-01-31T15:04:05Z")
	f.IntVarP(&opt.limit, "limit", "n", 50, "how many, the last ones; 0 is all")
	f.BoolVarP(&opt.follow, "follow", "f", false, "go on with what happens")
	return person(cmd, func(ctx context.Context, c *client.Client, asJSON bool) error {
		if opt.limit < 0 {
			return errors.New("--limit is a number of events, or 0")
		}
		if opt.since != "" && !f.Changed("limit") {
			opt.limit = 0
		}
		l := &trailLog{client: c, opt: opt, out: cmd.OutOrStdout(), json: asJSON}
		return l.run(ctx)
	})
}

type trailLog struct {
	client *client.Client
	opt    logOptions
	out    io.Writer
	json   bool
	end    int64 // of the trail, when it was looked at
}

func (l *trailLog) run(ctx context.Context) error {
	st, err := l.client.Status(ctx)
	if err != nil {
		return err
	}
	l.end = st.Seq
	floor, err := l.floor(ctx, time.Now())
	if err != nil {
		return err
	}
	if l.opt.limit == 0 {
		err = eachEvent(ctx, l.client, floor, l.end, l.print)
	} else {
		err = l.last(ctx, floor)
	}
	if err != nil || !l.opt.follow {
		return err
	}
	return l.follow(ctx)
}

// floor returns the number of the last event that is too old. Times never run
// backwards along the trail, so it need not be read for that.
func (l *trailLog) floor(ctx context.Context, now time.Time) (int64, error) {
	if l.opt.since == "" {
		return 0, nil
	}
	since, err := parseSince(l.opt.since, now)
	if err != nil {
		return 0, err
	}
	n := sort.Search(int(l.end), func(i int) bool {
		part, e := l.client.Trail(ctx, int64(i), 1)
		if e != nil {
			err = e
			return true
		}
		return len(part.Events) == 0 || !part.Events[0].At.Before(since)
	})
	return int64(n), err
}

func parseSince(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, withHint(fmt.Errorf("--since %q is neither a length of time nor a time", s), "give 90m, 24h, 2026-01-31 or 2026-01-31T15:04:05Z")
}

// last prints the last events that match, reading backwards from the end.
func (l *trailLog) last(ctx context.Context, floor int64) error {
	var found []api.Event
	step := int64(max(100, min(l.opt.limit, 1000)))
	for to := l.end; to > floor && len(found) < l.opt.limit; step = min(2*step, 1000) {
		from := max(floor, to-step)
		var part []api.Event
		err := eachEvent(ctx, l.client, from, to, func(e api.Event) error {
			if l.opt.match(e) {
				part = append(part, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		found, to = append(part, found...), from
	}
	for _, e := range found[max(0, len(found)-l.opt.limit):] {
		if err := l.print(e); err != nil {
			return err
		}
	}
	return nil
}

// eachEvent calls fn for the events behind after, up to and with the number to.
func eachEvent(ctx context.Context, c *client.Client, after, to int64, fn func(api.Event) error) error {
	for after < to {
		part, err := c.Trail(ctx, after, int(min(1000, to-after)))
		if err != nil {
			return err
		}
		if len(part.Events) == 0 {
			return nil
		}
		for _, e := range part.Events {
			if e.Seq > to {
				return nil
			}
			if err := fn(e); err != nil {
				return err
			}
			after = e.Seq
		}
	}
	return nil
}

// follow prints what happens behind the end, until ctx ends. A gateway that
// restarts is waited for.
func (l *trailLog) follow(ctx context.Context) error {
	var failed error
	err := l.client.Follow(ctx, l.end, func(e api.Event) bool {
		l.end, failed = e.Seq, l.print(e)
		return failed == nil
	})
	switch {
	case failed != nil:
		return failed
	case errors.Is(err, context.Cause(ctx)): // it was to go on until then
		return nil
	case errors.Is(err, client.ErrCut):
		return withHint(fmt.Errorf("the trail ended at event %d and is shorter now", l.end), `check it with "gatelatch audit verify"`)
	}
	return err
}

// match reports whether the event is asked for.
func (o *logOptions) match(e api.Event) bool {
	is := func(kind string) bool {
		return e.Kind == kind || strings.HasPrefix(e.Kind, strings.TrimSuffix(kind, ".")+".")
	}
	did := func(who string) bool {
		return who != "" && (strings.EqualFold(who, e.By.Name) || who == e.By.ID || who == e.By.Kind)
	}
	return (len(o.kinds) == 0 || slices.ContainsFunc(o.kinds, is)) &&
		(len(o.by) == 0 || slices.ContainsFunc(o.by, did)) &&
		begins(e.Call, o.call, "cal_") && begins(e.Batch, o.batch, "bat_")
}

func begins(id, start, prefix string) bool {
	return start == "" || strings.HasPrefix(id, start) || strings.HasPrefix(id, prefix+start)
}

func (l *trailLog) print(e api.Event) error {
	if !l.opt.match(e) {
		return nil
	}
	if !l.json {
		_, err := fmt.Fprintln(l.out, logLine(e))
		return err
	}
	d, err := e.Domain()
	if err != nil {
		return err
	}
	line, err := audit.AppendLine(nil, d)
	if err == nil {
		_, err = l.out.Write(line)
	}
	return err
}
