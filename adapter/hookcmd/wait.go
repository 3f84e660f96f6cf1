package hookcmd

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
)

var (
	// errLimit ends a wait before the host's own limit does.
	errLimit = errors.New("nobody decided before the agent's time limit; the request still waits, and the same call gets the decision when it is made again")
	errBusy  = errors.New("another call of this session already waits for approval, so this one could not; it stays on the list, and the same call gets the decision when it is made again later")
	errGone  = errors.New("the agent stopped asking")
	errDefer = errors.New("time to defer")
)

const byeTime = 2 * time.Second // to say that nobody waits any more

// await waits for the decision. Without one, it returns how the wait ended: as
// an answer of its own or as the reason for a denial.
//
// An agent that goes away takes its question back, so that nobody decides what
// no longer matters. One that comes back for it leaves it.
func (c *Claude) await(ctx context.Context, e event, batchID string) (*gatelatch.Batch, Answer, error) {
	waiting, stop := ctx, context.CancelFunc(func() {})
	if e == preToolUse && !c.Attended && c.Defer > 0 {
		waiting, stop = context.WithTimeoutCause(ctx, c.Defer, errDefer)
	}
	defer stop()
	b, err := c.Service.Await(waiting, batchID, c.hold())
	if err == nil || waiting.Err() == nil {
		return b, Answer{}, err
	}
	bye, stop := context.WithTimeout(context.WithoutCancel(ctx), byeTime)
	defer stop()
	switch err := waited(waiting, err); {
	case errors.Is(err, errDefer):
		return c.deferCall(bye, e, batchID)
	case errors.Is(err, errLimit) && c.Attended && e == permissionRequest:
		// The dialog is still there for the person to answer.
		return nil, e.silent(), c.Service.Withdraw(bye, batchID, "the time to answer here is over")
	case errors.Is(err, errLimit):
		return c.park(bye, batchID, err)
	default:
		return nil, Answer{}, errors.Join(err, c.Service.Withdraw(bye, batchID, err.Error()))
	}
}

// deferCall ends the host until it is resumed. It can come back for one call
// only: of two it would forget the first.
func (c *Claude) deferCall(ctx context.Context, e event, batchID string) (*gatelatch.Batch, Answer, error) {
	switch err := c.Service.Park(ctx, batchID, true); {
	case err == nil:
		return nil, e.deferred(), nil
	case errors.Is(err, gatelatch.ErrSettled):
		return c.take(ctx, batchID)
	case errors.Is(err, gatelatch.ErrConflict):
		return c.park(ctx, batchID, errBusy)
	default:
		return nil, Answer{}, err
	}
}

// park denies for now and leaves the question.
func (c *Claude) park(ctx context.Context, batchID string, why error) (*gatelatch.Batch, Answer, error) {
	switch err := c.Service.Park(ctx, batchID, false); {
	case err == nil:
		return nil, Answer{}, why
	case errors.Is(err, gatelatch.ErrSettled):
		return c.take(ctx, batchID)
	default:
		return nil, Answer{}, errors.Join(why, err)
	}
}

// take takes a decision that came in the last moment.
func (c *Claude) take(ctx context.Context, batchID string) (*gatelatch.Batch, Answer, error) {
	b, err := c.Service.Await(ctx, batchID, c.hold())
	return b, Answer{}, err
}

// waited says why a wait ended.
func waited(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errLimit), errors.Is(cause, errDefer):
		return cause
	default:
		return errGone
	}
}
