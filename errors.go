package gatelatch

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers test for. None of them ever means allow.
var (
	ErrNotFound   = errors.New("not found")
	ErrSettled    = errors.New("already decided")
	ErrChanged    = errors.New("what was decided is not what was shown")
	ErrConflict   = errors.New("this was said before, and differently")
	ErrOpened     = errors.New("the batch is held by somebody else")
	ErrFenced     = errors.New("somebody else holds the batch now")
	ErrFinished   = errors.New("the batch is finished")
	ErrConsumed   = errors.New("this allow was already used")
	ErrUnfinished = errors.New("what was allowed is run and reported first, or abandoned")
	ErrOrder      = errors.New("calls run in their order")
	ErrWaiting    = errors.New("the batch has calls that wait")
	ErrPaused     = errors.New("everything is paused and denied until it is resumed")
	ErrForbidden  = errors.New("not allowed for this key")
	ErrInvalid    = errors.New("invalid")
	ErrClosed     = errors.New("the store is closed")
	ErrStale      = errors.New("changed by somebody else meanwhile")
	ErrBusy       = errors.New("more is asked than the gateway can judge now")
	ErrUnsigned   = errors.New("this needs your passkey, on the page")
	ErrSignature  = errors.New("the passkey's signature does not count")

	// ErrUnavailable is a full disk or a database that is away: asking again
	// later may succeed, and may find that it already had.
	ErrUnavailable = errors.New("the gateway can't use its store now")
)

// A SettledError tells a late decider who was first, and with what.
type SettledError struct {
	Call    string
	Decided Decision
}

func (e *SettledError) Error() string {
	s := fmt.Sprintf("call %s was already decided by %s as %s", e.Call, e.Decided.By, e.Decided.State)
	if e.Decided.Note != "" {
		s += ": " + e.Decided.Note
	}
	return s
}

// Is makes errors.Is(err, ErrSettled) hold.
func (e *SettledError) Is(target error) bool { return target == ErrSettled }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, strings.TrimSpace(fmt.Sprintf(format, args...)))
}
