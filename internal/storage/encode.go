package storage

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

//go:generate go run ./gen

// Encode returns the body of an aggregate, and its sum.
func Encode(v any) (body, sum []byte, err error) {
	if b, ok := v.(*gatelatch.Batch); ok {
		body, err = encodeBatch(b)
	} else {
		body, err = json.Marshal(v)
	}
	h := gatelatch.SumOf(body)
	return body, h[:], err
}

// encodeBatch is json.Marshal without reflection: every change of a batch
// encodes it, and the writer is one goroutine.
func encodeBatch(b *gatelatch.Batch) ([]byte, error) {
	const usual, usualCall = 512, 1536
	var to []byte
	if b != nil {
		to = make([]byte, 0, usual+len(b.Context.Prompt)+len(b.Context.Said)+usualCall*len(b.Calls))
	}
	var e encoder
	to = e.batch(to, b)
	if e.err != nil {
		return nil, e.err
	}
	return to[:len(to)-1], nil
}

// An encoder appends values exactly as encoding/json writes them, each with a
// comma behind it.
type encoder struct {
	err error // the first
}

// end closes an object or an array: its last value has no comma.
func end(to []byte, bracket byte) []byte {
	if last := len(to) - 1; to[last] == ',' {
		to = to[:last]
	}
	return append(to, bracket, ',')
}

func (*encoder) bool(to []byte, v bool) []byte { return append(strconv.AppendBool(to, v), ',') }

func (*encoder) int(to []byte, n int64) []byte { return append(strconv.AppendInt(to, n, 10), ',') }

func (e *encoder) text(to []byte, s string) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			return e.other(to, s)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"', ',')
}

// plain are the bytes that are written as they are.
var plain = func() (set [256]bool) {
	for c := ' '; c <= '~'; c++ {
		set[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return set
}()

func (*encoder) sum(to []byte, s gatelatch.Sum) []byte {
	to = append(to, '"')
	to = hex.AppendEncode(to, s[:])
	return append(to, '"', ',')
}

func (e *encoder) effect(to []byte, v gatelatch.Effect) []byte { return e.text(to, v.String()) }

func (e *encoder) time(to []byte, t time.Time) []byte {
	out, err := t.AppendText(append(to, '"'))
	if err != nil {
		return e.other(to, t) // for the error
	}
	return append(out, '"', ',')
}

// other leaves a value to encoding/json.
func (e *encoder) other(to []byte, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	return append(append(to, raw...), ',')
}
