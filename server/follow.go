package server

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
)

// followTime is how long a wait for another mode is held before the client
// asks again.
const followTime = 25 * time.Second

func followMode(s *Server, q *request, in api.FollowMode) (api.FollowedMode, error) {
	keyed, leave := s.opt.Auth.While(q.Context(), q.key)
	defer leave()
	ctx, stop := context.WithTimeout(keyed, followTime)
	defer stop()
	defer context.AfterFunc(q.base(), stop)() // a gateway that stops does not wait for it
	m, err := q.seat.FollowMode(ctx, in.Session, gatelatch.Mode(in.Mode))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = nil
	case errors.Is(context.Cause(keyed), auth.ErrNobody):
		err = auth.ErrNobody
	}
	return api.FollowedMode{Mode: string(m)}, err
}
