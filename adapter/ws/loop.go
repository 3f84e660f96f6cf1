package ws

import (
	"context"
	"errors"
	"sync"

	"github.com/gatelatch/gatelatch/internal/fault"
)

// ErrLost is the cause of what ends because its connection did.
var ErrLost = errors.New("the connection was lost")

// A Session is one connection at work.
type Session struct {
	Conn
	// Valid says whether the peer's key still holds. It is asked before each
	// message, either way.
	Valid func() error
	// Start, if not nil, runs beside the reading from the first moment.
	Start func(ctx context.Context) error

	work sync.WaitGroup
	end  context.CancelCauseFunc

	mu   sync.Mutex
	open map[string]context.CancelCauseFunc // what Go runs, by name
}

// Run hands each message to take, in order; take must not wait. When the
// connection ends, what was begun with Go ends too, with ErrLost.
func (s *Session) Run(ctx context.Context, take func(ctx context.Context, raw []byte) error) (err error) {
	ctx, s.end = context.WithCancelCause(ctx)
	defer func() {
		s.end(ErrLost)
		s.work.Wait()
	}()
	if s.Start != nil {
		s.Go(func() error { return s.Start(ctx) })
	}
	for {
		raw, err := s.Read(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
				return cause
			}
			return nil // the peer is gone, which is no fault
		}
		if err := s.Valid(); err != nil {
			return err
		}
		if err := take(ctx, raw); err != nil {
			return err
		}
	}
}

// Write implements Conn.
func (s *Session) Write(ctx context.Context, v any) error {
	if err := s.Valid(); err != nil {
		return err
	}
	return s.Conn.Write(ctx, v)
}

// Over reports whether nobody waits for what ctx is for.
func Over(ctx context.Context) bool { return ctx.Err() != nil }

var errFault = errors.New("the gateway failed on this connection")

// Go runs fn beside the reading. An error of it, or a panic, ends the
// connection: no other peer suffers from it.
func (s *Session) Go(fn func() error) {
	s.work.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				fault.Log(nil, "a WebSocket", p)
				s.end(errFault)
			}
		}()
		if err := fn(); err != nil {
			s.end(err)
		}
	})
}

// Begin is Go for what the peer names, and may cancel by that name. It reports
// whether the name was free.
func (s *Session) Begin(ctx context.Context, name string, fn func(ctx context.Context) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[name]; taken {
		return false
	}
	if s.open == nil {
		s.open = map[string]context.CancelCauseFunc{}
	}
	ctx, stop := context.WithCancelCause(ctx)
	s.open[name] = stop
	s.Go(func() error {
		defer s.Cancel(name, nil)
		return fn(ctx)
	})
	return true
}

// Cancel ends what was begun under a name.
func (s *Session) Cancel(name string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop, ok := s.open[name]; ok {
		delete(s.open, name)
		stop(cause)
	}
}
