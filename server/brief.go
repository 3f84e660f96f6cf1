package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/render"
)

// mostWhole is how many calls of a short list can be had whole.
const mostWhole = 10

// takeBrief takes the wish for short calls out of a query: those behind the
// first few, which are whole.
func takeBrief(v url.Values) (short bool, whole int, err error) {
	values, short := v["brief"]
	if short && (len(values) != 1 || values[0] != "true") {
		return false, 0, badQuery("brief", "is true, or left out")
	}
	if first, ok := v["whole"]; ok {
		whole, err = strconv.Atoi(first[0])
		if err != nil || !short || len(first) != 1 || whole < 0 || whole > mostWhole {
			return false, 0, badQuery("whole", "is a number up to 10, of a list that is brief")
		}
	}
	delete(v, "brief")
	delete(v, "whole")
	return short, whole, nil
}

// brief is a call as a row of a long list shows it. Nobody can decide on it:
// what would run is not there.
func brief(l gatelatch.Listed) api.Call {
	l = veil(l)
	c := l.Call
	out := api.Call{
		ID: c.ID, Batch: batchInfo(l.Batch, c.ID), Agent: l.Session.Agent, Session: fromSession(l.Session), Mode: modeOf(l.Session), Kind: string(c.Kind),
		Tool: render.OneLine(c.Tool), Dir: render.OneLine(c.Dir), State: string(c.State), Created: l.Batch.Created,
		Verdict: verdict(c.Verdict, nil), Decided: decided(c.Decided), Deadline: timeOrNil(c.Deadline),
		Input: json.RawMessage("null"), Card: render.Call(c, nil), Brief: true, Same: sameOf(l),
	}
	out.Verdict.Needs, out.Card.Blocks = nil, []api.Block{}
	out.Card.Subject = beginning(out.Card.Subject)
	for i := range out.Verdict.Reasons {
		r := &out.Verdict.Reasons[i]
		r.Part, r.Message = beginning(r.Part), beginning(r.Message)
	}
	return out
}

// sameOf names what a waiting call asks, so that rows can tell which are the
// same. It is no digest: what was not shown can't be decided by it.
func sameOf(l gatelatch.Listed) string {
	if l.State.Settled() {
		return ""
	}
	sum := sha256.Sum256([]byte("same\x00" + l.Session.Agent + "\x00" + l.Digest.String()))
	return hex.EncodeToString(sum[:12])
}

// rowText is how many bytes of one text a row holds: an agent with large inputs
// must not make the list large.
const rowText = 1000

// beginning cuts a line that is too long for a row, not within the name of a character.
func beginning(line string) string {
	if len(line) <= rowText {
		return line
	}
	line = strings.ToValidUTF8(line[:rowText], "")
	if open := strings.LastIndex(line, "⟨"); open > strings.LastIndex(line, "⟩") {
		line = line[:open]
	}
	return line + "…"
}
