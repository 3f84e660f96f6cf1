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
	"slices"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

// Target is an empty store in one transaction. It commits only if Restore
// returned nil.
type Target interface {
	Now() time.Time
	Control() (gatelatch.Control, error)
	SaveControl(gatelatch.Control) error
	SaveKey(*gatelatch.Key) error
	SaveSession(*gatelatch.Session) error
	AddRevision(*gatelatch.Revision) error
	SaveGrant(*gatelatch.Grant) error
	Record(gatelatch.Event) error
	// PutEvent writes an event as it is, with its number and link.
	PutEvent(gatelatch.Event) error
	PutInput(sum gatelatch.Sum, raw []byte) error
	PutResult(sum gatelatch.Sum, raw []byte) error
	// PutBatch writes a new batch, with its events if it has any, and keeps
	// nothing of it.
	PutBatch(*gatelatch.Batch) error
	// Whole reports calls without their input.
	Whole() error
}

// Restore reads a copy into an empty store, and revives nothing: what waited is
// withdrawn, allows have lapsed, grants and browsers are revoked.
func Restore(ctx context.Context, r io.Reader, to Target) error {
	in := &restorer{Target: to, in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New(), by: gatelatch.Actor{Kind: gatelatch.GatewayActor}}
	var h header
	raw, err := in.line()
	if err != nil || json.Unmarshal(raw, &h) != nil || h.Format != format {
		return errors.New("this is no backup of gatelatch")
	}
	if h.Version < 1 || h.Version > version {
		return fmt.Errorf("the backup has format %d, this gatelatch knows %d: use another gatelatch", h.Version, version)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := gatelatch.Sum(in.sum.Sum(nil))
		raw, err := in.line()
		if err != nil {
			return err
		}
		var l struct {
			Table string          `json:"table"`
			Row   json.RawMessage `json:"row"`
			trailer
		}
		switch err := json.Unmarshal(raw, &l); {
		case err != nil:
			return damaged(err)
		case l.Table == "":
			return in.end(l.trailer, before)
		}
		if err := in.row(l.Table, l.Row); err != nil {
			return fmt.Errorf("row %d, %s: %w", in.rows, l.Table, err)
		}
	}
}

func damaged(why any) error { return fmt.Errorf("the backup is damaged: %v", why) }

type restorer struct {
	Target
	in    *bufio.Reader
	sum   hash.Hash
	rows  int
	place int // in order
	chain audit.Chain
	last  time.Time // of the trail
	at    time.Time // when everything was restored
	by    gatelatch.Actor
}

// maxLine is more than the largest row has.
const maxLine = 256 << 20

func (in *restorer) line() (line []byte, err error) {
	for {
		part, err := in.in.ReadSlice('\n')
		in.sum.Write(part)
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, damaged("it ends too soon")
		case len(line) > maxLine:
			return nil, damaged("a line has no end")
		}
	}
}

// row takes a line. Events are the first, so that what is restored is recorded
// behind them.
func (in *restorer) row(table string, raw json.RawMessage) error {
	in.rows++
	place := slices.Index(order, table)
	if place < in.place {
		return damaged("its rows are out of order")
	}
	in.place = place
	if table == events {
		return in.event(raw)
	}
	if err := in.begin(); err != nil {
		return err
	}
	var v row
	if err := json.Unmarshal(raw, &v); err != nil {
		return damaged(err)
	}
	if gatelatch.SumOf(v.Bytes) != v.Sum {
		return damaged("a row does not match its checksum")
	}
	return in.put(table, v)
}

func (in *restorer) event(raw json.RawMessage) error {
	var v event
	if err := json.Unmarshal(raw, &v); err != nil {
		return damaged(err)
	}
	e := v.decode()
	if err := in.chain.Next(e); err != nil {
		return damaged(err)
	}
	in.last = e.At
	return in.PutEvent(e)
}

// begin records that everything behind it was restored.
func (in *restorer) begin() error {
	if !in.at.IsZero() {
		return nil
	}
	if in.at = in.Now(); in.at.Before(in.last) {
		in.at = in.last
	}
	return in.record(gatelatch.GateRestored, struct{}{})
}

func (in *restorer) record(kind gatelatch.EventKind, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return in.Record(gatelatch.Event{Kind: kind, By: in.by, At: in.at, Body: raw})
}

// end checks that what was read is all that was written.
func (in *restorer) end(t trailer, sum gatelatch.Sum) error {
	if t.Rows != in.rows || t.SHA256 != sum {
		return damaged("it does not match its checksum")
	}
	if _, err := in.in.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged("something follows its end")
	}
	if err := in.begin(); err != nil {
		return err
	}
	return in.Whole()
}
