package server

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// followTime is how long a wait for another mode is held before the client
// asks again.
const followTime = 25 * time.Second

func followMode(_ *Server, q *request, in api.FollowMode) (api.FollowedMode, error) {
	ctx, stop := context.WithTimeout(q.Context(), followTime)
	defer stop()
	defer context.AfterFunc(q.base(), stop)() // a gateway that stops does not wait for it
	m, err := q.seat.FollowMode(ctx, in.Session, gatelatch.Mode(in.Mode))
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return api.FollowedMode{Mode: string(m)}, err
}
