package memory

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// Message implements gatelatch.Reader.
func (r *reader) Message(id string) (*gatelatch.Message, error) { return get(r.outbox, id, "message") }

// Messages implements gatelatch.Reader.
func (r *reader) Messages(q gatelatch.MessageQuery) ([]*gatelatch.Message, error) {
	order := func(a, b *gatelatch.Message) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) }
	if q.Before.IsZero() {
		order = func(a, b *gatelatch.Message) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) }
	}
	all := r.told(func(m *gatelatch.Message) bool {
		return (q.Call == "" || m.Call == q.Call) && (q.Before.IsZero() || m.At.Before(q.Before))
	}, order)
	return first(all, storage.Limit(q.Limit, 1000, 1000)), nil
}

func (r *reader) told(keep func(*gatelatch.Message) bool, order func(a, b *gatelatch.Message) int) (out []*gatelatch.Message) {
	for _, m := range r.outbox {
		if keep(&m) {
			out = append(out, &m)
		}
	}
	slices.SortFunc(out, order)
	return out
}

// MessagesDue implements gatelatch.Reader.
func (r *reader) MessagesDue(t time.Time, limit int) ([]*gatelatch.Message, time.Time, error) {
	all := r.told(func(m *gatelatch.Message) bool { return !m.Due.IsZero() },
		func(a, b *gatelatch.Message) int { return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.ID, b.ID)) })
	for i, m := range all {
		if m.Due.After(t) {
			return first(all[:i], limit), m.Due, nil
		}
	}
	return first(all, limit), time.Time{}, nil
}

// Cursor implements gatelatch.Reader.
func (r *reader) Cursor(name string) (gatelatch.Cursor, error) {
	c, err := get(r.cursors, name, "cursor")
	if errors.Is(err, gatelatch.ErrNotFound) {
		return gatelatch.Cursor{Name: name}, nil
	}
	return *c, err
}

// SaveMessage implements gatelatch.Tx.
func (t *tx) SaveMessage(m *gatelatch.Message) error {
	err := save(t, t.outbox, m.ID, *m, func(m *gatelatch.Message) *int64 { return &m.Version })
	if err == nil && m.Forgotten {
		drop(t, t.outbox, m.ID)
	}
	return err
}

// SaveCursor implements gatelatch.Tx.
func (t *tx) SaveCursor(c gatelatch.Cursor) error {
	return save(t, t.cursors, c.Name, c, func(c *gatelatch.Cursor) *int64 { return &c.Version })
}
