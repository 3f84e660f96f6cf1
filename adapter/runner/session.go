package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/control"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/id"
)

// session is one process of the agent.
type session struct {
	of    *Runner
	args  arguments
	in    *input
	out   *printer
	child *child
	host  *control.Host

	next    chan control.Implement
	turns   chan struct{} // a turn has ended
	failed  chan error
	unknown sync.Once

	following   sync.Once
	interrupted atomic.Bool // in this turn
}

func (s *session) run(ctx context.Context, program string) (code int, next *control.Implement, err error) {
	s.next, s.turns, s.failed = make(chan control.Implement, 1), make(chan struct{}, 1), make(chan error, 1)
	if s.child, err = start(program, s.args.command(), s.of.Stderr); err != nil {
		return 1, nil, err
	}
	s.host = control.New(control.Options{
		Service: s.of.Service, Holder: id.New("hld"), Gate: s.of.Gate,
		Session: gatelatch.SessionInfo{Name: "Claude Code", Host: s.of.Machine},
		Send:    s.child.write, Notice: s.notice,
		Implement: func(i control.Implement) { s.next <- i },
	})
	s.of.mu.Lock()
	s.of.host = s.host
	s.of.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { s.talk(ctx) })
	work.Go(func() { s.obey(ctx) })
	next, err = s.listen(ctx, &work)
	s.child.hangUp()
	s.host.Close()
	stop()
	work.Wait()
	if err == nil {
		err = s.child.bad
	}
	code = exitCode(s.child.cmd.ProcessState)
	if err != nil && code == 0 {
		code = 1
	}
	return code, next, err
}

// listen reads the agent's output until it ends, for whatever reason.
func (s *session) listen(ctx context.Context, work *sync.WaitGroup) (next *control.Implement, err error) {
	for {
		select {
		case line, open := <-s.child.lines:
			if !open {
				<-s.child.ended
				return next, err
			}
			s.line(ctx, line, work)
		case i := <-s.next:
			next = &i
			s.child.end(syscall.SIGTERM)
		case e := <-s.failed:
			err = errors.Join(err, e)
			s.child.kill()
		}
	}
}

func (s *session) line(ctx context.Context, line []byte, work *sync.WaitGroup) {
	output, err := s.host.Receive(line)
	if err != nil {
		s.unknown.Do(func() { s.out.note("a line of the agent can't be read: %v", err) })
	}
	if !output {
		return
	}
	var l shown
	if json.Unmarshal(line, &l) != nil {
		return
	}
	s.out.line(l, line)
	switch {
	case l.Type == "result":
		select {
		case s.turns <- struct{}{}:
		default:
		}
	case l.Type == "system" && l.Subtype == "init" && s.of.Wishes != nil:
		s.following.Do(func() {
			work.Go(func() { s.follow(ctx, l.Session) })
			work.Go(func() { s.stopWhenTold(ctx, l.Session) })
		})
	}
}

func (s *session) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

func (s *session) notice(n control.Notice) {
	switch n.Kind {
	case control.Asking:
		if s.args.output == "text" {
			s.out.note("%s waits for a decision", printable(n.Tool))
		}
	case control.Unasked:
		s.fail(fmt.Errorf("the agent ran %s without asking, so it was stopped", printable(n.Tool)))
	case control.Unknown, control.Reported:
		s.out.note("%s", printable(n.Text))
	case control.Settled:
	default:
	}
}

// talk begins the protocol and gives the agent its prompts, one a turn.
func (s *session) talk(ctx context.Context) {
	if err := s.host.Initialize(ctx); err != nil {
		select {
		case <-s.child.ended: // it says itself why
		case <-ctx.Done():
		default:
			s.fail(err)
		}
		return
	}
	for {
		if s.of.Terminal && !s.args.print {
			fmt.Fprint(s.of.Stderr, "> ")
		}
		p, more := s.in.next(ctx)
		if !more {
			break
		}
		line, err := p.message, error(nil)
		if line == nil {
			line, err = s.host.Prompted(p.text)
		}
		s.interrupted.Store(false)
		if err != nil || s.child.write(line) != nil || !s.turnEnds(ctx) {
			return
		}
	}
	s.child.hangUp()
}

// turnEnds waits until the agent is done, and its sub-agents with it: they are
// cut off when its input ends.
func (s *session) turnEnds(ctx context.Context) bool {
	for {
		select {
		case <-s.turns:
			if s.host.Running() == 0 {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// obey passes signals on. The first interrupt ends the agent's turn, the next
// one the agent.
func (s *session) obey(ctx context.Context) {
	for {
		select {
		case sig := <-s.of.Signals:
			if sig == os.Interrupt && s.interrupted.CompareAndSwap(false, true) {
				go s.endTurn(ctx)
				continue
			}
			s.child.end(sig)
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) endTurn(ctx context.Context) {
	if s.host.Interrupt(ctx) != nil {
		s.child.end(os.Interrupt)
	}
}

// stopWhenTold ends the agent's turn when a person says so. Of what they said
// before, only what nobody was told of counts.
func (s *session) stopWhenTold(ctx context.Context, sessionID string) {
	known := int64(-1)
	var wait client.Backoff
	for ctx.Err() == nil {
		n, err := s.of.Wishes.FollowInterrupts(ctx, sessionID, known)
		if err != nil {
			if wait.Wait(ctx) != nil {
				return
			}
			continue
		}
		if wait = (client.Backoff{}); known >= 0 {
			s.out.note("a person interrupted the agent")
			s.endTurn(ctx)
		}
		known = n
	}
}

// follow gives the agent the mode that a person chose for its session.
func (s *session) follow(ctx context.Context, sessionID string) {
	known := gatelatch.Mode("")
	var wait client.Backoff
	for ctx.Err() == nil {
		m, err := s.of.Wishes.FollowMode(ctx, sessionID, known)
		if err != nil {
			if wait.Wait(ctx) != nil {
				return
			}
			continue
		}
		wait, known = client.Backoff{}, m
		if m == "" {
			m = gatelatch.ModeDefault
		}
		if err := s.host.SetMode(ctx, m); err != nil && ctx.Err() == nil {
			s.out.note("the agent keeps its own mode (%s): %v", m, err)
		}
	}
}
