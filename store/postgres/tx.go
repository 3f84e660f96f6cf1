package postgres

import (
	"errors"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// tx writes within the writer's transaction. Inputs, results and events wait
// for its end: two gateways that insert the same inputs in another order would
// otherwise wait for each other. So does what is deleted because nobody needs
// it any more: only at the end is it certain that nobody does.
type tx struct {
	reader
	alone   bool // may wait for rows that another gateway holds
	events  []gatelatch.Event
	touched []string // batches
	saved   []storage.Saved
	changed bool
	stale   bool  // a save found another version
	control int64 // version of the control row that was seen; 0 is none

	sessions map[session]bool // that were read, and that new batches rely on
	idle     unneeded
}

// session names one.
type session struct{ agent, id string }

// unneeded is what to delete if nobody needs it any more.
type unneeded struct {
	inputs, results [][]byte
	sessions        []session
}

var _ gatelatch.Tx = (*tx)(nil)

// errMoved means that another gateway changed the control row, or deleted a
// session, after this transaction looked at it: everything in it has to look
// again.
var errMoved = errors.New("changed by another gateway meanwhile")

// run writes and expects a count of one: none means that somebody else was there.
func (t *tx) run(query string, args ...any) error {
	var n int
	if err := t.c.row(query, args...).scan(&n); err != nil {
		return err
	}
	if n == 0 {
		t.stale = true
		return gatelatch.ErrStale
	}
	t.changed = true
	return nil
}

// update is run with a row held: "held" selects it with its version. In a group
// a row that another gateway holds is stale at once; waiting for it with rows
// of others in hand could be a deadlock.
func (t *tx) update(held, then string, args ...any) error {
	lock := " FOR NO KEY UPDATE SKIP LOCKED"
	if t.alone {
		lock = " FOR NO KEY UPDATE"
	}
	return t.run(`WITH held AS (`+held+lock+`), `+then, args...)
}

// Session implements gatelatch.Reader. Another gateway may forget the last
// batch of the session, and the session with it, before this one has added its
// own: then everything looks again.
func (t *tx) Session(agent, id string) (*gatelatch.Session, error) {
	s, err := t.reader.Session(agent, id)
	if err == nil {
		t.rely(session{agent, id})
	}
	return s, err
}

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	body, sum, err := storage.Encode(s)
	switch {
	case err != nil:
		return err
	case s.Version == 0:
		return t.run(`WITH s AS (INSERT INTO session (agent, id, version, body, sum) VALUES ($1,$2,1,$3,$4) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM s`, raw(s.Agent), raw(s.ID), body, sum)
	}
	return t.update(`SELECT agent, id FROM session WHERE agent=$1 AND id=$2 AND version=$3`,
		`s AS (UPDATE session SET version=version+1, body=$4, sum=$5 FROM held WHERE session.agent=held.agent AND session.id=held.id RETURNING 1)
		SELECT count(*) FROM s`, raw(s.Agent), raw(s.ID), s.Version, body, sum)
}

// SaveGrant implements gatelatch.Tx.
func (t *tx) SaveGrant(g *gatelatch.Grant) error {
	body, sum, err := storage.Encode(g)
	live := g.Revoked.IsZero()
	switch {
	case err != nil:
		return err
	case g.Version == 0:
		return t.run(`WITH g AS (INSERT INTO grants (id, version, at, live, body, sum) VALUES ($1,1,$2,$3,$4,$5) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM g`, raw(g.ID), g.At.UnixMicro(), live, body, sum)
	}
	return t.update(`SELECT id FROM grants WHERE id=$1 AND version=$2`,
		`g AS (UPDATE grants SET version=version+1, live=$3, body=$4, sum=$5 FROM held WHERE grants.id=held.id RETURNING 1)
		SELECT count(*) FROM g`, raw(g.ID), g.Version, live, body, sum)
}

// SaveWork implements gatelatch.Tx.
func (t *tx) SaveWork(w *gatelatch.Work) error {
	body, sum, err := storage.Encode(w)
	const held = `SELECT id FROM work WHERE id=$1 AND version=$2`
	switch {
	case err != nil:
		return err
	case w.Done:
		return t.update(held, `w AS (DELETE FROM work USING held WHERE work.id=held.id RETURNING 1) SELECT count(*) FROM w`, raw(w.ID), w.Version)
	case w.Version == 0:
		return t.run(`WITH w AS (INSERT INTO work (id, version, at, body, sum) VALUES ($1,1,$2,$3,$4) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM w`, raw(w.ID), w.At.UnixMicro(), body, sum)
	}
	return t.update(held, `w AS (UPDATE work SET version=version+1, body=$3, sum=$4 FROM held WHERE work.id=held.id RETURNING 1)
		SELECT count(*) FROM w`, raw(w.ID), w.Version, body, sum)
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	body, sum, err := storage.Encode(k)
	switch {
	case err != nil:
		return err
	case k.Version == 0:
		return t.run(`WITH k AS (INSERT INTO key (id, version, hash, body, sum) VALUES ($1,1,$2,$3,$4) ON CONFLICT DO NOTHING RETURNING 1)
			SELECT count(*) FROM k`, raw(k.ID), k.Hash[:], body, sum)
	}
	return t.update(`SELECT id FROM key WHERE id=$1 AND version=$2`,
		`k AS (UPDATE key SET version=version+1, hash=$3, body=$4, sum=$5 FROM held WHERE key.id=held.id RETURNING 1)
		SELECT count(*) FROM k`, raw(k.ID), k.Version, k.Hash[:], body, sum)
}

// SaveControl implements gatelatch.Tx.
func (t *tx) SaveControl(c gatelatch.Control) error {
	body, sum, err := storage.Encode(c)
	if err != nil {
		return err
	}
	err = t.update(`SELECT one FROM control WHERE version=$1`,
		`c AS (UPDATE control SET version=version+1, body=$2, sum=$3 FROM held WHERE control.one=held.one RETURNING 1)
		SELECT count(*) FROM c`, c.Version, body, sum)
	if err != nil {
		return err
	}
	return t.sawControl(c.Version, c.Version+1)
}

// Control implements gatelatch.Reader. What a transaction does by it holds only
// if it is as it was when the transaction ends.
func (t *tx) Control() (gatelatch.Control, error) {
	c, err := t.reader.Control()
	if err == nil {
		err = t.sawControl(c.Version, c.Version)
	}
	return c, err
}

// sawControl notes the version to find at the end. It is what this transaction
// saw before, unless another gateway came between.
func (t *tx) sawControl(found, left int64) error {
	if t.control != 0 && t.control != found {
		return t.c.note(errMoved)
	}
	t.control = left
	return nil
}
