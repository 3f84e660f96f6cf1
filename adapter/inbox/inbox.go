// Package inbox is what clients of people have in common, whatever they speak:
// they hear of each call that waits, once, and decide on what they were shown.
package inbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

const (
	page   = 100
	events = 256
)

// An Item is a call as one client was shown it. What was edited has a name of
// its own, so that a decision that crosses the edit is not about it.
type Item struct {
	gatelatch.Listed
	Name string
}

func itemOf(l gatelatch.Listed) Item {
	if l.Edited == nil {
		return Item{l, l.ID}
	}
	return Item{l, l.ID + "." + l.Digest.String()[:16]}
}

// Like is what a client says of a call that does not name it.
type Like struct {
	Kind          gatelatch.Kind
	Session, Tool string
}

// Like says what the item is, without its name.
func (i Item) Like() Like { return Like{i.Kind, i.Batch.Session, i.Tool} }

// replaced is the item as it was shown before an edit: it no longer waits.
func (i Item) replaced() Item {
	c := *i.Call
	c.State = gatelatch.Withdrawn
	i.Call = &c
	return i
}

// An Inbox is what one client was shown and nobody has settled yet.
type Inbox struct {
	seat *gatelatch.Seat

	mu    sync.Mutex
	shown map[string]Item // by call
	done  map[string]bool // that this client decided, and was not told of yet
	lost  map[Like]bool   // that others settled, and this client may be about to
}

// New returns the inbox of a person's client.
func New(seat *gatelatch.Seat) *Inbox {
	return &Inbox{seat: seat, shown: map[string]Item{}, done: map[string]bool{}, lost: map[Like]bool{}}
}

// Follow tells of each call that waits, those that already do first, anew if
// another edited it, and of each that no longer does. It returns nil with ctx, and
// an error when one of them fails.
func (in *Inbox) Follow(ctx context.Context, waits, settled func(Item) error) error {
	if err := in.follow(ctx, waits, settled); ctx.Err() == nil {
		return err
	}
	return nil
}

func (in *Inbox) follow(ctx context.Context, waits, settled func(Item) error) error {
	// The end of the trail first: what happens meanwhile is then behind it.
	st, err := in.seat.Status(ctx)
	if err != nil {
		return err
	}
	q := gatelatch.Query{Pending: true, Limit: page}
	for more := true; more; {
		p, err := in.seat.List(ctx, q)
		if err != nil {
			return err
		}
		for _, l := range p.Calls {
			if err := in.look(l, waits, settled); err != nil {
				return err
			}
			q.After = l.ID
		}
		more = p.More
	}
	for after := st.Seq; ; {
		es, err := in.seat.Follow(ctx, after, events)
		if err != nil {
			return err
		}
		for _, e := range es {
			after = e.Seq
			if err := in.heard(ctx, e, waits, settled); err != nil {
				return err
			}
		}
	}
}

func (in *Inbox) heard(ctx context.Context, e gatelatch.Event, waits, settled func(Item) error) error {
	switch e.Kind {
	case gatelatch.CallJudged, gatelatch.CallEdited, gatelatch.CallDecided, gatelatch.CallExpired, gatelatch.CallWithdrawn, gatelatch.CallRevoked:
	default:
		return nil
	}
	l, err := in.seat.Call(ctx, e.Call)
	switch {
	case errors.Is(err, gatelatch.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return in.look(l, waits, settled)
}

func (in *Inbox) look(l gatelatch.Listed, waits, settled func(Item) error) error {
	in.mu.Lock()
	old, known := in.shown[l.ID]
	now := itemOf(l)
	switch {
	case l.State != gatelatch.Pending:
		if known && !in.done[l.ID] {
			in.lost[now.Like()] = true
		}
		delete(in.shown, l.ID)
		delete(in.done, l.ID)
	case !known || old.Digest != l.Digest:
		in.shown[l.ID] = now
	}
	in.mu.Unlock()
	switch {
	case l.State == gatelatch.Pending && !known:
		return waits(now)
	case l.State == gatelatch.Pending && old.Digest != l.Digest:
		if err := settled(old.replaced()); err != nil {
			return err
		}
		return waits(now)
	case l.State != gatelatch.Pending && known:
		return settled(Item{l, old.Name})
	}
	return nil
}

// Shown returns a call by the name that the client knows. One that it was not
// shown so, or that is settled, is not found: never a success.
func (in *Inbox) Shown(name string) (Item, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	id, _, _ := strings.Cut(name, ".")
	i, ok := in.shown[id]
	if !ok || i.Name != name || in.done[id] {
		return Item{}, fmt.Errorf("nothing waits under this id: %w", gatelatch.ErrNotFound)
	}
	return i, nil
}

// All returns what waits, the oldest first.
func (in *Inbox) All() []Item {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.SortedFunc(maps.Values(in.shown), func(a, b Item) int {
		return cmp.Or(a.Batch.Created.Compare(b.Batch.Created), cmp.Compare(a.ID, b.ID))
	})
}

// Only returns the one call that fits, for a client that does not say which it
// means. With more than one, or none, or one that was edited, it is not found;
// nor, once, if others just settled one that fits.
func (in *Inbox) Only(fits func(Like) bool) (only Item, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	n, crossed := 0, false
	for _, i := range in.shown {
		if !in.done[i.ID] && fits(i.Like()) {
			only, n = i, n+1
		}
	}
	for l := range in.lost {
		if fits(l) {
			delete(in.lost, l)
			crossed = true
		}
	}
	if n != 1 || crossed || only.Name != only.ID {
		return Item{}, fmt.Errorf("%d calls wait that this could mean, or one was settled meanwhile; it needs the id of one: %w", n, gatelatch.ErrNotFound)
	}
	return only, nil
}

// Decide settles a call as it was shown. A client does that once.
func (in *Inbox) Decide(ctx context.Context, l Item, d gatelatch.Decision) error {
	d.Digest = l.Digest
	in.mu.Lock() // before anybody can hear of it
	if _, waits := in.shown[l.ID]; waits {
		in.done[l.ID] = true
	}
	in.mu.Unlock()
	_, err := in.seat.Decide(ctx, l.ID, d)
	if err != nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		delete(in.done, l.ID)
	}
	return err
}

// Edit replaces the input, and returns the call as it is then, by the name that
// the client knows. What a hook made of it is not what the client meant, and is
// not decided.
func (in *Inbox) Edit(ctx context.Context, l Item, input []byte) (Item, error) {
	if _, err := strictjson.Fields(input); err != nil { // an input is an object
		return l, fmt.Errorf("%w: %w", gatelatch.ErrInvalid, err)
	}
	input, err := strictjson.Compact(input)
	if err != nil {
		return l, err
	}
	if bytes.Equal(input, l.Input) {
		return l, nil
	}
	in.mu.Lock() // whoever hears of the edit finds it noted
	defer in.mu.Unlock()
	b, err := in.seat.Edit(ctx, l.ID, l.Digest, input)
	if err != nil {
		return l, err
	}
	c := b.Call(l.ID)
	if !bytes.Equal(c.Input, input) {
		return l, gatelatch.ErrChanged
	}
	l.Call, l.Batch = c, b
	if _, waits := in.shown[l.ID]; waits {
		in.shown[l.ID] = l
	}
	return l, nil
}

// Terms is what an allow that is to be remembered remembers: the narrowest that
// policy offers, in the first of the scopes that it does.
func (in *Inbox) Terms(l Item, scopes ...gatelatch.Scope) (t *gatelatch.Terms, err error) {
	for _, s := range scopes {
		var match string
		if match, err = in.seat.Remember(l.Listed, s); err == nil {
			return &gatelatch.Terms{Scope: s, Match: match}, nil
		}
	}
	return nil, err
}
