// Package audit chains events so that a changed, moved or missing one shows.
package audit

import (
	"encoding/binary"
	"fmt"

	"github.com/gatelatch/gatelatch"
)

// Link returns the hash of e behind e.Prev. It covers every field, the
// sequence number and the batch included, so that no row can be moved.
func Link(e gatelatch.Event) gatelatch.Sum {
	return gatelatch.SumFields("gatelatch.event.v1", e.Prev[:], number(int64(e.Seq)), number(e.At.UnixMicro()), []byte(e.Kind),
		[]byte(e.By.Kind), []byte(e.By.ID), []byte(e.By.Name), []byte(e.Batch), []byte(e.Call), e.Body)
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(n)) }

// A Chain checks events as they come, in order. The zero value begins at the
// first event.
type Chain struct {
	seq  gatelatch.Seq
	head gatelatch.Sum
}

// After returns a chain that goes on behind an event known to be good.
func After(seq gatelatch.Seq, link gatelatch.Sum) Chain { return Chain{seq, link} }

// Next checks that e follows what came before.
func (c *Chain) Next(e gatelatch.Event) error { return c.next(e, Link(e)) }

func (c *Chain) next(e gatelatch.Event, link gatelatch.Sum) error {
	switch {
	case e.Seq != c.seq+1:
		return fmt.Errorf("event %d follows %d: some are missing or out of order", e.Seq, c.seq)
	case e.Prev != c.head:
		return fmt.Errorf("event %d does not follow event %d: one of them was changed", e.Seq, c.seq)
	case link != e.Link:
		return fmt.Errorf("event %d was changed", e.Seq)
	}
	c.seq, c.head = e.Seq, e.Link
	return nil
}

// Head is the number and link of the last event checked.
func (c *Chain) Head() (gatelatch.Seq, gatelatch.Sum) { return c.seq, c.head }
