package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// Gateway is what the inbox needs of a client.
type Gateway interface {
	Rows(ctx context.Context, after string, limit int) (api.Calls, error)
	Call(ctx context.Context, id string) (api.Call, error)
	Status(ctx context.Context) (api.Status, error)
	Decide(ctx context.Context, id string, d api.Decision) (api.Call, error)
	Events(ctx context.Context, after int64, fn func(api.Event) bool) error
}

// News of a feed.
type (
	loaded struct {
		calls []api.Call
	}
	changed   struct{ call api.Call }
	gone      struct{ id string }
	connected struct {
		live   bool
		status api.Status
	}
	ended struct{ err error }
)

// part is how many rows are read at once.
const part = 500

// statusEvery is how often the whole is asked about: a rule file that broke is
// no event.
const statusEvery = 30 * time.Second

// feed follows a gateway: it reads the list once, then what events point at.
type feed struct {
	gateway Gateway
	news    chan any
	wanted  chan string // calls to look at
}

func newFeed(g Gateway) *feed {
	return &feed{gateway: g, news: make(chan any), wanted: make(chan string, 1)}
}

func (f *feed) tell(ctx context.Context, news any) {
	select {
	case f.news <- news:
	case <-ctx.Done():
	}
}

// look asks for a call as it is now.
func (f *feed) look(ctx context.Context, id string) {
	select {
	case f.wanted <- id:
	case <-ctx.Done():
	}
}

// follow runs until ctx ends, or the gateway refuses. One that is down or
// restarts is waited for.
func (f *feed) follow(ctx context.Context) {
	var wait client.Backoff
	seq := int64(-1)
	for ctx.Err() == nil {
		err := f.stream(ctx, &seq, &wait)
		if ctx.Err() != nil {
			return
		}
		if !client.Again(err) && !errors.Is(err, errResync) {
			f.tell(ctx, ended{err})
			return
		}
		f.tell(ctx, connected{})
		_ = wait.Wait(ctx)
	}
}

// errResync says that the trail is not the one that was followed.
var errResync = errors.New("the list has to be read anew")

func (f *feed) stream(ctx context.Context, seq *int64, wait *client.Backoff) error {
	st, err := f.gateway.Status(ctx)
	if err != nil {
		return err
	}
	if *seq < 0 {
		if *seq, err = f.load(ctx); err != nil {
			return err
		}
	}
	f.tell(ctx, connected{true, st})
	resync := false
	err = f.gateway.Events(ctx, *seq, func(e api.Event) bool {
		if resync = e.Seq <= *seq; resync {
			return false
		}
		*seq, *wait = e.Seq, client.Backoff{}
		if e.Call != "" {
			f.look(ctx, e.Call)
		}
		if strings.HasPrefix(e.Kind, "gate.") {
			f.ask(ctx)
		}
		return ctx.Err() == nil
	})
	if resync {
		*seq = -1
		return errResync
	}
	return err
}

// ask tells how the gateway stands; if it does not answer, the stream ends, too.
func (f *feed) ask(ctx context.Context) {
	if st, err := f.gateway.Status(ctx); err == nil {
		f.tell(ctx, connected{true, st})
	}
}

func (f *feed) load(ctx context.Context) (seq int64, err error) {
	var all []api.Call
	after := ""
	for first := true; ; first = false {
		list, err := f.gateway.Rows(ctx, after, part)
		if err != nil {
			return -1, err
		}
		if first {
			seq = list.Seq
		}
		all = append(all, list.Calls...)
		if !list.More || len(list.Calls) == 0 {
			f.tell(ctx, loaded{all})
			return seq, nil
		}
		after = list.Calls[len(list.Calls)-1].ID
	}
}

// read fetches calls that were asked for: each once for many wishes, in the
// order of the first.
func (f *feed) read(ctx context.Context) {
	var wait client.Backoff
	var ids []string
	for ctx.Err() == nil {
		if ids = f.wishes(ctx, ids); len(ids) == 0 {
			return
		}
		if !f.fetch(ctx, ids[0]) {
			_ = wait.Wait(ctx)
			continue
		}
		ids, wait = ids[1:], client.Backoff{}
	}
}

// wishes adds what is wanted now. It waits only if there is nothing to do.
func (f *feed) wishes(ctx context.Context, ids []string) []string {
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		select {
		case id := <-f.wanted:
			add(id)
		case <-ctx.Done():
			return nil
		}
	}
	for {
		select {
		case id := <-f.wanted:
			add(id)
		default:
			return ids
		}
	}
}

// fetch reports whether the gateway answered.
func (f *feed) fetch(ctx context.Context, id string) bool {
	c, err := f.gateway.Call(ctx, id)
	switch {
	case errors.Is(err, gatelatch.ErrNotFound):
		f.tell(ctx, gone{id})
	case err != nil:
		return false
	default:
		f.tell(ctx, changed{c})
	}
	return true
}
