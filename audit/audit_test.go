package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
)

func trail(n int) []gatelatch.Event {
	var out []gatelatch.Event
	var prev gatelatch.Sum
	for i := range n {
		e := gatelatch.Event{Seq: gatelatch.Seq(i + 1), At: time.UnixMicro(int64(i)), Kind: gatelatch.CallDecided, Batch: fmt.Sprint("b", i), Call: "c",
			By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "k", Name: "mira"}, Body: []byte(`{"state":"denied"}`), Prev: prev}
		e.Link = audit.Link(e)
		prev = e.Link
		out = append(out, e)
	}
	return out
}

func verify(es []gatelatch.Event) error {
	var c audit.Chain
	for _, e := range es {
		if err := c.Next(e); err != nil {
			return err
		}
	}
	return nil
}

// T15: every field is covered, so that no event can be changed or moved.
func TestTamperingShows(t *testing.T) {
	if err := verify(trail(5)); err != nil {
		t.Fatal(err)
	}
	for name, tamper := range map[string]func([]gatelatch.Event) []gatelatch.Event{
		"time":  func(es []gatelatch.Event) []gatelatch.Event { es[2].At = es[2].At.Add(time.Second); return es },
		"kind":  func(es []gatelatch.Event) []gatelatch.Event { es[2].Kind = gatelatch.CallExpired; return es },
		"actor": func(es []gatelatch.Event) []gatelatch.Event { es[2].By.Name = "otto"; return es },
		"id":    func(es []gatelatch.Event) []gatelatch.Event { es[2].By.ID = "x"; return es },
		"role":  func(es []gatelatch.Event) []gatelatch.Event { es[2].By.Kind = gatelatch.AgentActor; return es },
		"batch": func(es []gatelatch.Event) []gatelatch.Event {
			es[2].Batch, es[3].Batch = es[3].Batch, es[2].Batch
			return es
		},
		"call":   func(es []gatelatch.Event) []gatelatch.Event { es[2].Call = "d"; return es },
		"body":   func(es []gatelatch.Event) []gatelatch.Event { es[2].Body = []byte(`{"state":"allowed"}`); return es },
		"number": func(es []gatelatch.Event) []gatelatch.Event { es[2].Seq = 9; return es },
		"delete": func(es []gatelatch.Event) []gatelatch.Event { return slices.Delete(es, 2, 3) },
		"swap":   func(es []gatelatch.Event) []gatelatch.Event { es[2], es[3] = es[3], es[2]; return es },
		"rehash": func(es []gatelatch.Event) []gatelatch.Event {
			es[2].Body = []byte(`{"state":"allowed"}`)
			es[2].Link = audit.Link(es[2])
			return es
		},
	} {
		if err := verify(tamper(trail(5))); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}
