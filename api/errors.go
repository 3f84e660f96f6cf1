package api

import (
	"errors"

	"github.com/gatelatch/gatelatch"
)

// ErrorBody is the body of every answer that is not a success.
type ErrorBody struct {
	Error Error `json:"error"`
}

// Error says what went wrong and what to do. Code is stable.
type Error struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
	Decided *Decided `json:"decided,omitempty"` // with code settled: who was first
}

// Codes that have no error in the domain.
const (
	CodeUnauthenticated = "unauthenticated"
	CodeOrigin          = "origin"
	CodeHost            = "host"
	CodeMethod          = "method"
	CodeMediaType       = "media_type"
	CodeTooLarge        = "too_large"
	CodeUnavailable     = "unavailable"
	CodeInternal        = "internal"
	CodeTooMany         = "too_many"
)

// domain maps the domain's errors to codes and statuses, both ways. Statuses
// are numbers: net/http would make the hook start slower.
var domain = []struct {
	err    error
	code   string
	status int
	hint   string
}{
	{gatelatch.ErrInvalid, "invalid", 400, ""},
	{gatelatch.ErrForbidden, "forbidden", 403, "an agent's key can only ask; decide in the page or with the gatelatch command"},
	{gatelatch.ErrNotFound, "not_found", 404, `list what there is with "gatelatch ls"`},
	{gatelatch.ErrSettled, "settled", 409, "the first decision stands"},
	{gatelatch.ErrChanged, "changed", 409, "look at the call again and decide on what it shows now"},
	{gatelatch.ErrConflict, "conflict", 409, "what is new needs a new id"},
	{gatelatch.ErrOpened, "opened", 409, "the calls run only once; another process holds them"},
	{gatelatch.ErrFenced, "fenced", 409, "stop: whoever holds the batch now goes on"},
	{gatelatch.ErrFinished, "finished", 409, "read the results; nothing is left to run"},
	{gatelatch.ErrConsumed, "consumed", 409, "an allow is used once; ask again for another"},
	{gatelatch.ErrUnfinished, "unfinished", 409, "consume and report the call, or finish with abandon"},
	{gatelatch.ErrOrder, "order", 409, ""},
	{gatelatch.ErrWaiting, "waiting", 409, ""},
	{gatelatch.ErrStale, "stale", 409, "try again"},
	{gatelatch.ErrPaused, "paused", 423, `resume with "gatelatch unpause" or in the page`},
	{gatelatch.ErrClosed, CodeUnavailable, 503, "the gateway is stopping; try again"},
	{gatelatch.ErrUnavailable, "store", 503, "its disk may be full, or its database away; the gateway's log says more; try again"},
}

// FromError returns the answer for an error of the domain. Anything unknown is
// internal, and its text stays in the log.
func FromError(err error) (int, Error) {
	for _, d := range domain {
		if !errors.Is(err, d.err) {
			continue
		}
		e := Error{Code: d.code, Message: err.Error(), Hint: d.hint}
		if errors.Is(err, gatelatch.ErrUnavailable) {
			e.Message = gatelatch.ErrUnavailable.Error() // what the database said stays in the log
		}
		var s *gatelatch.SettledError
		if errors.As(err, &s) {
			e.Decided = FromDecision(&s.Decided)
		}
		return d.status, e
	}
	return 500, Error{Code: CodeInternal, Message: "internal error", Hint: "the gateway's log says more"}
}

// A RemoteError is an error that came over the API. errors.Is finds the
// domain's error in it.
type RemoteError struct {
	Status int
	Body   Error
}

func (e *RemoteError) Error() string { return e.Body.Message }

// Hint says what to do about it.
func (e *RemoteError) Hint() string { return e.Body.Hint }

// Is reports whether target is the domain's error with this code.
func (e *RemoteError) Is(target error) bool {
	for _, d := range domain {
		if d.code == e.Body.Code {
			return target == d.err
		}
	}
	return false
}
