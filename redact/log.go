package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler returns a log handler that masks messages and values before next
// writes them.
func Handler(next slog.Handler) slog.Handler { return &handler{next} }

type handler struct{ next slog.Handler }

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(as []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(as))
	for i, a := range as {
		out[i] = attr(a)
	}
	return &handler{h.next.WithAttrs(out)}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.next.WithGroup(name)} }

func attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, field(a.Key, v.String()))
	case slog.KindGroup:
		var in []slog.Attr
		for _, sub := range v.Group() {
			in = append(in, attr(sub))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(in...)}
	case slog.KindAny:
		return slog.String(a.Key, field(a.Key, printed(v.Any())))
	default:
		return a
	}
}

// printed is a value as text: inside a struct nobody looks.
func printed(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case error:
		return v.Error()
	default:
		return fmt.Sprintf("%+v", v)
	}
}

func field(key, text string) string { return under(key, text, Text(text)) }
