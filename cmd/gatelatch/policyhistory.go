package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy/history"
	"github.com/gatelatch/gatelatch/render"
	"github.com/spf13/cobra"
)

func newPolicyHistoryCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Write what was decided, for backtest and suggest",
		Long: `Write every settled call that the running gateway still knows to the standard
output, newest first: one JSON line each, with its input. Inputs hold whatever the
agents wrote, secrets too, so keep the file as you keep those.

  gatelatch policy history > history.jsonl
  gatelatch policy backtest new.yaml --from history.jsonl`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := peopleClient(state)
		if err != nil {
			return err
		}
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
		for r, err := range gatewayHistory(cmd.Context(), c) {
			if err == nil {
				err = history.Write(out, r)
			}
			if err != nil {
				return err
			}
		}
		return out.Flush()
	}
	return cmd
}

// gatewayHistory lists what is settled, newest first.
func gatewayHistory(ctx context.Context, c *client.Client) history.Source {
	return func(yield func(history.Record, error) bool) {
		after := ""
		for more := true; more; {
			page, err := c.Calls(ctx, "settled", after, 500)
			if err != nil {
				yield(history.Record{}, err)
				return
			}
			for _, call := range page.Calls {
				after = call.ID
				if blocked(call) {
					continue
				}
				if r, err := recorded(call); !yield(r, err) || err != nil {
					return
				}
			}
			more = page.More && len(page.Calls) > 0
		}
	}
}

// blocked reports whether a hook or a pause settled the call: what the rules
// would have said is not known, and what they say now changes nothing.
func blocked(c api.Call) bool {
	return slices.ContainsFunc(c.Verdict.Reasons, func(r api.Reason) bool { return r.Layer == "hook" || r.Layer == "pause" })
}

// recorded takes a call back from how people see it: names and paths come
// escaped, and are judged as they are.
func recorded(c api.Call) (history.Record, error) {
	r := history.Record{Call: c.ID, At: c.Created, Kind: gatelatch.Kind(c.Kind), Input: c.Input, State: gatelatch.State(c.State)}
	var errs []error
	for _, f := range []struct {
		to   *string
		from string
	}{{&r.Tool, c.Tool}, {&r.Dir, c.Dir}, {&r.Project, c.Session.Project}} {
		text, err := render.Unescape(f.from)
		*f.to, errs = text, append(errs, err)
	}
	errs = append(errs, r.Effect.UnmarshalText([]byte(c.Verdict.Effect)))
	if d := c.Decided; d != nil {
		r.At, r.By = d.At, d.By.Kind
		if strings.HasPrefix(d.Note, "everything was stopped") {
			r.By = history.ByPause
		}
	}
	for _, reason := range c.Verdict.Reasons {
		if reason.Layer == "grant" {
			match, err := render.Unescape(reason.Rule)
			r.Grant, errs = match, append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("call %s can't be read: %w", c.ID, err)
	}
	return r, nil
}

// past is a history to go through more than once.
type past struct {
	history.Source
	total int
	close func()
}

// openPast reads an exported history or, without one, fetches what the running
// gateway knows.
func openPast(cmd *cobra.Command, from string, state func() (statedir.Dir, error)) (*past, error) {
	if from != "" {
		n, err := countLines(from)
		open := func() (io.ReadCloser, error) { return os.Open(from) }
		return &past{named(from, history.Read(open)), n, func() {}}, err
	}
	c, err := peopleClient(state)
	if err != nil {
		return nil, withHint(err, `start the gateway, or give an exported history with --from`)
	}
	f, err := os.CreateTemp("", "gatelatch-history-*")
	if err != nil {
		return nil, err
	}
	p := &past{close: func() { _ = errors.Join(f.Close(), os.Remove(f.Name())) }}
	if err := p.fetch(cmd, c, f); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *past) fetch(cmd *cobra.Command, c *client.Client, f *os.File) error {
	show := newBar(cmd.ErrOrStderr(), "fetched", 0)
	defer show.end()
	out := bufio.NewWriterSize(f, 1<<16)
	for r, err := range gatewayHistory(cmd.Context(), c) {
		if err == nil {
			err = history.Write(out, r)
		}
		if err != nil {
			return err
		}
		p.total++
		show.at(p.total)
	}
	p.Source = history.Read(func() (io.ReadCloser, error) { return os.Open(f.Name()) })
	return out.Flush()
}

// named puts the file's name in front of errors.
func named(name string, src history.Source) history.Source {
	return func(yield func(history.Record, error) bool) {
		for r, err := range src {
			if err != nil {
				err = withHint(fmt.Errorf("%s: %w", name, err), `write it with "gatelatch policy history"`)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func countLines(name string) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	buf := make([]byte, 1<<16)
	for {
		k, err := f.Read(buf)
		n += bytes.Count(buf[:k], []byte("\n"))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
