package server

import "testing"

// A key has so many connections and no more; another key is not concerned, and
// nothing is kept of those that left.
func TestGuests(t *testing.T) {
	t.Parallel()
	var g guests
	for i := range mostGuests {
		if !g.enter("a") {
			t.Fatalf("connection %d is refused", i)
		}
	}
	if g.enter("a") || !g.enter("b") {
		t.Error("the limit is not each key's own")
	}
	if g.leave("a"); !g.enter("a") {
		t.Error("who left still counts")
	}
	for range mostGuests {
		g.leave("a")
	}
	if g.leave("b"); len(g.n) != 0 {
		t.Errorf("left behind: %v", g.n)
	}
}
