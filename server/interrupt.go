package server

import (
	"context"
	"errors"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
)

func interrupt(_ *Server, q *request, in api.Interrupt) (api.AgentSession, error) {
	sess, err := q.seat.Interrupt(q.Context(), in.Agent, in.Session, in.Note)
	if err != nil {
		return api.AgentSession{}, err
	}
	return q.viewSession(sess), nil
}

func followInterrupts(s *Server, q *request, in api.FollowInterrupts) (out api.FollowedInterrupts, err error) {
	err = s.follow(q, func(ctx context.Context) (err error) {
		out.Interrupts, err = q.seat.FollowInterrupts(ctx, in.Session, in.Known)
		return err
	})
	return out, err
}

// follow runs a wait of an agent for as long as a request is held.
func (s *Server) follow(q *request, wait func(context.Context) error) error {
	keyed, leave := s.opt.Auth.While(q.Context(), q.key)
	defer leave()
	ctx, stop := context.WithTimeout(keyed, followTime)
	defer stop()
	defer context.AfterFunc(q.base(), stop)() // a gateway that stops does not wait for it
	err := wait(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil
	case errors.Is(context.Cause(keyed), auth.ErrNobody):
		return auth.ErrNobody
	}
	return err
}
