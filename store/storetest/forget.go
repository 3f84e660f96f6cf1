package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

var forgetting = map[string]func(*testing.T, Open){
	"calls may be added to a saved batch":       phases,
	"an input may be replaced":                  edits,
	"results come back as they went in":         results,
	"what is over is found, oldest first":       over,
	"forgetting leaves what others need":        forget,
	"forgetting what is not there is not found": forgetNothing,
}

func hold(holder string) func(*gatelatch.Batch, time.Time) error {
	return func(b *gatelatch.Batch, at time.Time) error { return b.Open(gatelatch.Hold{Holder: holder}, agent, at) }
}

// ran consumes and reports a call, with a result.
func ran(callID, result string) func(*gatelatch.Batch, time.Time) error {
	return func(b *gatelatch.Batch, at time.Time) error {
		take := gatelatch.Take{Batch: b.ID, Call: callID, Fence: b.Opened.Fence, Digest: b.Call(callID).Digest, Nonce: "n"}
		if err := b.Consume(take, agent, at); err != nil {
			return err
		}
		return b.Report(callID, b.Opened.Fence, gatelatch.Outcome{Kind: gatelatch.Done, At: at, Result: []byte(result)}, agent)
	}
}

func phases(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	must(t, decide(s, "cal_m1_0", "mira", gatelatch.Allowed))
	must(t, change(s, "bat_m1", hold("h")))
	must(t, change(s, "bat_m1", func(b *gatelatch.Batch, at time.Time) error {
		if err := b.Extend(b.Opened.Fence, agent, at); err != nil {
			return err
		}
		for i := range 2 {
			c := &gatelatch.Call{ID: fmt.Sprint("cal_more_", i), Ref: fmt.Sprint("ref_more_", i), Kind: gatelatch.Permission, Tool: "Bash", Input: fmt.Appendf(nil, `{"more":%d}`, i)}
			b.Propose(c, agent, at)
			if err := b.Judge(c, gatelatch.Verdict{Effect: gatelatch.Ask}, at); err != nil {
				return err
			}
		}
		return nil
	}))
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.BatchOfRef(agent.ID, "s1", "ref_more_1") })
	if len(b.Calls) != 3 || b.Phase != 2 || string(b.Calls[2].Input) != `{"more":1}` {
		t.Errorf("phase %d, %d calls, the last with %s", b.Phase, len(b.Calls), b.Calls[2].Input)
	}
	if got := all(t, s, gatelatch.Query{Pending: true}); !slices.Equal(got, []string{"cal_more_0", "cal_more_1"}) {
		t.Errorf("waiting: %v", got)
	}
	must(t, decide(s, "cal_more_0", "mira", gatelatch.Denied))
	if got := all(t, s, gatelatch.Query{}); !slices.Equal(got, []string{"cal_more_0", "cal_m1_0"}) {
		t.Errorf("settled: %v", got)
	}
}

func edits(t *testing.T, open Open) {
	s := fresh(t, open)
	create(t, s, waiting("m1", 1))
	create(t, s, waiting("m2", 1)) // with the same input
	edit := func(id, input string) func(*gatelatch.Batch, time.Time) error {
		return func(b *gatelatch.Batch, at time.Time) error {
			return b.Edit(id, b.Call(id).Digest, []byte(input), gatelatch.Verdict{Effect: gatelatch.Ask}, nil, person, at)
		}
	}
	for i, id := range []string{"m1", "m2"} {
		input := fmt.Sprintf(`{"edited":%d}`, i)
		must(t, change(s, "bat_"+id, edit("cal_"+id+"_0", input)))
		b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_" + id) })
		if got := string(b.Calls[0].Input); got != input || b.Calls[0].Edited == nil {
			t.Errorf("edited to %s, want %s", got, input)
		}
	}
	must(t, change(s, "bat_m1", edit("cal_m1_0", `{"edited":1}`)))
	must(t, change(s, "bat_m2", edit("cal_m2_0", `{"edited":2}`)))
	if b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") }); string(b.Calls[0].Input) != `{"edited":1}` {
		t.Errorf("edited to %s", b.Calls[0].Input)
	}
}

func results(t *testing.T, open Open) {
	s := fresh(t, open)
	raw := "\x00\xff no JSON <&> \u2028"
	create(t, s, waiting("m1", 1))
	must(t, decide(s, "cal_m1_0", "mira", gatelatch.Allowed))
	must(t, change(s, "bat_m1", hold("h")))
	must(t, change(s, "bat_m1", ran("cal_m1_0", raw)))
	b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_m1") })
	sum := b.Calls[0].Outcome.ResultSum
	if got := view(t, s, func(r gatelatch.Reader) ([]byte, error) { return r.Result(sum) }); string(got) != raw {
		t.Errorf("result %q, want %q", got, raw)
	}
	err := s.View(t.Context(), func(r gatelatch.Reader) error { _, err := r.Result(gatelatch.SumOf(nil)); return err })
	if !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("no such result: %v", err)
	}
	must(t, s.Update(t.Context(), func(tx gatelatch.Tx) error { // a transaction sees what it wrote
		b := newBatch("m2", 1, tx.Now())
		d := gatelatch.Decision{State: gatelatch.Allowed, By: person, At: tx.Now(), Digest: b.Calls[0].Digest}
		err := errors.Join(b.Decide(b.Calls[0].ID, d), hold("h")(b, tx.Now()), ran(b.Calls[0].ID, "other")(b, tx.Now()), tx.SaveBatch(b))
		if err != nil {
			return err
		}
		got, err := tx.Result(gatelatch.SumOf([]byte("other")))
		if string(got) != "other" {
			t.Errorf("in its own transaction the result is %q", got)
		}
		return err
	}))
}

func over(t *testing.T, open Open) {
	s := fresh(t, open)
	for _, m := range []string{"m1", "m2", "waits"} {
		create(t, s, waiting(m, 1))
	}
	var at time.Time
	for _, m := range []string{"m2", "m1"} {
		must(t, decide(s, "cal_"+m+"_0", "mira", gatelatch.Denied))
		b := view(t, s, func(r gatelatch.Reader) (*gatelatch.Batch, error) { return r.Batch("bat_" + m) })
		at = b.Index().Over
	}
	list := func(t0 time.Time, limit int) []string {
		return view(t, s, func(r gatelatch.Reader) ([]string, error) { return r.Over(t0, limit) })
	}
	if got := list(at, 10); !slices.Equal(got, []string{"bat_m2"}) {
		t.Errorf("over before %v: %v", at, got)
	}
	later := at.Add(time.Microsecond)
	if got := list(later, 10); !slices.Equal(got, []string{"bat_m2", "bat_m1"}) {
		t.Errorf("over before %v: %v", later, got)
	}
	if got := list(later, 1); !slices.Equal(got, []string{"bat_m2"}) {
		t.Errorf("the first of them is %v", got)
	}
}

func forget(t *testing.T, open Open) {
	s := fresh(t, open)
	runs := func(message, session, result string) {
		t.Helper()
		create(t, s, func(at time.Time) *gatelatch.Batch { return newBatchIn(session, message, 1, at) })
		call := "cal_" + message + "_0"
		must(t, decide(s, call, "mira", gatelatch.Allowed))
		must(t, change(s, "bat_"+message, hold("h")))
		must(t, change(s, "bat_"+message, ran(call, result)))
	}
	runs("m1", "s1", "same")
	runs("m2", "s1", "same")
	runs("m3", "s2", "other")
	there := func(what string, want bool, read func(gatelatch.Reader) error) {
		t.Helper()
		if err := s.View(t.Context(), read); errors.Is(err, gatelatch.ErrNotFound) == want || want && err != nil {
			t.Errorf("%s: %v, want it there: %v", what, err, want)
		}
	}
	result := func(text string) func(gatelatch.Reader) error {
		return func(r gatelatch.Reader) error { _, err := r.Result(gatelatch.SumOf([]byte(text))); return err }
	}
	session := func(id string) func(gatelatch.Reader) error {
		return func(r gatelatch.Reader) error { _, err := r.Session(agent.ID, id); return err }
	}
	batch := func(id string) func(gatelatch.Reader) error {
		return func(r gatelatch.Reader) error { _, err := r.Batch(id); return err }
	}
	drop := func(id string) {
		t.Helper()
		must(t, update(s, func(tx gatelatch.Tx) error { return tx.Forget(id) }))
		there(id, false, batch(id))
	}
	before := checkTrail(t, s)
	drop("bat_m1")
	there("the call", false, func(r gatelatch.Reader) error { _, err := r.BatchOfCall("cal_m1_0"); return err })
	there("the ref", false, func(r gatelatch.Reader) error { _, err := r.BatchOfRef(agent.ID, "s1", "ref_m1_0"); return err })
	there("the other batch, with its input", true, batch("bat_m2"))
	there("the result that both have", true, result("same"))
	there("the session that both have", true, session("s1"))
	drop("bat_m2")
	there("a result that nobody has", false, result("same"))
	there("a session that nobody has", false, session("s1"))
	there("another's session", true, session("s2"))
	drop("bat_m3")
	there("the last result", false, result("other"))
	if got := checkTrail(t, s); !slices.Equal(got, before) {
		t.Errorf("%d events, want all %d", len(got), len(before))
	}
	runs("m1", "s1", "same") // as if it had never been
}

func forgetNothing(t *testing.T, open Open) {
	s := fresh(t, open)
	if err := update(s, func(tx gatelatch.Tx) error { return tx.Forget("bat_none") }); !errors.Is(err, gatelatch.ErrNotFound) {
		t.Errorf("forgot what is not there: %v", err)
	}
}
