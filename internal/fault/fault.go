// Package fault tells the log about a panic, and nothing of what an agent sent:
// the text of a panic may hold a piece of it.
package fault

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Log notes a panic where it was recovered. A nil log is the default one.
func Log(log *slog.Logger, where string, p any) {
	if log == nil {
		log = slog.Default()
	}
	log.Error("panic", "where", where, "panic", text(p), "stack", string(debug.Stack()))
}

// text is what the runtime says, or else only the kind of what was thrown.
func text(p any) string {
	var e runtime.Error
	if err, ok := p.(error); ok && errors.As(err, &e) {
		return e.Error()
	}
	return fmt.Sprintf("a %T", p)
}
