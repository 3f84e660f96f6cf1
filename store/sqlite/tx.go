package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

// tx writes within the writer's transaction.
type tx struct {
	reader
	store    *Store
	head     storage.Head
	events   []gatelatch.Event // that were recorded and not yet written
	touched  []string          // batches
	saved    []storage.Saved
	recent   *recent
	sessions [][2]string        // that were saved
	gone     []string           // batches that were forgotten
	control  *gatelatch.Control // as it is now, once it was read
	keyed    bool               // a key was saved
	issued   []statement        // that changed something, or will
	bytes    int                // of those
	changed  bool
	left     bool  // a job was refused, and what it wrote is still there
	torn     error // a save stopped half way: the job must not go through
	broken   error // a statement failed: SQLite may have left the transaction
}

var _ gatelatch.Tx = (*tx)(nil)

// run writes and expects one row: none means that somebody else was there.
func (t *tx) run(query string, args ...any) error {
	n, err := t.put(query, args...)
	if err == nil && n == 0 {
		return gatelatch.ErrStale
	}
	return err
}

// put writes any number of rows.
func (t *tx) put(query string, args ...any) (int64, error) {
	return t.write(statement{text: query, args: args}, false)
}

// sure is run; if the caller knows that it changes its row, nobody looks.
func (t *tx) sure(known bool, query string, args ...any) error {
	if !known {
		return t.run(query, args...)
	}
	_, err := t.write(statement{text: query, args: args}, true)
	return err
}

// write runs a statement, or, if it can wait and the group is not inside, only
// notes it.
func (t *tx) write(st statement, canWait bool) (n int64, err error) {
	err = st.plain()
	switch {
	case err != nil:
	case !canWait:
		if err = t.store.enter(t); err == nil {
			n, err = t.c.exec(st)
		}
	case t.store.inside:
		n, err = 1, t.c.promised(st)
	default:
		n = 1
	}
	if err == nil && n > 0 {
		t.changed = true
		err = t.issue(st)
	}
	if err != nil {
		t.broken = err
	}
	return n, err
}

// issue notes a statement for the record, unless there will be none.
func (t *tx) issue(st statement) error {
	t.bytes += st.size()
	t.issued = append(t.issued, st)
	if !t.vast() {
		return nil
	}
	err := t.store.enter(t)
	t.issued = nil
	return err
}

// vast says that the group is too large for a record: it is committed at once.
func (t *tx) vast() bool { return t.bytes > mostRecord }

// SaveSession implements gatelatch.Tx.
func (t *tx) SaveSession(s *gatelatch.Session) error {
	key := [2]string{s.Agent, s.ID}
	delete(t.recent.sessions, key)
	t.sessions = append(t.sessions, key)
	body, sum, err := storage.Encode(s)
	switch {
	case err != nil:
		return err
	case s.Version == 0:
		if err := t.run(`INSERT INTO session (agent, id, version, since, body, sum) VALUES (?,?,1,?,?,?) ON CONFLICT DO NOTHING`, s.Agent, s.ID, s.Since.UnixMicro(), body, sum); err != nil {
			return err
		}
		return t.learn(key)
	}
	return t.run(`UPDATE session SET version=version+1, body=?, sum=? WHERE agent=? AND id=? AND version=?`, body, sum, s.Agent, s.ID, s.Version)
}

// learn notes a session that begins here, if nothing of it came before it.
func (t *tx) learn(session [2]string) error {
	var before bool
	err := t.c.row(`SELECT EXISTS (SELECT 1 FROM batch WHERE agent=? AND session=?)`, session[0], session[1]).scan(&before)
	if err == nil && !before {
		t.recent.names.begin(session)
	}
	return err
}

// SaveGrant implements gatelatch.Tx.
func (t *tx) SaveGrant(g *gatelatch.Grant) error {
	body, sum, err := storage.Encode(g)
	live := g.Revoked.IsZero()
	switch {
	case err != nil:
		return err
	case g.Version == 0:
		return t.run(`INSERT INTO grants (id, version, at, live, body, sum) VALUES (?,1,?,?,?,?) ON CONFLICT DO NOTHING`, g.ID, g.At.UnixMicro(), live, body, sum)
	}
	return t.run(`UPDATE grants SET version=version+1, live=?, body=?, sum=? WHERE id=? AND version=?`, live, body, sum, g.ID, g.Version)
}

// SaveWork implements gatelatch.Tx.
func (t *tx) SaveWork(w *gatelatch.Work) error {
	body, sum, err := storage.Encode(w)
	switch {
	case err != nil:
		return err
	case w.Done:
		return t.run(`DELETE FROM work WHERE id=? AND version=?`, w.ID, w.Version)
	case w.Version == 0:
		return t.run(`INSERT INTO work (id, version, at, body, sum) VALUES (?,1,?,?,?) ON CONFLICT DO NOTHING`, w.ID, w.At.UnixMicro(), body, sum)
	}
	return t.run(`UPDATE work SET version=version+1, body=?, sum=? WHERE id=? AND version=?`, body, sum, w.ID, w.Version)
}

// SaveKey implements gatelatch.Tx.
func (t *tx) SaveKey(k *gatelatch.Key) error {
	t.keyed = true
	body, sum, err := storage.Encode(k)
	switch {
	case err != nil:
		return err
	case k.Version == 0:
		return t.run(`INSERT INTO key (id, version, hash, body, sum) VALUES (?,1,?,?,?) ON CONFLICT DO NOTHING`, k.ID, k.Hash[:], body, sum)
	}
	return t.run(`UPDATE key SET version=version+1, hash=?, body=?, sum=? WHERE id=? AND version=?`, k.Hash[:], body, sum, k.ID, k.Version)
}

// SaveControl implements gatelatch.Tx.
func (t *tx) SaveControl(c gatelatch.Control) error {
	body, sum, err := storage.Encode(c)
	if err != nil {
		return err
	}
	if err := t.run(`UPDATE control SET version=version+1, body=?, sum=? WHERE version=?`, body, sum, c.Version); err != nil {
		return err
	}
	t.control = nil
	return nil
}

// AddRevision implements gatelatch.Tx.
func (t *tx) AddRevision(r *gatelatch.Revision) error {
	body, sum, err := storage.Encode(r)
	if err != nil {
		return err
	}
	return t.run(`INSERT INTO revision (number, body, sum) VALUES (?,?,?) ON CONFLICT DO NOTHING`, r.Number, body, sum)
}

// Control implements gatelatch.Reader. Nearly every job asks for it, and nobody
// else writes meanwhile.
func (t *tx) Control() (gatelatch.Control, error) {
	if t.control == nil {
		c, err := t.reader.Control()
		if err != nil {
			return c, err
		}
		t.control = &c
	}
	return *t.control, nil
}

// Record implements gatelatch.Tx.
func (t *tx) Record(e gatelatch.Event) error {
	t.record([]gatelatch.Event{e})
	return nil
}

// record appends events to the trail. They are written at the end, those of all
// jobs together: that costs half.
func (t *tx) record(events []gatelatch.Event) {
	for _, e := range events {
		t.head.Take(&e)
		t.events = append(t.events, e)
	}
}

// writeEvents writes what was recorded.
func (t *tx) writeEvents() error {
	for some := range slices.Chunk(t.events, len(insertEvents)) {
		if err := t.putEvents(some); err != nil {
			return err
		}
	}
	t.events = nil
	return nil
}

// Events implements gatelatch.Reader.
func (t *tx) Events(after gatelatch.Seq, limit int) ([]gatelatch.Event, error) {
	if err := t.writeEvents(); err != nil {
		return nil, err
	}
	return t.reader.Events(after, limit)
}

// LastSeq implements gatelatch.Reader.
func (t *tx) LastSeq() (gatelatch.Seq, error) {
	if err := t.writeEvents(); err != nil {
		return 0, err
	}
	return t.reader.LastSeq()
}

// insertEvents are the statements for one event, for two, and so on.
var insertEvents = func() (texts [32]string) {
	const row = "(?,?,?,?,?,?,?,?,?,?,?)"
	for i := range texts {
		texts[i] = `INSERT INTO event (seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link) VALUES ` + row + strings.Repeat(","+row, i)
	}
	return texts
}()

func (t *tx) putEvents(events []gatelatch.Event) error {
	args := make([]any, 0, 11*len(events))
	for i := range events {
		e := &events[i]
		args = append(args, int64(e.Seq), e.At.UnixMicro(), string(e.Kind), string(e.By.Kind), e.By.ID, e.By.Name, e.Batch, e.Call,
			[]byte(e.Body), e.Prev[:], e.Link[:])
	}
	if err := t.sure(true, insertEvents[len(events)-1], args...); err != nil {
		return fmt.Errorf("audit trail: %w", err)
	}
	return nil
}

// loadHead finds the end of the trail and checks its last link. The clock goes
// on from there.
func (s *Store) loadHead() error {
	r := &reader{c: s.writes}
	seq, err := r.LastSeq()
	if err != nil {
		return err
	}
	last, err := r.Events(seq-1, 2)
	if err != nil {
		return err
	}
	s.head, err = storage.HeadOf(last)
	s.clock.By(s.head.At)
	return err
}
