package linear

import (
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatelatch/gatelatch"
)

const (
	allowed = gatelatch.Allowed
	denied  = gatelatch.Denied
)

// at puts operations one behind the other, a second each.
func at(ds ...done) []done {
	for i := range ds {
		d := &ds[i]
		d.in = []string{"m"}
		d.start = time.Duration(i) * time.Second
		d.first, d.end = d.start, d.start+time.Second/2
	}
	return ds
}

func asked(o op, code string, views ...*view) done {
	a := answer{code: code, calls: views}
	switch o.kind {
	case propose:
		a.batch = "bat_1"
	case open:
		a.fence, o.fence = o.fence, 0
	}
	return done{op: o, answer: a}
}

func shown(state gatelatch.State, by, use string) *view { return &view{state, by, use, untold} }

var (
	proposed = asked(op{kind: propose, size: 1}, "", shown(gatelatch.Pending, "", ""))
	allow    = asked(op{kind: decide, who: "mira", state: allowed}, "")
	opened   = asked(op{kind: open, who: "h1", fence: 1}, "")
	used     = asked(op{kind: consume, fence: 1, nonce: "n1"}, "")
	reported = asked(op{kind: report, fence: 1, nonce: "r1"}, "")
	takeover = asked(op{kind: open, who: "h2", fence: 2}, "")
	finished = asked(op{kind: finish, fence: 1}, "", shown(allowed, "mira", string(gatelatch.Done)))
	remember = asked(op{kind: granted}, "")
	forget   = asked(op{kind: revoke}, "")
	byGrant  = asked(op{kind: propose, size: 1}, "", shown(allowed, "", ""))
)

func seen(state gatelatch.State, by, use string) done {
	return asked(op{kind: look}, "", shown(state, by, use))
}

func verdict(ds []done) porcupine.CheckResult {
	if len(latchProblems(ds)) > 0 {
		return porcupine.Illegal
	}
	return porcupine.CheckOperationsTimeout(model, operations(ds), time.Minute)
}

func TestCheckerAcceptsWhatIsRight(t *testing.T) {
	gone := func(d done) done { d.answer = answer{code: lost}; return d }
	for name, ds := range map[string][]done{
		"a whole batch":            at(proposed, proposed, allow, allow, opened, opened, used, used, reported, reported, finished, finished),
		"a late decision":          at(proposed, allow, asked(op{kind: decide, who: "jo", state: denied}, "settled", shown(allowed, "mira", untold))),
		"a late holder":            at(proposed, allow, opened, used, takeover, asked(op{kind: report, fence: 1, nonce: "r1"}, "fenced"), seen(allowed, "mira", "unknown")),
		"a lease that ended":       at(proposed, allow, opened, used, seen(allowed, "mira", "unknown"), reported, finished),
		"a grant":                  at(remember, byGrant, opened, used, forget, reported),
		"a grant that ended":       at(remember, byGrant, opened, forget, asked(op{kind: consume, fence: 1, nonce: "n1"}, "settled", shown(gatelatch.Revoked, untold, untold))),
		"a lost decision, done":    at(proposed, gone(allow), seen(allowed, "mira", "")),
		"a lost decision, undone":  at(proposed, gone(allow), seen(gatelatch.Pending, "", ""), asked(op{kind: decide, who: "jo", state: denied}, "")),
		"a lost decision, delayed": at(proposed, gone(allow), seen(gatelatch.Pending, "", ""), seen(allowed, "mira", "")),
		"a lost opening":           at(proposed, allow, gone(opened), takeover),
		"a lost consumption":       at(proposed, allow, opened, gone(used), asked(op{kind: consume, fence: 1, nonce: "n2"}, "consumed")),
	} {
		if got := verdict(ds); got != porcupine.Ok {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCheckerRefusesWhatIsWrong(t *testing.T) {
	for name, ds := range map[string][]done{
		"a flipped decision":           at(proposed, allow, seen(allowed, "mira", ""), seen(denied, "jo", "")),
		"two decisions":                at(proposed, allow, asked(op{kind: decide, who: "jo", state: denied}, "")),
		"the same by two people":       at(proposed, allow, asked(op{kind: decide, who: "jo", state: allowed}, "")),
		"a wrong winner":               at(proposed, allow, asked(op{kind: decide, who: "jo", state: denied}, "settled", shown(denied, "kim", untold))),
		"a lost write":                 at(proposed, allow, seen(gatelatch.Pending, "", "")),
		"a lost proposal":              at(proposed, asked(op{kind: open, who: "h1"}, "not_found")),
		"two batches of a message":     at(proposed, done{op: proposed.op, answer: answer{batch: "bat_2"}}),
		"another input":                at(proposed, asked(op{kind: contradict}, "")),
		"opened while it waits":        at(proposed, opened),
		"opened twice":                 at(proposed, allow, opened, asked(op{kind: open, who: "h2", fence: 1}, "")),
		"a fence left out":             at(proposed, allow, opened, asked(op{kind: open, who: "h2", fence: 3}, "")),
		"a fence that falls":           at(proposed, allow, opened, takeover, opened),
		"opened after the end":         at(proposed, allow, opened, used, reported, finished, takeover),
		"a double consume":             at(proposed, allow, opened, used, asked(op{kind: consume, fence: 1, nonce: "n2"}, "")),
		"consumed by the last holder":  at(proposed, allow, opened, takeover, used),
		"run again after it was lost":  at(proposed, allow, opened, used, takeover, asked(op{kind: consume, fence: 2, nonce: "n2"}, "")),
		"consumed though denied":       at(proposed, asked(op{kind: decide, who: "jo", state: denied}, ""), opened, used),
		"consumed before it is open":   at(proposed, allow, used),
		"allowed after revoke":         at(remember, forget, byGrant),
		"consumed after revoke":        at(remember, byGrant, opened, forget, used),
		"opened with what was revoked": at(remember, byGrant, forget, asked(op{kind: open, who: "h1", fence: 1}, "", shown(allowed, "", ""))),
		"a grant that is not seen":     at(remember, proposed),
		"finished without a report":    at(proposed, allow, opened, used, asked(op{kind: finish, fence: 1}, "", shown(allowed, "mira", running))),
		"finished with another result": at(proposed, allow, opened, used, reported, asked(op{kind: finish, fence: 1}, "", &view{allowed, "mira", "done", "r2"})),
		"a report without a run":       at(proposed, allow, opened, reported),
		"a report of the last holder":  at(proposed, allow, opened, used, takeover, reported),
		"unknown, and then running":    at(proposed, allow, opened, used, seen(allowed, "mira", "unknown"), seen(allowed, "mira", running)),
		"a lost decision that flips":   at(proposed, done{op: allow.op, answer: answer{code: lost}}, seen(allowed, "mira", ""), asked(op{kind: decide, who: "jo", state: denied}, "")),
		"a refusal that took effect":   at(proposed, asked(allow.op, "settled", shown(denied, "jo", untold))),
		"refused as opened, by nobody": at(proposed, allow, asked(op{kind: open, who: "h1"}, "opened")),
		"fenced though nobody came":    at(proposed, allow, opened, asked(used.op, "fenced")),
		"out of order":                 at(asked(op{kind: propose, size: 2}, ""), allow, asked(op{kind: decide, call: 1, who: "mira", state: allowed}, ""), opened, asked(op{kind: consume, call: 1, fence: 1, nonce: "n1"}, "")),
	} {
		if got := verdict(ds); got != porcupine.Illegal {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The second checker finds two holders by itself.
func TestLatchChecker(t *testing.T) {
	early := at(opened, takeover)
	early[1].start, early[1].end = early[0].start, early[0].start+lease/2
	for name, ds := range map[string][]done{
		"one fence for two":  at(opened, asked(op{kind: open, who: "h2", fence: 1}, "")),
		"a late consumption": at(opened, takeover, used),
		"two nonces":         at(opened, used, asked(op{kind: consume, fence: 1, nonce: "n2"}, "")),
		"within the lease":   early,
		"within its renewal": {at(opened)[0], shift(used, lease), shift(takeover, lease+lease/2)},
	} {
		if len(latchProblems(ds)) == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
	if ps := latchProblems(at(opened, used, opened, used, takeover)); len(ps) > 0 {
		t.Error(ps)
	}
}

func shift(d done, by time.Duration) done {
	d.in, d.start, d.first, d.end = []string{"m"}, by, by, by+time.Millisecond
	return d
}

// Clients ask again when answers are lost: the search must still end.
func TestCheckerCopesWithLostAnswers(t *testing.T) {
	ds := []done{asked(op{kind: propose, size: most}, "")}
	add := func(o op) { ds = append(ds, done{op: o, answer: answer{code: lost}}) }
	for range tries {
		for call := range most {
			add(op{kind: decide, call: call, who: "mira", state: allowed})
			add(op{kind: decide, call: call, who: "jo", state: denied})
		}
		add(op{kind: open, who: "h1"})
		add(op{kind: open, who: "h2"})
		add(op{kind: consume, fence: 1, nonce: "n1"})
		add(op{kind: report, fence: 1, nonce: "r1"})
		add(op{kind: finish, fence: 1})
	}
	for by, want := range map[string]porcupine.CheckResult{"jo": porcupine.Ok, "kim": porcupine.Illegal} {
		begin := time.Now()
		look := asked(op{kind: look}, "", shown(allowed, "mira", "done"), shown(denied, "jo", ""), shown(denied, by, ""))
		look.finished = true
		if got := verdict(at(append(slices.Clone(ds), look)...)); got != want {
			t.Errorf("by %s: %s, want %s", by, got, want)
		}
		t.Log(by, time.Since(begin))
	}
}
