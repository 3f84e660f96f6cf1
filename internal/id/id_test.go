package id

import (
	"testing"
	"time"
)

// Ids of one moment are neighbours in an index, and still nobody's guess.
func TestIDsOfAMomentBeginAlike(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	seen := map[string]bool{}
	for range 1000 {
		a, b, later := at(now), at(now.Add(moment-1)), at(now.Add(moment))
		if len(a) != 26 || a[:4] != b[:4] || a[:4] >= later[:4] {
			t.Fatalf("%s and %s are of one moment, %s of the next", a, b, later)
		}
		seen[a[4:]], seen[b[4:]], seen[later[4:]] = true, true, true
	}
	if len(seen) != 3000 {
		t.Errorf("of 3000 ids, %d are unique after the time", len(seen))
	}
}

// A code is random from its first character (SEC-13).
func TestCodesTellNoTime(t *testing.T) {
	t.Parallel()
	begins := map[string]bool{}
	for range 100 {
		begins[Code("x")[:6]] = true
	}
	if len(begins) < 90 {
		t.Errorf("of 100 codes, %d begin differently", len(begins))
	}
}
