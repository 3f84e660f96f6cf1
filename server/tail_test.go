package server

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func eventsOf(kind gatelatch.EventKind, seqs ...gatelatch.Seq) (es []gatelatch.Event) {
	for _, n := range seqs {
		es = append(es, gatelatch.Event{Seq: n, Kind: kind, Body: []byte(`{}`)})
	}
	return es
}

func TestPartOfTheTrail(t *testing.T) {
	p := part{from: 10}
	if p.upto() != 10 || len(p.behind(10).text) != 0 {
		t.Errorf("empty: %+v", p)
	}
	for _, es := range [][]gatelatch.Event{
		eventsOf(gatelatch.CallProposed, 11, 12), eventsOf(gatelatch.KeyRevoked, 13), eventsOf(gatelatch.CallJudged, 15, 16), // 14 was lost
	} {
		if err := p.add(es); err != nil {
			t.Fatal(err)
		}
	}
	before := p
	check := func(after gatelatch.Seq, first string, n int) {
		t.Helper()
		got := p.behind(after)
		text := string(got.text)
		if strings.Count(text, "\n\n") != n || !strings.HasPrefix(text, first) || got.from != after || got.upto() != max(16, after) || got.revoked != 13 {
			t.Errorf("behind %d: %q up to %d, revoked %d", after, text, got.upto(), got.revoked)
		}
	}
	check(10, "id: 11\n", 5)
	check(12, "id: 13\n", 3)
	check(13, "id: 15\n", 2)
	check(14, "id: 15\n", 2)
	check(16, "", 0)
	check(99, "", 0)
	sent := p.behind(10)
	p.halve()
	if p.from != 13 || string(p.behind(13).text) != string(before.behind(13).text) {
		t.Errorf("half: %+v", p)
	}
	check(15, "id: 16\n", 1)
	if err := p.add(eventsOf(gatelatch.CallExpired, 17)); err != nil || !strings.HasPrefix(string(p.behind(16).text), "id: 17\n") {
		t.Errorf("after the half: %+v, %v", p, err)
	}
	if strings.Count(string(sent.text), "\n\n") != 5 || strings.Contains(string(sent.text), "id: 17") {
		t.Errorf("what is being sent changed: %q", sent.text)
	}
}
