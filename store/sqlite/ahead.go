package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gatelatch/gatelatch/internal/redo"
)

// What the writer accepted is durable as soon as the redo log has it. The tables
// follow, beside the writer: many changes share a transaction, which is committed
// after a moment, or when anybody wants to read. A group that has to look into
// the tables is inside: it has them for itself, up to date.
const (
	mostAhead  = 1024 // changes
	mostLag    = 20 * time.Millisecond
	mostRecord = 512 << 10
)

// A change is a record of the log that no commit of the tables covers yet.
type change struct {
	seq  redo.Seq
	todo []statement
	done bool // in the tables' open transaction; belongs to who has the tables
}

// begin brings the tables' transaction up to date, and returns what that is.
func (s *Store) begin() ([]*change, error) {
	if !s.began {
		if err := s.writes.do("BEGIN IMMEDIATE"); err != nil {
			return nil, err
		}
		s.began = true
	}
	all := s.queue()
	if err := s.carryOut(all); err != nil {
		s.undo()
		return nil, err
	}
	return all, nil
}

// queue returns what is ahead now.
func (s *Store) queue() []*change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ahead
}

// carryOut does what changes say, unless it is done.
func (s *Store) carryOut(all []*change) error {
	g := gathering{run: s.inTurn, kinds: s.kinds}
	defer g.forget()
	for _, c := range all {
		for i := 0; i < len(c.todo) && !c.done; i++ {
			if err := g.add(c.todo[i]); err != nil {
				return err
			}
		}
		c.done = true
	}
	return g.flush()
}

// inTurn is promised, and as long as nobody waits for the tables, whoever waits
// for a processor goes first: it may be the writer, back from the disk.
func (s *Store) inTurn(st statement) error {
	err := s.writes.promised(st)
	if s.wanted.Load() == 0 {
		giveWay()
	}
	return err
}

// undo takes back whatever was not committed. What is ahead is carried out again
// when the next transaction begins. SQLite may have left this one by itself.
func (s *Store) undo() {
	_ = s.writes.do("ROLLBACK")
	s.began = false
	for _, c := range s.queue() {
		c.done = false
	}
}

// enter takes the tables for the group at hand, with what it wrote so far.
func (s *Store) enter(t *tx) error {
	if s.inside {
		return s.hurt
	}
	s.take()
	s.inside = true
	_, s.hurt = s.begin()
	for _, st := range t.issued {
		if s.hurt == nil {
			s.hurt = s.writes.promised(st)
		}
	}
	return s.hurt
}

// leave gives them back.
func (s *Store) leave() {
	s.writes.enter = nil
	if s.inside {
		s.inside, s.hurt = false, nil
		s.give()
	}
}

// endure makes what a group wrote durable.
func (s *Store) endure(all *tx) error {
	if s.opt.fault != nil {
		if err := s.opt.fault(); err != nil {
			return err
		}
	}
	if all.vast() {
		return s.settleNow()
	}
	record, err := encode(s.record[:0], all.issued)
	if err == nil {
		err, s.record = s.redo.Append(record), record
	}
	switch {
	case errors.Is(err, redo.ErrFull) || errors.Is(err, redo.ErrLarge):
		if err := s.enter(all); err != nil {
			return err
		}
		return s.settleNow()
	case err != nil:
		return err
	}
	if n := s.push(&change{seq: s.redo.Last(), todo: all.issued, done: s.inside}); n >= mostAhead && !s.inside {
		_ = s.settle() // or whoever reads next hears why
	}
	return nil
}

// push adds a change that is durable, and returns how many there are.
func (s *Store) push(c *change) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = append(s.ahead, c)
	s.behind.Store(true)
	if len(s.ahead) == 1 {
		s.lag.Reset(mostLag)
	}
	return len(s.ahead)
}

// pop drops changes that are committed.
func (s *Store) pop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = s.ahead[n:]
	s.behind.Store(len(s.ahead) > 0)
	if len(s.ahead) > 0 {
		s.lag.Reset(mostLag)
	}
}

// settle commits what is ahead to the tables: whoever reads now sees it.
func (s *Store) settle() error {
	s.take()
	defer s.give()
	return s.settleInside()
}

// follow is settle for nobody in particular.
func (s *Store) follow() {
	s.tables.Lock()
	defer s.tables.Unlock()
	_ = s.settleInside() // or whoever reads next hears why
}

// take waits for the tables, and has them until give.
func (s *Store) take() {
	s.wanted.Add(1)
	s.tables.Lock()
}

func (s *Store) give() {
	s.tables.Unlock()
	s.wanted.Add(-1)
}

func (s *Store) settleInside() error {
	if !s.began && len(s.queue()) == 0 {
		return nil
	}
	all, err := s.begin()
	var last redo.Seq
	if err == nil && len(all) > 0 {
		last = all[len(all)-1].seq
		_, err = s.writes.exec(statement{text: `UPDATE redo SET seq=?`, args: []any{int64(last)}})
	}
	if err == nil {
		err = s.writes.do("COMMIT")
	}
	if err != nil {
		s.undo()
		if lost(err) {
			s.opt.Fatal(err)
		}
		return explain(err)
	}
	s.began = false
	s.pop(len(all))
	startWriting(s.wal)
	if s.redo != nil && s.redo.Wants() && s.syncing.TryLock() {
		s.after.Go(func() {
			defer s.syncing.Unlock()
			stepBack()
			s.keep(last)
		})
	}
	return nil
}

// keep makes commits of the tables durable without the log, up to a record,
// and moves them to where they belong, which the writer would have to wait for
// else.
func (s *Store) keep(seq redo.Seq) {
	if err := s.wal.Sync(); err != nil {
		s.opt.Fatal(err)
		return
	}
	s.redo.Keep(seq)
	_ = s.tidies.do("PRAGMA wal_checkpoint(PASSIVE)")
}

// settleNow is how a group inside becomes durable without a record.
func (s *Store) settleNow() error {
	if err := s.settleInside(); err != nil {
		return err
	}
	if err := s.wal.Sync(); err != nil {
		return fmt.Errorf("%w: %w", redo.ErrSync, err)
	}
	s.redo.Keep(s.redo.Last())
	return nil
}

// recover carries out what the redo log says and the tables lack, and goes on
// with it.
func (s *Store) recover() error {
	s.take()
	defer s.give()
	id, last, err := logOf(s.writes)
	if err != nil {
		return err
	}
	var senseless error
	if err := redo.Read(s.path, id, last, func(seq redo.Seq, record []byte) {
		todo, err := decode(record)
		senseless = errors.Join(senseless, err)
		s.ahead = append(s.ahead, &change{seq: seq, todo: todo})
		last = seq
	}); err != nil {
		return fmt.Errorf("%w; restore a backup, or remove %s if you put an older database there yourself", err, s.path+"-redo*")
	}
	if senseless != nil {
		return senseless
	}
	if err := s.settleInside(); err != nil {
		return err
	}
	if err := s.wal.Sync(); err != nil {
		return err
	}
	if s.redo, err = redo.Open(s.path, id, last); err != nil {
		return err
	}
	return syncDir(filepath.Dir(s.path))
}

// logOf returns which log belongs to the tables, and how much of it they have.
func logOf(c *connection) (redo.ID, redo.Seq, error) {
	var id []byte
	var seq int64
	err := c.row(`SELECT id, seq FROM redo`).scan(&id, &seq)
	if err == nil && len(id) != len(redo.ID{}) {
		err = errRecord
	}
	if err != nil {
		return redo.ID{}, 0, err
	}
	return redo.ID(id), redo.Seq(seq), nil
}
