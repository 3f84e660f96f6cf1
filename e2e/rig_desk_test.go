package e2e

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// desk is a person without a browser, for tests that are not about the page.
type desk struct {
	t      *testing.T
	client *client.Client
}

func (g *gateway) desk() desk {
	g.t.Helper()
	c, err := client.ForPeople(g.state)
	if err != nil {
		g.t.Fatal(err)
	}
	return desk{g.t, c}
}

// pending is what waits. A gateway that is away has nothing to show.
func (d desk) pending() []api.Call {
	d.t.Helper()
	list, err := d.client.Calls(d.t.Context(), "pending", "", 0)
	if err != nil && !client.Again(err) {
		d.t.Fatal(err)
	}
	return list.Calls
}

// await waits for a call with a text in its input.
func (d desk) await(text string) (found api.Call) {
	d.t.Helper()
	until(d.t, "a call with "+text, func() bool {
		for _, c := range d.pending() {
			if strings.Contains(string(c.Input), text) {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// awaitNone waits until nothing waits.
func (d desk) awaitNone() {
	d.t.Helper()
	until(d.t, "nothing to wait", func() bool { return len(d.pending()) == 0 })
}

// decide settles a call as it is shown.
func (d desk) decide(c api.Call, how api.Decision) {
	d.t.Helper()
	how.Digest = c.Digest
	if _, err := d.client.Decide(d.t.Context(), c.ID, how); err != nil {
		d.t.Fatal(err)
	}
}

func (d desk) allow(c api.Call) {
	d.t.Helper()
	d.decide(c, api.Decision{State: "allowed"})
}

// edit replaces a call's input and returns it as it is then.
func (d desk) edit(c api.Call, input string) api.Call {
	d.t.Helper()
	out, err := d.client.Edit(d.t.Context(), c.ID, api.Edit{Digest: c.Digest, Input: []byte(input)})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}
