// Package runner starts an agent as its host: it speaks the control protocol
// with it, has every call decided by the gateway, and gives the user the rest
// of its output. The agent does not outlive it.
package runner

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/control"
)

// Runner runs one agent for one user.
type Runner struct {
	Service gatelatch.Service
	// Wishes, if set, tells what people want of a session: its mode, and that
	// it stops.
	Wishes interface {
		FollowMode(ctx context.Context, session string, known gatelatch.Mode) (gatelatch.Mode, error)
		FollowInterrupts(ctx context.Context, session string, known int64) (int64, error)
	}
	Gate     bool // ask about every call, not only those that the agent would
	Machine  string
	Stdin    io.Reader
	Terminal bool // a person types on Stdin
	Stdout   io.Writer
	Stderr   io.Writer
	Signals  <-chan os.Signal

	mu   sync.Mutex
	host *control.Host
}

// Run starts the agent and returns its exit code when it has ended.
func (r *Runner) Run(ctx context.Context, program string, args []string) (int, error) {
	a, err := parseArgs(args)
	if err != nil {
		return 1, err
	}
	in, err := r.input(a)
	if err != nil {
		return 1, err
	}
	for {
		s := &session{of: r, args: a, in: in, out: &printer{args: a, stdout: r.Stdout, stderr: r.Stderr}}
		code, next, err := s.run(ctx, program)
		if next == nil || err != nil {
			s.out.end()
			return code, err
		}
		s.out.note("starting afresh with the plan")
		mode := string(next.Mode)
		a = a.afresh("Implement the following plan:\n\n"+next.Plan, mode)
		in.first(prompt{text: a.prompt})
	}
}

// Again begins the protocol again, after the gateway was away: whatever the
// agent still waits for is asked.
func (r *Runner) Again() {
	r.mu.Lock()
	h := r.host
	r.mu.Unlock()
	if h != nil {
		go func() { _ = h.Initialize(context.Background()) }() // it was initialized before
	}
}
