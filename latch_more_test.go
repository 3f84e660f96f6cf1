package gatelatch

import (
	"testing"
	"time"
)

// What a host ran by itself is used up: nobody can consume it afterwards.
func TestRanIsConsumed(t *testing.T) {
	b := batchOf(t, Allow)
	must(t, b.Ran("cal_0", true, aAgent, now))
	must(t, b.Open(Hold{Holder: "h"}, aAgent, now))
	wants(t, "consuming it", b.Consume(take(b, 0, "n"), aAgent, now), ErrConsumed)
}

// Only the decision that makes a phase ready gives its holder a new lease:
// what happens to settled calls later must not keep others out.
func TestLaterChangesRenewNoLease(t *testing.T) {
	b := batchOf(t, Allow, Allow)
	open(t, b, "h1", now)
	must(t, b.Extend(1, aAgent, now))
	propose(t, b, Ask)
	must(t, b.Decide("cal_2", Decision{State: Allowed, By: mira, At: now, Digest: b.Calls[2].Digest}))
	until := b.Opened.Until
	b.Tick(now.Add(PermitLife))
	if !b.Opened.Until.Equal(until) {
		t.Errorf("a lapse moved the lease from %v to %v", until, b.Opened.Until)
	}
	must(t, b.Open(Hold{Holder: "h2"}, aAgent, now.Add(PermitLife+time.Second)))
}
