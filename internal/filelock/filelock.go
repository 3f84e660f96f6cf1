// Package filelock lets one process of a machine have something.
package filelock

import "errors"

// ErrLocked means that another process has it.
var ErrLocked = errors.New("another gateway uses this state directory")
