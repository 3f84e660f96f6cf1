package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/spf13/cobra"
)

func newDemoCmd() *cobra.Command {
	var opt gatewayOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a gateway with demo agents that ask",
		Long: `Run a gateway and a few demo agents that propose realistic calls and go on as
you decide. They only ask: nothing they propose is run.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.Flags().Lookup("state").Usage = "state directory (default a new one, removed at the end)"
	pace := cmd.Flags().Duration("pace", 2*time.Second, "how long an agent thinks between two proposals")
	cmd.Flags().StringVar(&opt.listen, "listen", "", "loopback address for the page (default "+defaultListen+")")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		restrictFiles()
		if !cmd.Flags().Changed("state") { // never among the calls of real agents
			tmp, err := os.MkdirTemp("", "gatelatch-demo-")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(tmp) }()
			opt.state = statedir.Dir(tmp)
		} else if opt.state, err = state(); err != nil {
			return err
		}
		opt.config = string(opt.state) // the demo has its own rules: the built-in ones
		opt.log = newLog(slog.LevelInfo, false)
		g, err := startGateway(opt)
		if err != nil {
			return err
		}
		return runDemo(cmd.Context(), g, *pace, &lines{w: cmd.OutOrStdout()})
	}
	return cmd
}

// runDemo ends with ctx: first the agents, who take their questions back, then
// the gateway.
func runDemo(ctx context.Context, g *gateway, pace time.Duration, out *lines) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	work.Go(func() { greet(ctx, g.opt.state, out) })
	for _, s := range demoSessions() {
		work.Go(func() { s.run(ctx, g.opt.state, pace, out) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-g.failed:
		stop()
	}
	work.Wait()
	return errors.Join(err, g.close())
}

// lines prints whole lines from several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}

// greet prints a login link, and a fresh one as each ends, until a browser has
// come.
func greet(ctx context.Context, dir statedir.Dir, out *lines) {
	c, err := client.ForPeople(dir)
	if err != nil {
		out.say("%v", err)
		return
	}
	st, err := c.Status(ctx)
	if err != nil {
		out.say("%v", err)
		return
	}
	const links = 10
	for range links {
		code, err := c.LoginCode(ctx)
		if err != nil {
			return
		}
		out.say("\n  Decide here:  %s\n  (good for one browser and one minute; Ctrl-C ends the demo)\n  Or in another terminal:  gatelatch ls%s\n", code.URL, stateArg(dir))
		wait, stop := context.WithTimeout(ctx, auth.CodeLife-5*time.Second)
		came := c.AwaitEvent(wait, st.Seq, func(kind string, body json.RawMessage) bool {
			var b struct{ Kind string }
			return kind == string(gatelatch.KeyCreated) && json.Unmarshal(body, &b) == nil && b.Kind == string(gatelatch.BrowserKey)
		})
		stop()
		if came == nil || ctx.Err() != nil {
			return
		}
	}
	out.say("For another link: gatelatch open%s", stateArg(dir))
}

// demoSession is one pretended agent.
type demoSession struct {
	name, project, mode, prompt string
	rounds                      []demoRound
}

// demoRound is one message of the agent: what it says, and its calls.
type demoRound struct {
	said  string
	calls []demoCall
}

type demoCall struct {
	tool  string
	input any
	claim string
}

func (s demoSession) run(ctx context.Context, dir statedir.Dir, pace time.Duration, out *lines) {
	c, err := client.ForAgents(dir)
	if err != nil {
		out.say("%v", err)
		return
	}
	svc := &client.Patient{Client: c, Grace: time.Minute}
	session := id.New("demo")
	for n := 0; ; n++ {
		r := s.rounds[n%len(s.rounds)]
		if err := s.round(ctx, svc, session, n, r, out); err != nil {
			if ctx.Err() == nil {
				out.say("%s: %v", s.name, err)
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pace):
		}
	}
}

func (s demoSession) round(ctx context.Context, svc gatelatch.Service, session string, n int, r demoRound, out *lines) error {
	p := gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: session, Name: s.name, Project: s.project, Mode: s.mode, Host: "demo"},
		Message: fmt.Sprintf("msg_%d", n), Hold: gatelatch.Hold{Holder: id.New("hld"), Consume: true},
		Context: gatelatch.Context{Prompt: s.prompt, Said: r.said},
	}
	for i, c := range r.calls {
		input, err := strictjson.Marshal(c.input)
		if err != nil {
			return err
		}
		kind := gatelatch.Permission
		if c.tool == "AskUserQuestion" {
			kind = gatelatch.Question
		}
		p.Calls = append(p.Calls, gatelatch.ProposedCall{
			Ref: fmt.Sprintf("call_%d_%d", n, i), Kind: kind, Tool: c.tool, Input: input, Dir: s.project, Claim: c.claim,
		})
	}
	// A proposal that has begun is finished, so that it can be taken back.
	begun, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	b, err := svc.Propose(begun, p)
	if err == nil && b.Opened == nil {
		out.say("%s asks to run %s", s.name, tools(b))
		b, err = awaitOrWithdraw(ctx, svc, b.ID, p.Hold)
	}
	if errors.Is(err, gatelatch.ErrPaused) {
		out.say("%s was stopped", s.name)
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range b.Calls {
		if c.State == gatelatch.Allowed {
			out.say("%s may run %s (the demo runs nothing)", s.name, c.Tool)
			errs = append(errs, svc.Report(ctx, gatelatch.Report{Session: session, Ref: c.Ref, OK: true}))
			continue
		}
		out.say("%s may not run %s: %s", s.name, c.Tool, c.Answer())
	}
	return errors.Join(errs...)
}

// awaitOrWithdraw takes the question back when the demo ends: nobody would hear
// the answer.
func awaitOrWithdraw(ctx context.Context, svc gatelatch.Service, batchID string, h gatelatch.Hold) (*gatelatch.Batch, error) {
	b, err := svc.Await(ctx, batchID, h)
	if ctx.Err() != nil {
		bye, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer stop()
		return b, errors.Join(err, svc.Withdraw(bye, batchID, "the demo ended"))
	}
	return b, err
}

// tools names the tools of a batch.
func tools(b *gatelatch.Batch) string {
	var names []string
	for _, c := range b.Calls {
		names = append(names, c.Tool)
	}
	return strings.Join(names, ", ")
}
