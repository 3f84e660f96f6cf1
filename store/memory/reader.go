package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/storage"
)

type reader struct {
	*data
	at time.Time
}

var _ gatelatch.Reader = (*reader)(nil)

func missing(what string) error { return fmt.Errorf("%s: %w", what, gatelatch.ErrNotFound) }

// get returns a copy of a row.
func get[K comparable, V any](m map[K]V, k K, what string) (*V, error) {
	v, ok := m[k]
	if !ok {
		return nil, missing(what)
	}
	return &v, nil
}

// Now implements gatelatch.Reader.
func (r *reader) Now() time.Time { return r.at }

// Batch implements gatelatch.Reader.
func (r *reader) Batch(id string) (*gatelatch.Batch, error) {
	kept, ok := r.batches[id]
	if !ok {
		return nil, missing("batch")
	}
	b := clone(kept.batch)
	for _, c := range b.Calls {
		if c.Input = slices.Clone(r.bytes[c.InputSum]); gatelatch.SumOf(c.Input) != c.InputSum {
			return nil, errors.New("an input does not match its hash")
		}
	}
	return b, nil
}

// BatchOfCall implements gatelatch.Reader.
func (r *reader) BatchOfCall(callID string) (*gatelatch.Batch, error) {
	return r.Batch(r.calls[callID])
}

// BatchOfMessage implements gatelatch.Reader.
func (r *reader) BatchOfMessage(agent, session, message string) (*gatelatch.Batch, error) {
	return r.Batch(r.messages[[3]string{agent, session, message}])
}

// BatchOfRef implements gatelatch.Reader.
func (r *reader) BatchOfRef(agent, session, ref string) (*gatelatch.Batch, error) {
	return r.Batch(r.refs[[3]string{agent, session, ref}])
}

// BatchOfPair implements gatelatch.Reader. What holder claimed comes first.
func (r *reader) BatchOfPair(agent string, pair gatelatch.Sum, holder string) (*gatelatch.Batch, error) {
	found := r.ids(func(x row) bool {
		b := x.batch
		return pair != gatelatch.Sum{} && b.Pair == pair && b.Agent == agent && !x.index.Opened && !b.Gone() && (b.Claimed == "" || b.Claimed == holder)
	}, func(a, b row) int {
		return cmp.Or(strings.Compare(b.batch.Claimed, a.batch.Claimed), a.batch.Created.Compare(b.batch.Created))
	})
	if len(found) == 0 {
		return nil, missing("batch")
	}
	return r.Batch(found[0])
}

// ids returns the batches that keep wants, in order; among equals, by id.
func (r *reader) ids(keep func(row) bool, order func(a, b row) int) (out []string) {
	for id, x := range r.batches {
		if keep(x) {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(order(r.batches[a], r.batches[b]), strings.Compare(a, b)) })
	return out
}

func first[T any](of []T, limit int) []T { return of[:min(len(of), limit)] }

// Due implements gatelatch.Reader.
func (r *reader) Due(t time.Time, limit int) (batches []string, next time.Time, err error) {
	all := r.ids(func(x row) bool { return !x.index.Due.IsZero() }, func(a, b row) int { return a.index.Due.Compare(b.index.Due) })
	for i, id := range all {
		if due := r.batches[id].index.Due; due.After(t) {
			return first(all[:i], limit), due, nil
		}
	}
	return first(all, limit), time.Time{}, nil
}

// Permits implements gatelatch.Reader.
func (r *reader) Permits(after string, limit int) ([]string, error) {
	all := r.ids(func(x row) bool { return x.index.Permits && x.batch.ID > after }, func(row, row) int { return 0 })
	return first(all, limit), nil
}

// Live implements gatelatch.Reader.
func (r *reader) Live(agent, session string, limit int) ([]string, error) {
	all := r.ids(func(x row) bool { return x.batch.Agent == agent && x.batch.Session == session && x.index.Over.IsZero() }, func(row, row) int { return 0 })
	return first(all, limit), nil
}

// Waiting implements gatelatch.Reader.
func (r *reader) Waiting(agent, session string, most int) (n int, err error) {
	for _, x := range r.batches {
		for _, c := range x.batch.Calls {
			if x.batch.Agent == agent && (session == "" || x.batch.Session == session) && c.State == gatelatch.Pending && n < most {
				n++
			}
		}
	}
	return n, nil
}

// Over implements gatelatch.Reader.
func (r *reader) Over(t time.Time, limit int) ([]string, error) {
	all := r.ids(func(x row) bool { return !x.index.Over.IsZero() && x.index.Over.Before(t) },
		func(a, b row) int { return a.index.Over.Compare(b.index.Over) })
	return first(all, limit), nil
}

// Result implements gatelatch.Reader.
func (r *reader) Result(sum gatelatch.Sum) ([]byte, error) {
	raw, ok := r.bytes[sum]
	switch {
	case !ok:
		return nil, missing("result")
	case gatelatch.SumOf(raw) != sum:
		return nil, errors.New("a result does not match its hash")
	}
	return slices.Clone(raw), nil
}

// Events implements gatelatch.Reader.
func (r *reader) Events(after gatelatch.Seq, limit int) ([]gatelatch.Event, error) {
	limit = storage.Limit(limit, 1000, 1000)
	if after = max(after, 0); int(after) >= len(r.events) {
		return nil, nil
	}
	out := slices.Clone(first(r.events[after:], limit))
	for i := range out {
		out[i].Body = slices.Clone(out[i].Body)
	}
	return out, nil
}

// LastSeq implements gatelatch.Reader.
func (r *reader) LastSeq() (gatelatch.Seq, error) { return r.head.Seq, nil }

// Session implements gatelatch.Reader.
func (r *reader) Session(agent, id string) (*gatelatch.Session, error) {
	s, err := get(r.sessions, [2]string{agent, id}, "session")
	if err != nil {
		return nil, err
	}
	return cloneSession(*s), nil
}

// Grant implements gatelatch.Reader.
func (r *reader) Grant(id string) (*gatelatch.Grant, error) {
	g, err := get(r.grants, id, "grant")
	if err != nil {
		return nil, err
	}
	return cloneGrant(*g), nil
}

// Grants implements gatelatch.Reader.
func (r *reader) Grants(live bool, limit int) (out []*gatelatch.Grant, err error) {
	for _, g := range r.grants {
		if !live || g.Revoked.IsZero() {
			out = append(out, cloneGrant(g))
		}
	}
	slices.SortFunc(out, func(a, b *gatelatch.Grant) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) })
	return first(out, storage.Limit(limit, 1000, 1000)), nil
}

// Sessions implements gatelatch.Reader.
func (r *reader) Sessions(limit int) (out []*gatelatch.Session, err error) {
	for _, s := range r.sessions {
		out = append(out, cloneSession(s))
	}
	slices.SortFunc(out, func(a, b *gatelatch.Session) int {
		return cmp.Or(b.Since.Compare(a.Since), strings.Compare(b.Agent, a.Agent), strings.Compare(b.ID, a.ID))
	})
	return first(out, storage.Limit(limit, 100, 1000)), nil
}

// Revision implements gatelatch.Reader.
func (r *reader) Revision(number int64) (*gatelatch.Revision, error) {
	return get(r.policies, number, "revision")
}

// Works implements gatelatch.Reader.
func (r *reader) Works(limit int) (out []*gatelatch.Work, err error) {
	for _, w := range r.works {
		out = append(out, &w)
	}
	slices.SortFunc(out, func(a, b *gatelatch.Work) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	return first(out, storage.Limit(limit, 1000, 1000)), nil
}

// Key implements gatelatch.Reader.
func (r *reader) Key(id string) (*gatelatch.Key, error) {
	k, err := get(r.keys, id, "key")
	if err != nil {
		return nil, err
	}
	return cloneKey(*k), nil
}

// KeyByHash implements gatelatch.Reader.
func (r *reader) KeyByHash(h gatelatch.Sum) (*gatelatch.Key, error) { return r.Key(r.hashes[h]) }

// Keys implements gatelatch.Reader.
func (r *reader) Keys(after string, limit int) (out []*gatelatch.Key, err error) {
	for id, k := range r.keys {
		if id > after {
			out = append(out, &k)
		}
	}
	slices.SortFunc(out, func(a, b *gatelatch.Key) int { return strings.Compare(a.ID, b.ID) })
	return first(out, storage.Limit(limit, 1000, 1000)), nil
}

// Control implements gatelatch.Reader.
func (r *reader) Control() (gatelatch.Control, error) { return *cloneControl(r.control), nil }
