package server

import (
	"context"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// followTime is how long a wait for another mode is held before the client
// asks again.
const followTime = 25 * time.Second

func followMode(s *Server, q *request, in api.FollowMode) (out api.FollowedMode, err error) {
	err = s.follow(q, func(ctx context.Context) error {
		m, err := q.seat.FollowMode(ctx, in.Session, gatelatch.Mode(in.Mode))
		out.Mode = string(m)
		return err
	})
	return out, err
}
