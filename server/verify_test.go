package server_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
)

// tamper changes the database behind the gateway's back.
func (w *world) tamper(query string, args ...any) {
	w.t.Helper()
	if err := w.store.View(w.t.Context(), func(gatelatch.Reader) error { return nil }); err != nil { // the tables have everything now
		w.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", w.db+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = db.ExecContext(w.t.Context(), query, args...)
	if err := errors.Join(err, db.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// audit returns what the page says about the trail, once a look at it is over.
func (w *world) audit() (a api.Audit) {
	w.t.Helper()
	for a.At == nil || a.Problem == "" && a.Checked < a.Seq {
		w.get("/v1/audit", &a)
	}
	return a
}

func (w *world) whole() {
	w.t.Helper()
	if a := w.audit(); a.Problem != "" || a.Checked < 4 {
		w.t.Fatalf("the whole trail: %+v", a)
	}
}

// SEC-53: a trail that somebody changed is shown as broken, and where, for as
// long as it is.
func TestTheBrokenChainIsShown(t *testing.T) {
	for name, tt := range map[string]struct {
		change, problem string
		after           bool // what was looked at when it was whole
	}{
		"an event is changed":         {change: `UPDATE event SET by_name='nobody' WHERE seq=3`, problem: "event 3 was changed"},
		"its body is changed":         {change: `UPDATE event SET body=x'7b7d' WHERE seq=3`, problem: "event 3 was changed"},
		"an event is missing":         {change: `DELETE FROM event WHERE seq=2`, problem: "event 3 follows 1"},
		"the first is missing":        {change: `DELETE FROM event WHERE seq=1`, problem: "event 2 follows 0"},
		"two change places":           {change: `UPDATE event SET prev=(SELECT link FROM event WHERE seq=1) WHERE seq=3`, problem: "event 3 does not follow"},
		"the last ones are cut off":   {change: `DELETE FROM event WHERE seq>3`, problem: "event 4", after: true},
		"all of them are gone":        {change: `DELETE FROM event`, problem: "event 1", after: true},
		"what comes next is no event": {change: `INSERT INTO event SELECT seq+1, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link FROM event ORDER BY seq DESC LIMIT 1`, problem: "does not follow", after: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle("m1", "deploy", "allowed")
			if tt.after {
				w.whole()
			}
			w.tamper(tt.change)
			for range 2 {
				if a := w.audit(); !strings.Contains(a.Problem, tt.problem) {
					t.Errorf("audit %+v, want the problem %q", a, tt.problem)
				}
			}
		})
	}
}

// An end that was written anew fits what comes before it, but not what the
// gateway has seen.
func TestAnotherEndOfTheChainIsShown(t *testing.T) {
	w := newWorld(t)
	w.settle("m1", "deploy", "allowed")
	w.whole()
	var last gatelatch.Event
	if err := w.store.View(t.Context(), func(r gatelatch.Reader) error {
		es, err := r.Events(0, 1000)
		last = es[len(es)-1]
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.tamper(`DELETE FROM event WHERE seq=?`, last.Seq)
	if a := w.audit(); !strings.Contains(a.Problem, "missing") {
		t.Errorf("cut off: %+v", a)
	}
	last.By.Name = "nobody"
	link := audit.Link(last)
	w.tamper(`INSERT INTO event (seq, at, kind, by_kind, by_id, by_name, batch, call, body, prev, link) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		last.Seq, last.At.UnixMicro(), last.Kind, last.By.Kind, last.By.ID, last.By.Name, last.Batch, last.Call, []byte(last.Body), last.Prev[:], link[:])
	if a := w.audit(); !strings.Contains(a.Problem, "another than before") {
		t.Errorf("written anew: %+v", a)
	}
}
