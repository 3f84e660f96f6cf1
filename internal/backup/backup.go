// Package backup is the copy of a store as a file: lines of JSON that any store
// writes and any other reads. The first line names the format, the last counts
// the rows and sums up all bytes before it.
//
// A copy is old: what waits in it was perhaps decided since, what is allowed
// perhaps consumed. So nothing that could let a call through comes back to life
// when it is restored.
package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

// ErrNotEmpty is the answer of a store that has something in it already.
var ErrNotEmpty = errors.New("the store is not empty, and a backup is restored only into an empty one")

// Tables that have rows of bytes and their sum, in the order of a file. Events
// come before them. What is left out can be made from these, or means nothing
// when nothing waits.
const (
	Control = "control"
	Keys    = "key"
	Session = "session"
	Policy  = "revision"
	Grants  = "grant"
	Inputs  = "input"
	Results = "result"
	Batches = "batch"

	events = "event"
)

// Query reads the bytes of a table's rows and their sums; every database that
// can be copied keeps them under these names.
func Query(table string) string {
	switch table {
	case Inputs, Results:
		return "SELECT bytes, hash FROM " + table
	case Grants: // grant is a word of SQL
		return "SELECT body, sum FROM grants"
	}
	return "SELECT body, sum FROM " + table
}

var order = []string{events, Control, Keys, Policy, Session, Grants, Inputs, Results, Batches}

const (
	format  = "gatelatch.backup"
	version = 2
)

type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

type row struct {
	Bytes []byte        `json:"bytes"`
	Sum   gatelatch.Sum `json:"sum"`
}

type trailer struct {
	Rows   int           `json:"rows"`
	SHA256 gatelatch.Sum `json:"sha256"`
}

// Source is one state of a store.
type Source interface {
	Events(after gatelatch.Seq, limit int) ([]gatelatch.Event, error)
	// Rows calls fn with the bytes and the sum of every row of a table.
	Rows(table string, fn func(bytes, sum []byte) error) error
}

// Write writes a copy. What is damaged is not copied: the error says so.
func Write(ctx context.Context, w io.Writer, from Source) error {
	out := &lines{w: bufio.NewWriterSize(w, 1<<16), sum: sha256.New()}
	if err := out.put(header{format, version}); err != nil {
		return err
	}
	if err := out.events(ctx, from); err != nil {
		return err
	}
	for _, table := range order[1:] {
		err := from.Rows(table, func(raw, sum []byte) error {
			if s := gatelatch.SumOf(raw); string(sum) != string(s[:]) {
				return errors.New("the database is damaged: a row does not match its checksum")
			}
			return errors.Join(ctx.Err(), out.row(table, row{raw, gatelatch.Sum(sum)}))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	if err := out.put(trailer{out.rows, gatelatch.Sum(out.sum.Sum(nil))}); err != nil {
		return err
	}
	return out.w.Flush()
}

type lines struct {
	w    *bufio.Writer
	sum  hash.Hash
	rows int
}

func (l *lines) put(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	l.sum.Write(raw)
	_, err = l.w.Write(raw)
	return err
}

func (l *lines) row(table string, v any) error {
	l.rows++
	return l.put(struct {
		Table string `json:"table"`
		Row   any    `json:"row"`
	}{table, v})
}

func (l *lines) events(ctx context.Context, from Source) error {
	var chain audit.Chain
	for {
		seq, _ := chain.Head()
		es, err := from.Events(seq, 1000)
		if err != nil || len(es) == 0 {
			return errors.Join(err, ctx.Err())
		}
		for _, e := range es {
			if err := errors.Join(ctx.Err(), chain.Next(e), l.row(events, encode(e))); err != nil {
				return err
			}
		}
	}
}
