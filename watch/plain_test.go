package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// fakeGateway is a gateway in memory. Its stream can be broken and its trail
// begun anew.
type fakeGateway struct {
	mu      sync.Mutex
	calls   map[string]api.Call
	order   []string
	last    string // the call that changed last
	seq     int64
	wake    chan struct{}
	down    bool
	refuses error
}

func newFake(calls ...api.Call) *fakeGateway {
	g := &fakeGateway{calls: map[string]api.Call{}, wake: make(chan struct{})}
	for _, c := range calls {
		g.put(c)
	}
	return g
}

// change does something under the lock and wakes who follows.
func (g *fakeGateway) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	close(g.wake)
	g.wake = make(chan struct{})
}

func (g *fakeGateway) put(c api.Call) {
	g.change(func() {
		if _, known := g.calls[c.ID]; !known {
			g.order = append(g.order, c.ID)
		}
		g.calls[c.ID], g.last = c, c.ID
		g.seq++
	})
}

func (g *fakeGateway) answers() error {
	if g.down {
		return fmt.Errorf("%w: it is down", client.ErrUnreachable)
	}
	return g.refuses
}

func (g *fakeGateway) Rows(_ context.Context, after string, _ int) (out api.Calls, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out.Seq, out.More = g.seq, after == "" && len(g.order) > 1
	for i, id := range g.order {
		// Two parts, to see that the second is asked for.
		if c := g.calls[id]; c.State == pending && (i == 0) == (after == "") {
			c.Brief, c.Digest, c.Card.Blocks = true, "", nil
			out.Calls = append(out.Calls, c)
		}
	}
	return out, g.answers()
}

func (g *fakeGateway) Call(_ context.Context, id string) (api.Call, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.answers(); err != nil {
		return api.Call{}, err
	}
	c, ok := g.calls[id]
	if !ok {
		return c, gatelatch.ErrNotFound
	}
	return c, nil
}

func (g *fakeGateway) Status(context.Context) (api.Status, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return api.Status{Version: "test", Seq: g.seq}, g.answers()
}

func (g *fakeGateway) Decide(_ context.Context, id string, d api.Decision) (api.Call, error) {
	g.mu.Lock()
	c, err := g.calls[id], g.answers()
	g.mu.Unlock()
	switch {
	case err != nil:
		return c, err
	case c.State != pending:
		return c, &api.RemoteError{Status: 409, Body: api.Problem{Code: "settled", Decided: c.Decided}}
	case c.Digest != d.Digest:
		return c, gatelatch.ErrChanged
	}
	c.State, c.Decided = d.State, &api.Decided{State: d.State, By: api.Actor{Name: "Mira"}, Note: d.Note}
	g.put(c)
	return c, nil
}

func (g *fakeGateway) Events(ctx context.Context, after int64, fn func(api.Event) bool) error {
	for {
		g.mu.Lock()
		wake, seq, err := g.wake, g.seq, g.answers()
		id := g.last
		g.mu.Unlock()
		switch {
		case err != nil:
			return err
		case after > seq:
			fn(api.Event{})
			return nil
		}
		for ; after < seq; after++ {
			if !fn(api.Event{Seq: after + 1, Kind: "call.asked", Call: id}) {
				return nil
			}
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lineBuffer collects what is written.
type lineBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lineBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was written since, once everything has come to rest.
func (l *lineBuffer) take() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

func TestPlainLinesDecide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newFake(bash("cal_1", "git push\x1b[2J"))
		in, typed := io.Pipe()
		var out lineBuffer
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Plain(ctx, PlainOptions{Gateway: g, Out: &out, In: in, Width: 80}) }()
		types := func(line string, wants ...string) {
			t.Helper()
			if _, err := fmt.Fprintln(typed, line); err != nil {
				t.Fatal(err)
			}
			got := out.take()
			for _, want := range wants {
				if !strings.Contains(got, want) {
					t.Errorf("%q: %q is not in %q", line, want, got)
				}
			}
		}
		if got := out.take(); !strings.Contains(got, "[1] cal_1  shop\n    Runs a script") && !strings.Contains(got, "│ git push⟨ESC⟩[2J\n") || strings.Contains(got, "\x1b") {
			t.Errorf("%q", got)
		}
		types("a 1", "has just changed")
		<-time.After(armTime)
		types("yes", "Type a or d")
		types("a 2", "Type a or d")
		types("a 1", "[1] allowed by Mira")
		types("d 1", "Already decided by Mira as allowed.")

		g.put(bash("cal_2", "sudo ls", api.Touch{Does: "privilege", What: "sudo"}))
		if got := out.take(); !strings.Contains(got, "[2] cal_2") {
			t.Errorf("%q", got)
		}
		<-time.After(armTime)
		types("a 2", "gatelatch allow cal_2")
		g.put(bash("cal_2", "ls"))
		if got := out.take(); !strings.Contains(got, "[2] changed; this is what would run now:") {
			t.Errorf("%q", got)
		}
		types("d 2", "has just changed")
		<-time.After(armTime)
		types("d 2 not today", "[2] denied by Mira")
		if d := g.calls["cal_2"].Decided; d.Note != "not today" {
			t.Errorf("%+v", d)
		}
		stop()
		_ = typed.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestPlainJSON(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newFake(bash("cal_1", "git push"), bash("cal_2", "a < b"))
		var out lineBuffer
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Plain(ctx, PlainOptions{Gateway: g, Out: &out, JSON: true}) }()
		got := out.take()
		for i, line := range strings.Split(strings.TrimSpace(got), "\n") {
			var c api.Call
			if err := json.Unmarshal([]byte(line), &c); err != nil || c.ID != fmt.Sprintf("cal_%d", i+1) || c.Digest == "" {
				t.Errorf("%v in %q", err, line)
			}
		}
		if !strings.Contains(got, "a < b") {
			t.Errorf("%q", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A gateway that goes away and comes back, perhaps with another trail, is
// followed; one that refuses ends it.
func TestFollowingThroughRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newFake(bash("cal_1", "git push"))
		var out lineBuffer
		ended := make(chan error, 1)
		go func() { ended <- Plain(t.Context(), PlainOptions{Gateway: g, Out: &out, Width: 80}) }()
		if got := out.take(); !strings.Contains(got, "cal_1") {
			t.Fatalf("%q", got)
		}
		g.change(func() { g.down = true })
		if got := out.take(); got != "No connection; trying again.\n" {
			t.Errorf("%q", got)
		}
		g.put(bash("cal_2", "git pull"))
		g.change(func() { g.down = false })
		<-time.After(5 * time.Second)
		if got := out.take(); !strings.Contains(got, "Connected again.") || !strings.Contains(got, "[2] cal_2") {
			t.Errorf("%q", got)
		}
		g.change(func() { g.calls, g.order, g.seq, g.down = map[string]api.Call{}, nil, 0, true })
		g.put(bash("cal_3", "git fetch"))
		g.change(func() { g.seq, g.down = 1, false })
		<-time.After(5 * time.Second)
		if got := out.take(); !strings.Contains(got, "[3] cal_3") {
			t.Errorf("a trail that was cut back is not read anew: %q", got)
		}
		g.change(func() { g.refuses = gatelatch.ErrForbidden })
		if err := <-ended; !errors.Is(err, gatelatch.ErrForbidden) {
			t.Errorf("ended with %v", err)
		}
	})
}
