package notify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/id"
)

const (
	cursorName = "notify"
	gather     = 200 * time.Millisecond // calls that come together are read together
	atOnce     = 500                    // events
	mostCalls  = 500                    // that are told about when the cursor is lost
	lag        = 20_000                 // events behind which it counts as lost
	strides    = 2_000                  // events without news after which the cursor is saved
	keep       = 7 * 24 * time.Hour     // messages
)

// Outbox makes messages from the trail and sends them. The fields are set
// before Run and not changed after.
//
// The walk: follow reads events behind the cursor and, in one transaction,
// writes messages and moves the cursor. deliver claims what is due, sends it
// outside of any transaction, and notes how that went.
type Outbox struct {
	Store   gatelatch.Store
	Targets []*Target
	Rules   []Rule
	// PageDelay is how long who looks at the page is not told otherwise.
	PageDelay time.Duration
	Looking   func() bool // somebody looks at the page; may be nil
	URL       string      // of the page on this machine
	Public    string      // of the page elsewhere, or ""; without it there are no buttons
	Log       *slog.Logger
	Missed    func(channel string) // told of each try that failed; may be nil
	// Signs is as the gate's: what needs a passkey has no button. May be nil.
	Signs func(*gatelatch.Call, gatelatch.Decision) bool

	holder string
	read   gatelatch.Seq // events that need nothing from here
	rates  map[share]*bucket
	mu     sync.Mutex
	busy   map[string]int // messages under way, by channel
	done   chan struct{}  // one of them ended
}

// Run works until ctx ends. Without channels it does nothing.
func (o *Outbox) Run(ctx context.Context) {
	if len(o.Targets) == 0 {
		return
	}
	o.holder, o.rates, o.busy, o.done = id.New("box"), map[share]*bucket{}, map[string]int{}, make(chan struct{}, 1)
	grown, made := make(chan struct{}, 1), make(chan struct{}, 1)
	o.Store.Changes(ctx, func(gatelatch.Change) { poke(grown) })
	var work sync.WaitGroup
	work.Go(func() { o.follow(ctx, grown, made) })
	work.Go(func() { o.deliver(ctx, &work, made) })
	work.Wait()
}

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// pause waits for a time, or less if something wakes it; both may be nil.
func pause(ctx context.Context, d time.Duration, wake, also <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-wake:
	case <-also:
	}
}

// follow makes messages, and has what is old forgotten.
func (o *Outbox) follow(ctx context.Context, grown <-chan struct{}, made chan struct{}) {
	const idle, again = time.Hour, time.Second
	for ctx.Err() == nil {
		more, err := o.step(ctx)
		if err == nil {
			err = o.forget(ctx)
		}
		switch {
		case err != nil && ctx.Err() == nil:
			o.Log.Warn("could not make messages", "err", err)
			pause(ctx, again, nil, nil)
		case !more:
			pause(ctx, idle, grown, nil)
			pause(ctx, gather, nil, nil)
		}
		poke(made)
	}
}

// news is what some events mean for people.
type news struct {
	asked, settled []string // calls
	upto           gatelatch.Seq
}

// step reads events, makes what follows from them, and reports whether there
// may be more.
func (o *Outbox) step(ctx context.Context) (more bool, err error) {
	var n news
	var saved gatelatch.Cursor
	err = o.Store.View(ctx, func(r gatelatch.Reader) error {
		saved, err = r.Cursor(cursorName)
		if err != nil {
			return err
		}
		last, err := r.LastSeq()
		if err != nil {
			return err
		}
		from := max(saved.Seq, o.read)
		if saved.Version == 0 || last-from > lag {
			n, err = startOver(r, last)
			return err
		}
		es, err := r.Events(from, atOnce)
		n, more = read(es, from), len(es) == atOnce
		return err
	})
	if err != nil {
		return false, err
	}
	if len(n.asked)+len(n.settled) > 0 || saved.Version == 0 || n.upto-saved.Seq >= strides {
		err = o.Store.Update(ctx, func(tx gatelatch.Tx) error { return o.make(tx, n) })
	}
	if err == nil {
		o.read = n.upto
	}
	return more, err
}

// startOver tells about what waits, however it came to.
func startOver(r gatelatch.Reader, last gatelatch.Seq) (n news, err error) {
	n.upto = last
	page, err := r.List(gatelatch.Query{Pending: true, Newest: true, Limit: mostCalls})
	for _, l := range page.Calls {
		n.asked = append(n.asked, l.ID)
	}
	return n, err
}

// read takes what concerns people out of events. What rules settled at once
// concerns nobody.
func read(es []gatelatch.Event, from gatelatch.Seq) news {
	n := news{upto: from}
	fresh := map[string]bool{}
	for _, e := range es {
		n.upto = e.Seq
		switch e.Kind {
		case gatelatch.CallProposed:
			fresh[e.Call] = true
		case gatelatch.CallJudged:
			var body struct {
				Effect gatelatch.Effect `json:"effect"`
			}
			_ = json.Unmarshal(e.Body, &body) // what can't be read settles nothing: the call itself is looked at
			if body.Effect == gatelatch.Ask {
				n.asked = append(n.asked, e.Call)
			} else if !fresh[e.Call] {
				n.settled = append(n.settled, e.Call)
			}
		case gatelatch.CallDecided, gatelatch.CallExpired, gatelatch.CallWithdrawn, gatelatch.CallEdited:
			n.settled = append(n.settled, e.Call)
		default:
		}
	}
	return n
}

// forget deletes what is old, a part at a time.
func (o *Outbox) forget(ctx context.Context) error {
	var old []*gatelatch.Message
	err := o.Store.View(ctx, func(r gatelatch.Reader) (err error) {
		old, err = r.Messages(gatelatch.MessageQuery{Before: r.Now().Add(-keep), Limit: 100})
		return err
	})
	if err != nil || len(old) == 0 {
		return err
	}
	err = o.Store.Update(ctx, func(tx gatelatch.Tx) error {
		for _, m := range old {
			m.Forgotten = true
			if err := tx.SaveMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, gatelatch.ErrStale) { // another gateway forgets, or sends, one of them
		return nil
	}
	return err
}

func (o *Outbox) now() (now time.Time) {
	now = time.Now()
	_ = o.Store.View(context.Background(), func(r gatelatch.Reader) error { now = r.Now(); return nil })
	return now
}
