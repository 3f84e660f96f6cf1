package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

var telling = map[string]func(*testing.T, Open){
	"a message is made once (REL-14)":              messageOnce,
	"a message is claimed by one":                  messageClaim,
	"messages are found by call, age and due time": messageLists,
	"a cursor and its messages move together":      cursorMoves,
}

func message(channel, call string, at time.Time) *gatelatch.Message {
	return gatelatch.NewMessage(gatelatch.AskedMessage, 0, channel, call, at, at)
}

func messageOnce(t *testing.T, open Open) {
	s := fresh(t, open)
	at := time.Now().UTC().Truncate(time.Microsecond)
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveMessage(message("mail", "cal_1", at)) }))
	if err := update(s, func(tx gatelatch.Tx) error { return tx.SaveMessage(message("mail", "cal_1", at)) }); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("made twice: %v", err)
	}
	id := message("mail", "cal_1", at).ID
	m := view(t, s, func(r gatelatch.Reader) (*gatelatch.Message, error) { return r.Message(id) })
	if m.Call != "cal_1" || m.State != gatelatch.MessageWaiting || !m.Due.Equal(at) || m.Version == 0 {
		t.Errorf("loaded %+v", m)
	}
	m.Forgotten = true
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveMessage(m) }))
	if err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Message(id); return err }); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("a forgotten message: %v", err)
	}
}

func messageClaim(t *testing.T, open Open) {
	s := fresh(t, open)
	must(t, update(s, func(tx gatelatch.Tx) error { return tx.SaveMessage(message("mail", "cal_1", tx.Now())) }))
	id := message("mail", "cal_1", time.Time{}).ID
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			err := update(s, func(tx gatelatch.Tx) error {
				m, err := tx.Message(id)
				if err == nil {
					err = m.Claim(fmt.Sprint("gateway ", i), time.Minute, tx.Now())
				}
				if err == nil {
					err = tx.SaveMessage(m)
				}
				return err
			})
			switch {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, gatelatch.ErrStale):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have it", won.Load())
	}
}

func messageLists(t *testing.T, open Open) {
	s := fresh(t, open)
	begin := time.Now().UTC().Truncate(time.Microsecond)
	must(t, update(s, func(tx gatelatch.Tx) error {
		for i := range 4 {
			m := message("mail", fmt.Sprint("cal_", i), begin.Add(time.Duration(i)*time.Second))
			m.Due = begin.Add(time.Duration(4-i) * time.Minute)
			if i == 3 {
				m.Delivered(begin)
			}
			if err := tx.SaveMessage(m); err != nil {
				return err
			}
		}
		return tx.SaveMessage(message("phone", "cal_0", begin.Add(time.Hour)))
	}))
	check := func(what string, ms []*gatelatch.Message, want ...string) {
		t.Helper()
		var got []string
		for _, m := range ms {
			got = append(got, m.Channel+m.Call[4:])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	list := func(q gatelatch.MessageQuery) []*gatelatch.Message {
		return view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Message, error) { return r.Messages(q) })
	}
	check("newest", list(gatelatch.MessageQuery{Limit: 2}), "phone0", "mail3")
	check("of a call", list(gatelatch.MessageQuery{Call: "cal_0"}), "phone0", "mail0")
	check("old ones", list(gatelatch.MessageQuery{Before: begin.Add(2 * time.Second)}), "mail0", "mail1")
	must(t, s.View(t.Context(), func(r gatelatch.Reader) error {
		ms, next, err := r.MessagesDue(begin.Add(3*time.Minute), 10)
		check("due", ms, "mail2", "mail1")
		if !next.Equal(begin.Add(4 * time.Minute)) {
			t.Errorf("the next is due at %v", next)
		}
		return err
	}))
}

func cursorMoves(t *testing.T, open Open) {
	s := fresh(t, open)
	read := func() gatelatch.Cursor {
		return view(t, s, func(r gatelatch.Reader) (gatelatch.Cursor, error) { return r.Cursor("notify") })
	}
	c := read()
	if c.Seq != 0 || c.Name != "notify" {
		t.Errorf("before anything: %+v", c)
	}
	move := func(c gatelatch.Cursor, to gatelatch.Seq, call string) error {
		return update(s, func(tx gatelatch.Tx) error {
			c := c
			c.Seq = to
			if err := tx.SaveMessage(message("mail", call, tx.Now())); err != nil {
				return err
			}
			return tx.SaveCursor(c)
		})
	}
	must(t, move(c, 5, "cal_1"))
	if err := move(c, 7, "cal_2"); !errors.Is(err, gatelatch.ErrStale) {
		t.Errorf("an old cursor: %v", err)
	}
	must(t, move(read(), 9, "cal_3"))
	ms := view(t, s, func(r gatelatch.Reader) ([]*gatelatch.Message, error) { return r.Messages(gatelatch.MessageQuery{}) })
	if got := read(); got.Seq != 9 || len(ms) != 2 {
		t.Errorf("cursor %+v, %d messages", got, len(ms))
	}
}
