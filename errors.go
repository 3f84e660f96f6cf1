package gatelatch

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers test for. None of them ever means allow.
var (
	ErrNotFound  = errors.New("not found")
	ErrSettled   = errors.New("already decided")
	ErrChanged   = errors.New("what was decided is not what was shown")
	ErrConflict  = errors.New("this call id was proposed before with another input")
	ErrOpened    = errors.New("the batch was already opened by somebody else")
	ErrWaiting   = errors.New("the batch has calls that wait")
	ErrPaused    = errors.New("everything is paused and denied until it is resumed")
	ErrForbidden = errors.New("not allowed for this key")
	ErrInvalid   = errors.New("invalid")
	ErrClosed    = errors.New("the store is closed")
	ErrStale     = errors.New("changed by somebody else meanwhile")
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
