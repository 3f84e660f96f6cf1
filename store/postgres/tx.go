package postgres

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// tx reads, and notes what a change writes. Nothing is sent before the change
// has agreed, unless it is alone and asks for what it wrote.
type tx struct {
	reader
	set
	alone bool // in the writer's own transaction
}

// set is all that a change writes.
type set struct {
	rows    []write
	flushed bool          // there were more
	mine    map[place]int // where in rows
	events  []gatelatch.Event
	touched []string // batches
	saved   []storage.Saved
	stale   bool  // a save found another version
	control int64 // version of the control row that was seen; 0 is none

	relies map[session]bool // sessions that were read, and that new batches rely on
	idle   unneeded
	blobs
}

// place names a row.
type place struct{ table, id string }

// session names one.
type session struct{ agent, id string }

func (s session) String() string { return fmt.Sprintf("%q %q", s.agent, s.id) }

// unneeded is what to delete if nobody needs it any more: only under the lock
// of the trail's end is it certain that nobody does.
type unneeded struct {
	inputs, results [][]byte
	sessions        []session
}

var _ gatelatch.Tx = (*tx)(nil)

var (
	// errMoved means that somebody else changed the control row, or deleted a
	// session, after a change had looked at it.
	errMoved = errors.New("changed by another gateway meanwhile")
	// errAlone means that a change reads what it wrote.
	errAlone = errors.New("this change needs a transaction of its own")
)

func newTx(c *connection, s *Store, alone bool) *tx {
	t := &tx{reader: reader{c: c, clock: s.clock}, alone: alone}
	t.clean, t.yet = t.settle, &t.blobs
	return t
}

func (s *set) empty() bool { return len(s.rows) == 0 && len(s.events) == 0 && !s.flushed }

// settle comes before a read of a table in which rows were written.
func (t *tx) settle(table string) error {
	for at := range t.mine {
		switch {
		case at.table != table:
		case t.alone:
			return t.flush()
		default:
			return t.c.note(errAlone)
		}
	}
	return nil
}

// flush sends the rows that were noted so far.
func (t *tx) flush() error {
	if err := t.c.start(); err != nil {
		return err
	}
	err := t.c.note(sendRows(t.c, &t.set))
	t.rows, t.mine, t.near, t.flushed = nil, nil, nil, true
	return err
}

// put notes a row; a later one replaces it.
func (t *tx) put(w write) {
	at := place{w.kind.table, w.id}
	if i, again := t.mine[at]; again {
		t.rows[i] = w
		return
	}
	if t.mine == nil {
		t.mine = map[place]int{}
	}
	t.mine[at] = len(t.rows)
	t.rows = append(t.rows, w)
}

// kept is what an aggregate's row holds.
type kept struct {
	put, set  *kind // new, or there before
	id        string
	keys      []any
	version   int64 // as it was loaded
	value     any
	more, new []any // columns behind the body, and those that never change
}

// save notes the row of an aggregate.
func (t *tx) save(k kept) error {
	body, sum, err := storage.Encode(k.value)
	if err != nil {
		return err
	}
	was := k.version
	if i, again := t.mine[place{k.put.table, k.id}]; again {
		first := t.rows[i]
		if first.now.version != k.version {
			t.stale = true
			return gatelatch.ErrStale
		}
		was = first.was
	}
	w := write{kind: k.put, id: k.id, was: was, now: stored{k.version + 1, body, sum}}
	w.args = append(w.args, k.keys...)
	if was > 0 {
		w.kind = k.set
		w.args = append(w.args, was)
	}
	w.args = append(append(w.args, k.version+1, body, sum), k.more...)
	if was == 0 {
		w.args = append(w.args, k.new...)
	}
	t.put(w)
	return nil
}

// own returns a row that this change wrote itself.
func (t *tx) own(table, id string) *stored {
	if i, ok := t.mine[place{table, id}]; ok {
		return &t.rows[i].now
	}
	return nil
}

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	return t.save(kept{put: putSession, set: setSession, id: session{s.Agent, s.ID}.String(), keys: []any{raw(s.Agent), raw(s.ID)}, version: s.Version, value: s,
		new: []any{s.Since.UnixMicro()}})
}

// Session implements gatelatch.Reader. Another gateway may forget the last
// batch of the session, and the session with it, before this one has added its
// own: then the change looks again.
func (t *tx) Session(agent, id string) (*gatelatch.Session, error) {
	name := session{agent, id}
	if v := t.own("session", name.String()); v != nil {
		s := new(gatelatch.Session)
		return s, v.decode(&s.Version, s)
	}
	s, err := t.reader.Session(agent, id)
	if err == nil {
		if t.relies == nil {
			t.relies = map[session]bool{}
		}
		t.relies[name] = true
	}
	return s, err
}

// SaveGrant implements gatelatch.Tx.
func (t *tx) SaveGrant(g *gatelatch.Grant) error {
	return t.save(kept{
		put: putGrant, set: setGrant, id: g.ID, keys: []any{raw(g.ID)}, version: g.Version, value: g,
		more: []any{g.Revoked.IsZero()}, new: []any{g.At.UnixMicro()},
	})
}

// Grant implements gatelatch.Reader.
func (t *tx) Grant(id string) (*gatelatch.Grant, error) {
	if v := t.own("grants", id); v != nil {
		g := new(gatelatch.Grant)
		return g, v.decode(&g.Version, g)
	}
	return t.reader.Grant(id)
}

// SaveWork implements gatelatch.Tx.
func (t *tx) SaveWork(w *gatelatch.Work) error {
	if w.Done {
		if t.own("work", w.ID) != nil {
			if err := t.settle("work"); err != nil {
				return err
			}
		}
		t.put(write{kind: delWork, id: w.ID, args: []any{raw(w.ID), w.Version}})
		return nil
	}
	return t.save(kept{put: putWork, set: setWork, id: w.ID, keys: []any{raw(w.ID)}, version: w.Version, value: w, new: []any{w.At.UnixMicro()}})
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	return t.save(kept{put: putKey, set: setKey, id: k.ID, keys: []any{raw(k.ID)}, version: k.Version, value: k, more: []any{k.Hash[:]}})
}

// Key implements gatelatch.Reader.
func (t *tx) Key(id string) (*gatelatch.Key, error) {
	if v := t.own("key", id); v != nil {
		k := new(gatelatch.Key)
		return k, v.decode(&k.Version, k)
	}
	return t.reader.Key(id)
}

// AddRevision implements gatelatch.Tx.
func (t *tx) AddRevision(r *gatelatch.Revision) error {
	return t.save(kept{put: putRevision, id: strconv.FormatInt(r.Number, 10), keys: []any{r.Number}, value: r})
}

// SaveControl implements gatelatch.Tx.
func (t *tx) SaveControl(c gatelatch.Control) error {
	if err := t.c.start(); err != nil {
		return err
	}
	err := t.save(kept{put: setControl, set: setControl, id: "1", keys: []any{int64(1)}, version: c.Version, value: c})
	if err == nil {
		t.control, t.c.control = c.Version+1, *t.own("control", "1")
	}
	return err
}

// Control implements gatelatch.Reader. What a change does by it holds only if
// it is as it was when the transaction ends.
func (t *tx) Control() (gatelatch.Control, error) {
	c, err := t.reader.Control()
	if err == nil {
		t.control = c.Version
	}
	return c, err
}
