package server_test

import (
	"fmt"
	"testing"

	"github.com/gatelatch/gatelatch/api"
)

// A card tells what became of calls like it, however they are asked for; rows do
// not.
func TestACardTellsWhatWasAllowedBefore(t *testing.T) {
	w := newWorld(t)
	w.settle("m1", "deploy one", "allowed")
	last := w.settle("m2", "deploy one", "allowed")
	w.settle("m3", "deploy one", "denied")
	for i := range 40 { // more than is read first
		w.settle(fmt.Sprint("o", i), "other", "denied")
	}
	for command, exactly := range map[string]bool{"deploy one": true, "deploy one --all": false} {
		id := w.propose(command, command).Calls[0].ID
		var c api.Call
		w.get("/v1/calls/"+id, &c)
		b := c.Before
		if b == nil || b.Of != 43 || b.Count != 2 || b.Call != last || b.By.Name != "mira" || b.At == nil || b.Exactly != exactly {
			t.Errorf("%s: %+v", command, b)
		}
	}
	var list api.Calls
	w.get("/v1/calls?state=pending&brief=true&whole=1", &list)
	if list.Calls[0].Before == nil || list.Calls[1].Before != nil {
		t.Error("not only what is whole tells it")
	}
	last = w.settle("m9", "deploy one", "allowed")
	var c api.Call
	w.get("/v1/calls/"+list.Calls[0].ID, &c)
	if c.Before.Count != 3 || c.Before.Call != last || c.Before.Of != 44 {
		t.Errorf("what was settled since is missing: %+v", c.Before)
	}
}

// What no call like it touched is new.
func TestACardTellsWhatIsNew(t *testing.T) {
	w := newWorld(t)
	w.settle("m1", "rm a.txt", "allowed")
	id := w.propose("m2", "rm a.txt b.txt").Calls[0].ID
	var c api.Call
	w.get("/v1/calls/"+id, &c)
	if b := c.Before; b == nil || b.Count != 1 || len(b.Fresh) != 1 || b.Fresh[0].Does != "delete" {
		t.Errorf("%+v, touches %+v", b, c.Card.Touches)
	}
}
