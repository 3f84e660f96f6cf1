package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
)

var (
	putMessage = insert("message", "id bytea, version bigint, body bytea, sum bytea, due bigint, call bytea, at bigint")
	setMessage = update("message", "id bytea, was bigint", "version bigint, body bytea, sum bytea, due bigint")
	delMessage = remove("message", "id bytea, was bigint")
	putCursor  = insert("cursor", "id bytea, version bigint, body bytea, sum bytea")
	setCursor  = update("cursor", "id bytea, was bigint", "version bigint, body bytea, sum bytea")
)

// Message implements gatelatch.Reader.
func (r *reader) Message(id string) (*gatelatch.Message, error) {
	m := new(gatelatch.Message)
	if err := body(r.row("message", `SELECT version, body, sum FROM message WHERE id=$1`, raw(id)), &m.Version, m); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return m, nil
}

// Messages implements gatelatch.Reader.
func (r *reader) Messages(q gatelatch.MessageQuery) ([]*gatelatch.Message, error) {
	limit := storage.Limit(q.Limit, 1000, 1000)
	switch {
	case q.Call != "":
		return r.messages(`SELECT version, body, sum FROM message WHERE call=$1 ORDER BY at DESC, id DESC LIMIT $2`, raw(q.Call), limit)
	case !q.Before.IsZero():
		return r.messages(`SELECT version, body, sum FROM message WHERE at<$1 ORDER BY at, id LIMIT $2`, q.Before.UnixMicro(), limit)
	}
	return r.messages(`SELECT version, body, sum FROM message ORDER BY at DESC, id DESC LIMIT $1`, limit)
}

func (r *reader) messages(query string, args ...any) (out []*gatelatch.Message, err error) {
	err = r.each("message", query, args, func(rows pgx.Rows) error {
		m := new(gatelatch.Message)
		out = append(out, m)
		return body(one{rows}, &m.Version, m)
	})
	return out, err
}

// MessagesDue implements gatelatch.Reader.
func (r *reader) MessagesDue(t time.Time, limit int) (ms []*gatelatch.Message, next time.Time, err error) {
	at := t.UnixMicro()
	if ms, err = r.messages(`SELECT version, body, sum FROM message WHERE due<=$1 ORDER BY due, id LIMIT $2`, at, limit); err != nil {
		return nil, next, err
	}
	var due *int64
	if err = r.row("message", `SELECT MIN(due) FROM message WHERE due>$1`, at).scan(&due); err == nil && due != nil {
		next = time.UnixMicro(*due).UTC()
	}
	return ms, next, err
}

// Cursor implements gatelatch.Reader.
func (r *reader) Cursor(name string) (gatelatch.Cursor, error) {
	c, version := gatelatch.Cursor{Name: name}, int64(0)
	err := body(r.row("cursor", `SELECT version, body, sum FROM cursor WHERE id=$1`, raw(name)), &version, &c)
	if err != nil && !errors.Is(err, gatelatch.ErrNotFound) {
		return c, fmt.Errorf("cursor: %w", err)
	}
	c.Version = version
	return c, nil
}

// SaveMessage implements gatelatch.Tx.
func (t *tx) SaveMessage(m *gatelatch.Message) error {
	if m.Forgotten {
		if t.own("message", m.ID) != nil {
			if err := t.settle("message"); err != nil {
				return err
			}
		}
		t.put(write{kind: delMessage, id: m.ID, args: []any{raw(m.ID), m.Version}})
		return nil
	}
	return t.save(kept{
		put: putMessage, set: setMessage, id: m.ID, keys: []any{raw(m.ID)}, version: m.Version, value: m,
		more: []any{storage.Micros(m.Due)}, new: []any{raw(m.Call), m.At.UnixMicro()},
	})
}

// SaveCursor implements gatelatch.Tx.
func (t *tx) SaveCursor(c gatelatch.Cursor) error {
	return t.save(kept{put: putCursor, set: setCursor, id: c.Name, keys: []any{raw(c.Name)}, version: c.Version, value: c})
}
