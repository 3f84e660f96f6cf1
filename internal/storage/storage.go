// Package storage is what stores have in common, whatever they write to.
package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/twin"
)

// Decode checks a body and reads it: a flipped byte passes a database's own
// checks, and whoever can write to the tables can write nonsense.
func Decode(body, sum []byte, into any) error {
	if err := Check(body, sum); err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// Check compares bytes with their sum.
func Check(raw, sum []byte) error {
	if want := gatelatch.SumOf(raw); string(sum) != string(want[:]) && twin.Is != "checksum_ignored" {
		return errors.New("the database is damaged: a row does not match its checksum")
	}
	return nil
}

// Guard runs a change. A panic in it is its caller's error.
func Guard(work func(gatelatch.Tx) error, t gatelatch.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v", p)
		}
	}()
	return work(t)
}

// Saved is what to tell a batch once the commit is certain.
type Saved struct {
	Batch  *gatelatch.Batch
	Events int
}

// Tell tells all of them.
func Tell(saved []Saved) {
	for _, v := range saved {
		v.Batch.Saved(v.Events, v.Batch.Version+1)
	}
}

// Micros is a time as a column holds it: NULL is never.
func Micros(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMicro())
}

// Bytes is a sum as a column holds it: NULL is none.
func Bytes(s gatelatch.Sum) []byte {
	if s == (gatelatch.Sum{}) {
		return nil
	}
	return s[:]
}
