package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

func stoppedOptions(t *testing.T) gatewayOptions {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	return gatewayOptions{
		state: statedir.Dir(filepath.Join(tmp, "state")), config: filepath.Join(tmp, "config"), listen: "127.0.0.1:0",
		checkpoints: filepath.Join(tmp, "elsewhere.jsonl"), log: slog.New(slog.DiscardHandler),
	}
}

// session runs a gateway for as long as fn takes.
func session(t *testing.T, opt gatewayOptions, fn func()) {
	t.Helper()
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	fn()
	if err := g.close(); err != nil {
		t.Error(err)
	}
}

func checkpointsOf(t *testing.T, path string) []audit.Checkpoint {
	t.Helper()
	points, err := readCheckpointFile(path, nil)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return points
}

// execSQL changes the database behind the gateway's back.
func execSQL(t *testing.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), query, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes an event and chains all that follow anew.
func rewrite(t *testing.T, opt gatewayOptions, seq gatelatch.Seq) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), opt.state.Database(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var es []gatelatch.Event
	err = s.View(t.Context(), func(r gatelatch.Reader) (err error) { es, err = r.Events(0, 1000); return err })
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	es[seq-1].By.Name = "nobody"
	for i := int(seq) - 1; i < len(es); i++ {
		if i > 0 {
			es[i].Prev = es[i-1].Link
		}
		es[i].Link = audit.Link(es[i])
		execSQL(t, opt.state.Database(), `UPDATE event SET by_name=?, prev=?, link=? WHERE seq=?`, es[i].By.Name, es[i].Prev[:], es[i].Link[:], es[i].Seq)
	}
}

// SEC-53: what was cut back or rewritten while nobody looked is refused.
func TestTrailIsHeldAgainstCheckpointsAtStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tamper func(t *testing.T, opt gatewayOptions)
		want   string // "" starts
	}{
		"nothing":        {func(*testing.T, gatewayOptions) {}, ""},
		"cut back":       {func(t *testing.T, o gatewayOptions) { execSQL(t, o.state.Database(), `DELETE FROM event WHERE seq>4`) }, "it ends at event 4"},
		"emptied":        {func(t *testing.T, o gatewayOptions) { execSQL(t, o.state.Database(), `DELETE FROM event`) }, "it ends at event 0"},
		"rewritten":      {func(t *testing.T, o gatewayOptions) { rewrite(t, o, 1) }, "event 3 is not the one"},
		"rewritten late": {func(t *testing.T, o gatewayOptions) { rewrite(t, o, 5) }, "event 5 is not the one"},
		"changed": {func(t *testing.T, o gatewayOptions) {
			execSQL(t, o.state.Database(), `UPDATE event SET call='x' WHERE seq=4`)
		}, "event 4 was changed"},
		"one taken out":  {func(t *testing.T, o gatewayOptions) { execSQL(t, o.state.Database(), `DELETE FROM event WHERE seq=4`) }, "event 5 follows 3"},
		"a new database": {func(t *testing.T, o gatewayOptions) { remove(t, o.state.Database()) }, "it ends at event 0"},
		"no checkpoints": {func(t *testing.T, o gatewayOptions) { remove(t, o.checkpoints) }, ""},
		"a cut write":    {func(t *testing.T, o gatewayOptions) { appendFile(t, o.checkpoints, `{"seq":9,"li`) }, ""},
		"a forged one":   {func(t *testing.T, o gatewayOptions) { forge(t, o) }, "is false"},
		"something else": {func(t *testing.T, o gatewayOptions) { appendFile(t, o.checkpoints, "{}\n") }, "not a checkpoint"},
		"another's key":  {func(t *testing.T, o gatewayOptions) { remove(t, o.state.CheckpointKey()) }, ""},
		"no key any more": {func(t *testing.T, o gatewayOptions) {
			remove(t, o.state.CheckpointKey())
			writeFile(t, o.state.CheckpointKey(), "x")
		}, "not a key for checkpoints"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := stoppedOptions(t)
			session(t, opt, func() { ask(t, opt, "m1", "git push") })
			if points := checkpointsOf(t, opt.checkpoints); len(points) != 2 || points[0].Seq != 3 || points[1].Seq != 5 {
				t.Fatalf("%v", points)
			}
			tt.tamper(t, opt)
			g, err := startGateway(opt)
			if err == nil {
				err = g.close()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "event") && !strings.Contains(hintOf(err), opt.checkpoints) {
				t.Errorf("the hint is %q", hintOf(err))
			}
			if tt.want == "" { // and it goes on
				session(t, opt, func() { ask(t, opt, "m2", "git push") })
				if points := checkpointsOf(t, opt.checkpoints); points[len(points)-1].Seq < 6 {
					t.Errorf("%v", points)
				}
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(p); err != nil && (p == path || !errors.Is(err, os.ErrNotExist)) {
			t.Fatal(err)
		}
	}
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func forge(t *testing.T, opt gatewayOptions) {
	t.Helper()
	points := checkpointsOf(t, opt.checkpoints)
	points[1].Seq--
	if err := appendCheckpoint(opt.checkpoints, points[1]); err != nil {
		t.Fatal(err)
	}
}

// A second place that can't be written is loud; if it is required, it is the
// end.
func TestCheckpointsThatCannotBeWritten(t *testing.T) {
	opt := stoppedOptions(t)
	opt.checkpoints = filepath.Join(opt.checkpoints, "not", "mounted")
	session(t, opt, func() {
		if out, err := command(t, opt, "ls"); err != nil || !strings.Contains(out, "no checkpoint of the audit trail could be written") {
			t.Errorf("%q, %v", out, err)
		}
		if b := ask(t, opt, "m1", "git push"); b.Calls[0].State != gatelatch.Pending {
			t.Errorf("%+v", b.Calls[0])
		}
	})
	opt.checkpointsRequired = true
	if g, err := startGateway(opt); err == nil {
		_ = g.close()
		t.Error("it started without the checkpoints that it requires")
	}
	for want, change := range map[string]func(*gatewayOptions){
		"have no file":           func(o *gatewayOptions) { o.checkpoints = "" },
		"absolute path":          func(o *gatewayOptions) { o.checkpoints = "x.jsonl" },
		"in the state directory": func(o *gatewayOptions) { o.checkpoints = filepath.Join(string(o.state), "x.jsonl") },
		"is not a file":          func(o *gatewayOptions) { o.checkpoints = t.TempDir() },
	} {
		o := stoppedOptions(t)
		o.checkpointsRequired = true
		change(&o)
		g, err := startGateway(o)
		if err == nil {
			_ = g.close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestCheckpointsByConfiguration(t *testing.T) {
	opt := stoppedOptions(t)
	path := opt.checkpoints
	opt.checkpoints = ""
	writeFile(t, filepath.Join(opt.config, "config.yaml"), "checkpoints: "+path+"\ncheckpoints_required: true\n")
	session(t, opt, func() {
		c, err := client.ForPeople(opt.state)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := c.Status(t.Context()); err != nil || st.Notice != "" {
			t.Errorf("%+v, %v", st, err)
		}
	})
	if points := checkpointsOf(t, path); len(points) != 1 {
		t.Errorf("%v", points)
	}
	info, err := os.Stat(opt.state.CheckpointKey())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// kept is a keeper at work over a real store, in a bubble's time.
type kept struct {
	*keeper
	t     *testing.T
	store *sqlite.Store
	path  string // of the database
	done  chan error
}

func keep(t *testing.T, required bool, fn func(k *kept)) {
	opt := stoppedOptions(t)
	opt.checkpointsRequired = required
	synctest.Test(t, func(t *testing.T) {
		if err := opt.state.Prepare(); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), opt.state.Database(), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		k := &kept{t: t, store: s, path: opt.state.Database(), done: make(chan error, 1)}
		if k.keeper, err = newKeeper(ctx, opt, s); err != nil {
			t.Fatal(err)
		}
		go func() { k.done <- k.run(ctx, required) }()
		synctest.Wait()
		fn(k)
		stop()
		synctest.Wait()
	})
}

func (k *kept) grow(n int) {
	k.t.Helper()
	err := k.store.Update(k.t.Context(), func(tx gatelatch.Tx) error {
		for range n {
			if err := tx.Record(gatelatch.Event{Kind: "test.grown", At: tx.Now(), Body: []byte("{}")}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	synctest.Wait()
}

func (k *kept) wait(d time.Duration) {
	<-time.After(d) // of the bubble
	synctest.Wait()
}

func (k *kept) wrote(seqs ...gatelatch.Seq) {
	k.t.Helper()
	points := checkpointsOf(k.t, k.keeper.path)
	for i := range max(len(points), len(seqs)) {
		if i >= len(points) || i >= len(seqs) || points[i].Seq != seqs[i] {
			k.t.Fatalf("got %v, want %v", points, seqs)
		}
	}
}

func TestCheckpointsComeInTime(t *testing.T) {
	keep(t, false, func(k *kept) {
		k.wait(10 * time.Minute)
		k.wrote() // nothing has happened
		k.grow(3)
		k.wait(59 * time.Second)
		k.wrote()
		k.wait(time.Second)
		k.wrote(3)
		k.wait(10 * time.Minute)
		k.wrote(3)
		k.grow(999)
		k.wrote(3)
		k.grow(1)
		k.wrote(3, 1003)
		k.grow(2500)
		k.wrote(3, 1003, 3503)
	})
}

func TestCheckpointsThatFailLater(t *testing.T) {
	for _, required := range []bool{false, true} {
		keep(t, required, func(k *kept) {
			k.grow(1)
			k.wait(time.Minute)
			if err := errors.Join(os.Remove(k.keeper.path), os.Mkdir(k.keeper.path, 0o700)); err != nil {
				k.t.Fatal(err)
			}
			k.grow(1)
			k.wait(time.Minute)
			if k.Problem() == "" {
				k.t.Error("nobody is told")
			}
			select {
			case err := <-k.done:
				if !required || err == nil {
					k.t.Errorf("required %v: it ended with %v", required, err)
				}
				return
			default:
			}
			if required {
				k.t.Fatal("it goes on without the checkpoints that it requires")
			}
			if err := os.Remove(k.keeper.path); err != nil {
				k.t.Fatal(err)
			}
			k.wait(time.Minute)
			k.wrote(2)
			if k.Problem() != "" {
				k.t.Errorf("it works again, but says %q", k.Problem())
			}
		})
	}
}

// What does not follow from the last checkpoint is never signed.
func TestChangedTrailIsNotSigned(t *testing.T) {
	keep(t, true, func(k *kept) {
		k.grow(5)
		k.wait(time.Minute)
		k.grow(5)
		if err := k.store.View(k.t.Context(), func(gatelatch.Reader) error { return nil }); err != nil { // the tables have it now
			k.t.Fatal(err)
		}
		execSQL(k.t, k.path, `UPDATE event SET kind='test.forged' WHERE seq=7`)
		k.wait(time.Minute)
		k.wrote(5)
		if err := <-k.done; err == nil || !strings.Contains(err.Error(), "event 7 was changed") || !strings.Contains(k.Problem(), "event 7") {
			k.t.Errorf("%v, %q", err, k.Problem())
		}
	})
}
