package server

import (
	"encoding/json"
	"net/url"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// takeBrief takes the wish for short calls out of a query.
func takeBrief(v url.Values) (bool, error) {
	values, ok := v["brief"]
	if ok && (len(values) != 1 || values[0] != "true") {
		return false, badQuery("brief", "is true, or left out")
	}
	delete(v, "brief")
	return ok, nil
}

// brief is a call as a row of a long list shows it. Nobody can decide on it:
// what would run is not there.
func brief(l gatelatch.Listed) api.Call {
	c := l.Call
	out := api.Call{
		ID: c.ID, Batch: batchInfo(l.Batch, c.ID), Agent: l.Session.Agent, Session: fromSession(l.Session), Mode: modeOf(l.Session), Kind: string(c.Kind),
		Tool: render.OneLine(c.Tool), Dir: render.OneLine(c.Dir), State: string(c.State), Created: l.Batch.Created,
		Verdict: verdict(c.Verdict, nil), Decided: decided(c.Decided), Deadline: timeOrNil(c.Deadline),
		Input: json.RawMessage("null"), Card: render.Call(c, nil), Brief: true,
	}
	out.Verdict.Needs, out.Card.Blocks = nil, []api.Block{}
	return out
}
