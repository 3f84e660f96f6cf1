package main

import (
	"errors"

	"github.com/gatelatch/gatelatch/client"
)

// hintError is an error with what to do about it.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// Hint says what to do.
func (e *hintError) Hint() string { return e.hint }

func withHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintError{err, hint}
}

// hintOf finds the hint of an error, ours or one that came over the API.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	if errors.Is(err, client.ErrUnreachable) {
		return `start the gateway with "gatelatch serve", or once and for all with "gatelatch service install"`
	}
	return ""
}
