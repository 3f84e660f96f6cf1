package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/api/apitest"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/server"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// rig is a gateway on real sockets that can be stopped and started again.
type rig struct {
	t    *testing.T
	dir  statedir.Dir
	gate *gatelatch.Gate
	stop func()
}

func newRig(t *testing.T) *rig {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	r := &rig{t: t, dir: statedir.Dir(filepath.Join(tmp, "state"))}
	if err := r.dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

func (r *rig) start() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := sqlite.Open(ctx, r.dir.Database(), sqlite.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	a := auth.New(s, "mira")
	if err := a.EnsureFiles(ctx, r.dir); err != nil {
		r.t.Fatal(err)
	}
	r.gate = gatelatch.New(s, policy.Default())
	srv, err := server.New(server.Options{Gate: r.gate, Auth: a, URL: origin, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	where := statedir.Gateway{PID: os.Getpid(), AgentSocket: r.dir.Run() + "/a", ApproverSocket: r.dir.Run() + "/p"}
	var wg sync.WaitGroup
	wg.Go(func() { r.gate.Run(ctx) })
	var servers []*http.Server
	checker, wrong := apitest.For(r.t)
	for path, door := range map[string]server.Door{where.AgentSocket: server.AgentDoor(), where.ApproverSocket: server.ApproverDoor()} {
		_ = os.Remove(path)
		ln, err := net.Listen("unix", path)
		if err != nil {
			r.t.Fatal(err)
		}
		h, err := srv.Handler(door)
		if err != nil {
			r.t.Fatal(err)
		}
		ln = checker.Tap(ln, wrong)
		hs := srv.HTTP(ctx, h)
		servers = append(servers, hs)
		wg.Go(func() { _ = hs.Serve(ln) })
	}
	if err := r.dir.Announce(where); err != nil {
		r.t.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() {
		cancel()
		for _, hs := range servers {
			_ = hs.Close()
		}
		_ = srv.Wait(context.Background())
		wg.Wait()
		_ = s.Close()
	})
}

func (r *rig) client(open func(statedir.Dir) (*client.Client, error)) *client.Client {
	r.t.Helper()
	c, err := open(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// decideAll settles everything that waits.
func (r *rig) decideAll(state gatelatch.State) {
	r.t.Helper()
	c := r.client(client.ForPeople)
	list, err := c.Calls(r.t.Context(), "pending", "", 0)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, call := range list.Calls {
		if _, err := c.Decide(r.t.Context(), call.ID, api.Decision{State: string(state), Digest: call.Digest, Note: "so"}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// decideAsTheyCome is a person who allows everything but force.
func (r *rig) decideAsTheyCome(ctx context.Context) {
	c := r.client(client.ForPeople)
	_ = c.Events(ctx, 0, func(e api.Event) bool {
		call, err := c.Call(ctx, e.Call)
		if err != nil || call.State != string(gatelatch.Pending) {
			return true
		}
		d := api.Decision{State: string(gatelatch.Allowed), Digest: call.Digest, Note: "so"}
		if strings.Contains(string(call.Input), "force") {
			d.State = string(gatelatch.Denied)
		}
		_, _ = c.Decide(ctx, call.ID, d)
		return true
	})
}

// The same promises hold in this process and over the API.
func TestService(t *testing.T) {
	for name, service := range map[string]func(*rig) gatelatch.Service{
		"in process": func(r *rig) gatelatch.Service {
			return r.gate.As(gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_x", Name: "x"})
		},
		"over the API": func(r *rig) gatelatch.Service { return r.client(client.ForAgents) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			checkService(t, r, service(r))
			latchWalk(t, r, service(r))
		})
	}
}

func checkService(t *testing.T, r *rig, svc gatelatch.Service) {
	ctx := t.Context()
	p := gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s1"}, Message: "m1",
		Calls: []gatelatch.ProposedCall{{Ref: "r1", Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"a && <b>"}`)}},
	}
	b, err := svc.Propose(ctx, p)
	if err != nil || b.Calls[0].State != gatelatch.Pending || b.Opened != nil {
		t.Fatalf("proposed: %+v, %v", b, err)
	}
	if again, err := svc.Propose(ctx, p); err != nil || again.ID != b.ID {
		t.Errorf("proposed again: %v, %v", again, err)
	}
	other := p
	other.Calls = []gatelatch.ProposedCall{{Ref: "r1", Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"other"}`)}}
	for what, check := range map[string]struct{ got, want error }{
		"another input":  {second(svc.Propose(ctx, other)), gatelatch.ErrConflict},
		"no session":     {second(svc.Propose(ctx, gatelatch.Proposal{})), gatelatch.ErrInvalid},
		"unknown batch":  {second(svc.Batch(ctx, "bat_none")), gatelatch.ErrNotFound},
		"unknown await":  {second(svc.Await(ctx, "bat_none", atOnce("h"))), gatelatch.ErrNotFound},
		"no holder":      {second(svc.Await(ctx, b.ID, atOnce(""))), gatelatch.ErrInvalid},
		"unknown report": {svc.Report(ctx, gatelatch.Report{Session: "s1", Ref: "none"}), gatelatch.ErrNotFound},
	} {
		if !errors.Is(check.got, check.want) {
			t.Errorf("%s: %v, want %v", what, check.got, check.want)
		}
	}
	got := make(chan *gatelatch.Batch, 1)
	go func() {
		b, err := svc.Await(ctx, b.ID, atOnce("h1"))
		if err != nil {
			t.Error(err)
		}
		got <- b
	}()
	r.decideAll(gatelatch.Allowed)
	b = <-got
	if c := b.Calls[0]; c.State != gatelatch.Allowed || string(c.Input) != `{"command":"a && <b>"}` || c.Decided.By.Name != "mira" || b.Opened.Holder != "h1" {
		t.Errorf("awaited: %+v %+v", c, b.Opened)
	}
	if _, err := svc.Await(ctx, b.ID, atOnce("h2")); !errors.Is(err, gatelatch.ErrOpened) {
		t.Errorf("another holder: %v", err)
	}
	if err := svc.Report(ctx, gatelatch.Report{Session: "s1", Ref: "r1", OK: true}); err != nil {
		t.Error(err)
	}
	p.Message, p.Calls[0].Ref = "m2", "r2"
	if b, err = svc.Propose(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := svc.Withdraw(ctx, b.ID, "changed my mind"); err != nil {
		t.Error(err)
	}
	if b, err = svc.Batch(ctx, b.ID); err != nil || b.Calls[0].State != gatelatch.Withdrawn {
		t.Errorf("withdrawn: %+v, %v", b, err)
	}
	p.Message, p.Calls[0].Ref = "m3", "r3"
	if b, err = svc.Propose(ctx, p); err != nil {
		t.Fatal(err)
	}
	r.decideAll(gatelatch.Denied)
	if b, err = svc.Await(ctx, b.ID, atOnce("h3")); err != nil || b.Calls[0].Answer() != "User denied the request: so" {
		t.Errorf("denied: %+v, %v", b, err)
	}
}

// atOnce is how a host holds a batch whose calls it runs at once.
func atOnce(holder string) gatelatch.Hold { return gatelatch.Hold{Holder: holder, Consume: true} }

// D1–D7 through either implementation: a batch runs in order, needs one more
// permission on the way, and its results are there at the end.
func latchWalk(t *testing.T, r *rig, svc gatelatch.Service) {
	ctx := t.Context()
	call := func(ref, command string) gatelatch.ProposedCall {
		return gatelatch.ProposedCall{Ref: ref, Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"` + command + `"}`)}
	}
	b, err := svc.Propose(ctx, gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "latch"}, Message: "m1",
		Calls: []gatelatch.ProposedCall{call("l1", "git push"), call("l2", "rm --force x"), call("l3", "git fetch")},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	gone := make(chan struct{})
	defer func() { stop(); <-gone }()
	go func() {
		defer close(gone)
		r.decideAsTheyCome(ctx)
	}()
	rs, err := gatelatch.RunBatch(ctx, svc, b.ID, gatelatch.Hold{Holder: "run"}, func(ctx context.Context, run *gatelatch.Running) ([]byte, error) {
		if run.Ref != "l1" {
			return []byte{0xff}, errors.New("failed")
		}
		more, err := run.Need(ctx, call("l4", "git push --force"))
		if err != nil {
			return nil, err
		}
		return []byte("and then: " + more[0].Answer()), nil
	})
	if err != nil || len(rs) != 4 {
		t.Fatalf("%+v, %v", rs, err)
	}
	for i, want := range []gatelatch.Result{
		{Ref: "l1", State: gatelatch.Allowed, Outcome: gatelatch.Done, Output: []byte("and then: User denied the request: so")},
		{Ref: "l2", State: gatelatch.Denied},
		{Ref: "l3", State: gatelatch.Allowed, Outcome: gatelatch.Failed, Output: []byte{0xff}},
		{Ref: "l4", State: gatelatch.Denied, Output: []byte("User denied the request: so")},
	} {
		got := rs[i]
		if got.Ref != want.Ref || got.State != want.State || got.Outcome != want.Outcome || want.Output != nil && string(got.Output) != string(want.Output) {
			t.Errorf("result %d: %+v, want %+v", i, got, want)
		}
	}
	if again, err := svc.Results(ctx, b.ID); err != nil || len(again) != len(rs) || string(again[0].Output) != string(rs[0].Output) {
		t.Errorf("read again: %+v, %v", again, err)
	}
	for what, check := range map[string]struct{ got, want error }{
		"another attempt":  {second(gatelatch.RunBatch(ctx, svc, b.ID, gatelatch.Hold{Holder: "late"}, nil)), gatelatch.ErrFinished},
		"another consumes": {second(svc.Consume(ctx, gatelatch.Take{Batch: b.ID, Call: rs[0].Call, Fence: 1, Nonce: "n"})), gatelatch.ErrFenced},
		"renewed":          {svc.Renew(ctx, b.ID, 1), gatelatch.ErrFenced},
		"extended":         {second(svc.Extend(ctx, b.ID, 1, []gatelatch.ProposedCall{call("l9", "ls")})), gatelatch.ErrFenced},
	} {
		if !errors.Is(check.got, check.want) {
			t.Errorf("%s: %v, want %v", what, check.got, check.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// P7: a waiter outlives its gateway and gets the decision from the next one.
func TestPatientWaiter(t *testing.T) {
	r := newRig(t)
	p := &client.Patient{Client: r.client(client.ForAgents), Grace: time.Second}
	b, err := p.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s1"}, Message: "m1",
		Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"git push"}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		b, err := p.Await(t.Context(), b.ID, atOnce("h1"))
		if err == nil && b.Calls[0].State != gatelatch.Allowed {
			err = errors.New("the call is " + string(b.Calls[0].State))
		}
		got <- err
	}()
	r.stop()
	r.start()
	r.decideAll(gatelatch.Allowed)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestStrangerIsNotWaitedFor(t *testing.T) {
	r := newRig(t)
	p := &client.Patient{Client: r.client(client.ForAgents), Grace: 0}
	r.stop()
	_, err := p.Propose(t.Context(), gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s1"}, Message: "m1"})
	if !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("a gateway that was never met: %v", err)
	}
}

// SEC-73: the stream gives every event once, from where the reader stopped.
func TestEventStream(t *testing.T) {
	r := newRig(t)
	agent, person := r.client(client.ForAgents), r.client(client.ForPeople)
	st, err := person.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan api.Event, 16)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = person.Events(ctx, st.Seq, func(e api.Event) bool { seen <- e; return true })
	}()
	if _, err := agent.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s1"}, Message: "m1",
		Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"git push"}`)}},
	}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []gatelatch.EventKind{gatelatch.CallProposed, gatelatch.CallJudged} {
		if e := <-seen; e.Kind != string(want) || e.Seq != st.Seq+int64(i)+1 || e.Call == "" {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	cancel()
	<-done
	var again []int64
	err = person.Events(t.Context(), st.Seq+1, func(e api.Event) bool { again = append(again, e.Seq); return false })
	if err != nil || len(again) != 1 || again[0] != st.Seq+2 {
		t.Errorf("from the middle: %v, %v", again, err)
	}
}
