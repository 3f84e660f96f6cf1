package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

const (
	eventsAtOnce = 256
	tailBytes    = 1 << 20
)

// part is a piece of the trail as it goes over the wire.
type part struct {
	from    gatelatch.Seq // the events behind this one
	text    []byte
	marks   []mark
	revoked gatelatch.Seq // the last time that any key was, or got another secret
}

// mark is where an event ends in the text.
type mark struct {
	seq gatelatch.Seq
	end int
}

func (p *part) add(es []gatelatch.Event) error {
	for _, e := range es {
		raw, err := strictjson.Marshal(api.FromEvent(e))
		if err != nil {
			return err
		}
		p.text = fmt.Appendf(p.text, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, raw)
		p.marks = append(p.marks, mark{e.Seq, len(p.text)})
		if e.Kind == gatelatch.KeyRevoked || e.Kind == gatelatch.KeyRotated {
			p.revoked = e.Seq
		}
	}
	return nil
}

// upto is the last event of the part.
func (p *part) upto() gatelatch.Seq {
	if len(p.marks) == 0 {
		return p.from
	}
	return p.marks[len(p.marks)-1].seq
}

// behind is the rest of the part, for who has what is up to after.
func (p *part) behind(after gatelatch.Seq) part {
	i, _ := slices.BinarySearchFunc(p.marks, after+1, func(m mark, seq gatelatch.Seq) int { return cmp.Compare(m.seq, seq) })
	q := part{from: after, text: p.text, marks: p.marks[i:], revoked: p.revoked}
	if i > 0 {
		q.text = p.text[p.marks[i-1].end:]
	}
	return q
}

// halve forgets the older half. Whoever sends it still has the text.
func (p *part) halve() {
	last := p.marks[len(p.marks)/2]
	rest := p.marks[len(p.marks)/2+1:]
	q := part{from: last.seq, text: slices.Clone(p.text[last.end:]), marks: make([]mark, len(rest)), revoked: p.revoked}
	for i, m := range rest {
		q.marks[i] = mark{m.seq, m.end - last.end}
	}
	*p = q
}

// tail is the newest part of the trail, read and written once for all who
// follow it. It grows while there is somebody.
type tail struct {
	mu     sync.RWMutex
	all    map[*parked]struct{}
	stop   context.CancelFunc
	newest part
	failed error
	// oldies has one token: who is far behind reads the store alone. A crowd of
	// them would hold every reader, and decisions would wait.
	oldies chan struct{}
}

// join adds who wants to be rung when there is more than the events up to now.
func (t *tail) join(ctx context.Context, p *parked, seat *gatelatch.Seat, now gatelatch.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.all) == 0 {
		ctx, t.stop = context.WithCancel(ctx)
		t.all, t.newest, t.failed = map[*parked]struct{}{}, part{from: now}, nil
		go t.follow(ctx, seat, now)
	}
	t.all[p] = struct{}{}
}

func (t *tail) leave(p *parked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.all, p); len(t.all) == 0 {
		t.stop()
	}
}

// follow reads for everybody, as any of those who may.
func (t *tail) follow(ctx context.Context, seat *gatelatch.Seat, after gatelatch.Seq) {
	for {
		es, err := seat.Follow(ctx, after, eventsAtOnce)
		if err = t.grow(ctx, es, err); err != nil {
			return
		}
		after = es[len(es)-1].Seq
	}
}

func (t *tail) grow(ctx context.Context, es []gatelatch.Event, err error) error {
	defer t.ring()
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil { // perhaps a new tail has begun
		return ctx.Err()
	}
	if err == nil {
		err = t.newest.add(es)
	}
	if len(t.newest.text) > tailBytes {
		t.newest.halve()
	}
	t.failed = err
	return err
}

func (t *tail) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.all)
}

func (t *tail) ring() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for p := range t.all {
		p.ring()
	}
}

// older reads what the tail has no longer.
func (t *tail) older(ctx context.Context, seat *gatelatch.Seat, after gatelatch.Seq) (more part, err error) {
	select {
	case t.oldies <- struct{}{}:
		defer func() { <-t.oldies }()
	case <-ctx.Done():
		return more, ctx.Err()
	}
	es, err := seat.Events(ctx, after, eventsAtOnce)
	if err == nil {
		more.from = after
		err = more.add(es)
	}
	return more, err
}

// behind returns the tail behind an event, or false where it does not reach
// back so far.
func (t *tail) behind(after gatelatch.Seq) (more part, ok bool, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.newest.behind(after), after >= t.newest.from, t.failed
}
