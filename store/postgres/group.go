package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// group is sets in one transaction. It commits all of them, or none if some
// lost.
type group struct {
	s     *Store
	c     *connection
	sets  []*set
	apart bool // each row in a statement of its own, to see whose is wrong
	wait  bool // for rows that another gateway holds

	lost map[*set]error
	head storage.Head
}

// errSomebody means that something is wrong with rows that were sent together.
var errSomebody = errors.New("somebody in the group is refused")

func (g *group) run() error {
	if err := g.write(); err != nil || len(g.lost) > 0 {
		return g.s.rollback(err)
	}
	events, err := g.seal()
	if err == nil {
		err = g.s.end()
	}
	if err != nil {
		return g.s.rollback(err)
	}
	var touched []string
	for _, w := range g.sets {
		storage.Tell(w.saved)
		touched = append(touched, w.touched...)
	}
	g.s.tellOwn(gatelatch.Change{Seq: g.head.Seq, Batches: touched}, events)
	return nil
}

// write sends all rows and waits for the end of the trail, in one round trip.
func (g *group) write() error {
	if g.meet(); len(g.lost) > 0 {
		return nil
	}
	b := new(pgx.Batch)
	if !g.c.begun {
		b.Queue(g.c.how)
		g.c.begun = true
	}
	rows := g.queueRows(b)
	moved := g.queueLock(b)
	if err := rows.outcome(g.c.send(b)); err != nil || len(g.lost) > 0 {
		return err
	}
	return moved()
}

// meet finds sets that write a row which another in the group writes: one of
// them has to look again.
func (g *group) meet() {
	taken := map[place]bool{}
	for _, w := range g.sets {
		for at := range w.mine {
			if taken[at] {
				g.lose(w, gatelatch.ErrStale)
			}
			taken[at] = true
		}
	}
}

func (g *group) lose(w *set, err error) {
	if g.lost == nil {
		g.lost = map[*set]error{}
	}
	if g.lost[w] == nil {
		g.lost[w] = raceError{err}
	}
}

// sending is the statements that write rows.
type sending struct {
	g      *group
	owners []*set // of each statement; nil is several
	done   int
	stale  bool // some of several
}

// queueRows sends what each set noted, all gateways in one order.
func (g *group) queueRows(b *pgx.Batch) *sending {
	type owned struct {
		write
		set *set
	}
	of := map[*kind][]owned{}
	for _, w := range g.sets {
		for _, r := range w.rows {
			of[r.kind] = append(of[r.kind], owned{r, w})
		}
	}
	out := &sending{g: g}
	for _, k := range kinds {
		rows := of[k]
		slices.SortFunc(rows, func(a, b owned) int { return cmp.Compare(a.id, b.id) })
		query := k.query
		if g.wait {
			query = strings.Replace(query, skip, "", 1)
		}
		var together []write
		for _, r := range rows {
			if g.apart {
				out.queue(b, k, query, []write{r.write}, r.set)
			}
			together = append(together, r.write)
		}
		if !g.apart {
			out.queue(b, k, query, together, nil)
		}
	}
	return out
}

func (s *sending) queue(b *pgx.Batch, k *kind, query string, rows []write, owner *set) {
	if len(s.g.sets) == 1 {
		owner = s.g.sets[0]
	}
	before := b.Len()
	k.queue(b, query, rows, func(wrote, of int) {
		s.done++
		switch {
		case wrote == of:
		case owner == nil:
			s.stale = true
		default:
			s.g.lose(owner, gatelatch.ErrStale)
		}
	})
	for range b.Len() - before {
		s.owners = append(s.owners, owner)
	}
}

// outcome finds whose rows were wrong. err is what the statements ended with.
func (s *sending) outcome(err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil && s.stale:
		return errSomebody
	case err == nil, s.done == len(s.owners), !errors.As(err, &said), collided(err), s.g.c.lost():
		return err
	case s.owners[s.done] == nil:
		return errSomebody
	case said.Code == taken:
		s.g.lose(s.owners[s.done], fmt.Errorf("%w: %w", gatelatch.ErrStale, err))
	default:
		s.g.refuse(s.owners[s.done], err)
	}
	return nil
}

func (g *group) refuse(w *set, err error) {
	if g.lost == nil {
		g.lost = map[*set]error{}
	}
	g.lost[w] = explain(err)
}

// sendRows sends the rows of one set by themselves.
func sendRows(c *connection, w *set) error {
	g := &group{c: c, sets: []*set{w}, wait: true}
	b := new(pgx.Batch)
	rows := g.queueRows(b)
	if b.Len() == 0 {
		return nil
	}
	return cmp.Or(rows.outcome(c.send(b)), g.lost[w])
}
