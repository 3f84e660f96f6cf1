package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// Message implements gatelatch.Reader.
func (r *reader) Message(id string) (*gatelatch.Message, error) {
	m := new(gatelatch.Message)
	if err := body(r.c.row(`SELECT version, body, sum FROM message WHERE id=?`, id), &m.Version, m); err != nil {
		return nil, fmt.Errorf("message: %w", err)
	}
	return m, nil
}

// Messages implements gatelatch.Reader.
func (r *reader) Messages(q gatelatch.MessageQuery) ([]*gatelatch.Message, error) {
	limit := storage.Limit(q.Limit, 1000, 1000)
	switch {
	case q.Call != "":
		return r.messages(messagesOfCall, q.Call, limit)
	case !q.Before.IsZero():
		return r.messages(messagesBefore, q.Before.UnixMicro(), limit)
	}
	return r.messages(messagesNewest, limit)
}

const (
	messagesOfCall = `SELECT version, body, sum FROM message WHERE call=? ORDER BY at DESC, id DESC LIMIT ?`
	messagesBefore = `SELECT version, body, sum FROM message WHERE at<? ORDER BY at, id LIMIT ?`
	messagesNewest = `SELECT version, body, sum FROM message ORDER BY at DESC, id DESC LIMIT ?`
	messagesDue    = `SELECT version, body, sum FROM message WHERE due<=? ORDER BY due, id LIMIT ?`
	messageNext    = `SELECT MIN(due) FROM message WHERE due>?`
)

func (r *reader) messages(query string, args ...any) (out []*gatelatch.Message, err error) {
	err = r.each(query, args, func(rows *sql.Rows) error {
		m := new(gatelatch.Message)
		out = append(out, m)
		return body(row{row: rows}, &m.Version, m)
	})
	return out, err
}

// MessagesDue implements gatelatch.Reader.
func (r *reader) MessagesDue(t time.Time, limit int) (ms []*gatelatch.Message, next time.Time, err error) {
	at := t.UnixMicro()
	if ms, err = r.messages(messagesDue, at, limit); err != nil {
		return nil, next, err
	}
	var due *int64
	if err = r.c.row(messageNext, at).scan(&due); err == nil && due != nil {
		next = time.UnixMicro(*due).UTC()
	}
	return ms, next, err
}

// Cursor implements gatelatch.Reader.
func (r *reader) Cursor(name string) (gatelatch.Cursor, error) {
	c, version := gatelatch.Cursor{Name: name}, int64(0)
	err := body(r.c.row(`SELECT version, body, sum FROM cursor WHERE id=?`, name), &version, &c)
	if err != nil && !errors.Is(err, gatelatch.ErrNotFound) {
		return c, fmt.Errorf("cursor: %w", err)
	}
	c.Version = version
	return c, nil
}

// SaveMessage implements gatelatch.Tx.
func (t *tx) SaveMessage(m *gatelatch.Message) error {
	raw, sum, err := storage.Encode(m)
	due := storage.Micros(m.Due)
	switch {
	case err != nil:
		return err
	case m.Forgotten:
		return t.run(`DELETE FROM message WHERE id=? AND version=?`, m.ID, m.Version)
	case m.Version == 0:
		return t.run(`INSERT INTO message (id, version, call, at, due, body, sum) VALUES (?,1,?,?,?,?,?) ON CONFLICT DO NOTHING`, m.ID, m.Call, m.At.UnixMicro(), due, raw, sum)
	}
	return t.run(`UPDATE message SET version=version+1, due=?, body=?, sum=? WHERE id=? AND version=?`, due, raw, sum, m.ID, m.Version)
}

// SaveCursor implements gatelatch.Tx.
func (t *tx) SaveCursor(c gatelatch.Cursor) error {
	raw, sum, err := storage.Encode(c)
	switch {
	case err != nil:
		return err
	case c.Version == 0:
		return t.run(`INSERT INTO cursor (id, version, body, sum) VALUES (?,1,?,?) ON CONFLICT DO NOTHING`, c.Name, raw, sum)
	}
	return t.run(`UPDATE cursor SET version=version+1, body=?, sum=? WHERE id=? AND version=?`, raw, sum, c.Name, c.Version)
}
