package modeltest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
)

// look reads what the trail grew by, checks it and returns what belongs to
// this history.
func (h *history) look() (ours []gatelatch.Event) {
	for {
		after, _ := h.chain.Head()
		var es []gatelatch.Event
		h.must(h.store.View(h.Context(), func(r gatelatch.Reader) (err error) { es, err = r.Events(after, 1000); return err }))
		for _, e := range es {
			h.must(h.chain.Next(e))
			switch {
			case e.Batch == "" || h.batches[e.Batch] != nil:
				h.must(h.trail.Next(e))
				ours = append(ours, e)
			case !h.old[e.Batch]:
				h.Fatalf("event %d is about batch %s, which nobody made", e.Seq, e.Batch)
			}
		}
		if len(es) < 1000 {
			return ours
		}
	}
}

// A Trail knows from events alone what holds, and finds what must not be. It
// knows neither the model nor the gate.
type Trail struct {
	paused  bool
	at      time.Time
	revoked map[string]bool // grants
	calls   map[string]*told
	order   map[string][]*told // of each batch
	fence   map[string]int64
	phase   map[string]int // from 0
	over    map[string]bool
	again   map[string]bool // batches that another stands for
}

// told is what the trail told about a call.
type told struct {
	state    gatelatch.State
	phase    int
	digest   gatelatch.Sum // that a decision would be about now
	allowed  gatelatch.Sum // that the allow was about
	consumed bool
	outcome  gatelatch.OutcomeKind
	grant    string // that policy allowed it by
}

// NewTrail returns one that knows nothing yet.
func NewTrail() *Trail {
	return &Trail{revoked: map[string]bool{}, calls: map[string]*told{}, order: map[string][]*told{}, fence: map[string]int64{}, phase: map[string]int{}, over: map[string]bool{}, again: map[string]bool{}}
}

// detail is what bodies hold.
type detail struct {
	State  gatelatch.State       `json:"state"`
	Effect gatelatch.Effect      `json:"effect"`
	Digest gatelatch.Sum         `json:"digest"`
	From   gatelatch.Sum         `json:"from"`
	Grant  string                `json:"grant"`
	Fence  int64                 `json:"fence"`
	Kind   gatelatch.OutcomeKind `json:"kind"`
	Of     string                `json:"of"`
}

// actors are who may cause what: an agent never decides (I11).
var actors = map[gatelatch.EventKind][]gatelatch.ActorKind{
	gatelatch.CallProposed: {gatelatch.AgentActor}, gatelatch.CallJudged: {gatelatch.PolicyActor},
	gatelatch.CallDecided: {gatelatch.PersonActor}, gatelatch.CallEdited: {gatelatch.PersonActor}, gatelatch.CallRevoked: {gatelatch.PersonActor},
	gatelatch.CallExpired: {gatelatch.ClockActor}, gatelatch.CallLapsed: {gatelatch.ClockActor},
	gatelatch.CallWithdrawn: {gatelatch.AgentActor}, gatelatch.CallConsumed: {gatelatch.AgentActor},
	gatelatch.CallReported: {gatelatch.AgentActor, gatelatch.ClockActor},
	gatelatch.BatchOpened:  {gatelatch.AgentActor}, gatelatch.BatchRenewed: {gatelatch.AgentActor},
	gatelatch.BatchExtended: {gatelatch.AgentActor}, gatelatch.BatchFinished: {gatelatch.AgentActor},
	gatelatch.BatchParked: {gatelatch.AgentActor}, gatelatch.BatchUnparked: {gatelatch.AgentActor}, gatelatch.BatchClaimed: {gatelatch.AgentActor},
	gatelatch.BatchRepeated: {gatelatch.AgentActor}, gatelatch.CallUnseen: {gatelatch.AgentActor},
	gatelatch.GrantMade: {gatelatch.PersonActor}, gatelatch.GrantRevoked: {gatelatch.PersonActor},
	gatelatch.GatePaused: {gatelatch.PersonActor}, gatelatch.GateUnpaused: {gatelatch.PersonActor},
}

// Next takes an event over, or says what it breaks.
func (t *Trail) Next(e gatelatch.Event) error {
	var d detail
	if len(e.Body) > 0 {
		if err := json.Unmarshal(e.Body, &d); err != nil {
			return err
		}
	}
	ok := false
	for _, k := range actors[e.Kind] {
		ok = ok || k == e.By.Kind
	}
	if !ok {
		return fmt.Errorf("event %d: a %s caused %s (I11)", e.Seq, e.By.Kind, e.Kind)
	}
	if e.At.Before(t.at) {
		return fmt.Errorf("event %d is older than the one before (REL-20)", e.Seq)
	}
	t.at = e.At
	c := t.calls[e.Call]
	if c == nil {
		c = &told{}
		if e.Call != "" && e.Kind == gatelatch.CallProposed {
			t.calls[e.Call] = c
			t.order[e.Batch] = append(t.order[e.Batch], c)
		}
	}
	if bad := t.apply(e, d, c); bad != "" {
		return fmt.Errorf("event %d, %s: %s", e.Seq, e.Kind, bad)
	}
	return nil
}

// apply takes an event over and returns what it breaks.
func (t *Trail) apply(e gatelatch.Event, d detail, c *told) string {
	permit := c.state == gatelatch.Allowed && !c.consumed
	switch e.Kind {
	case gatelatch.CallProposed:
		c.state, c.digest, c.phase = gatelatch.Pending, d.Digest, t.phase[e.Batch]
	case gatelatch.CallJudged:
		return t.judged(d, c)
	case gatelatch.CallEdited:
		if c.state != gatelatch.Pending || d.From != c.digest {
			return "edited what was not shown"
		}
		c.digest = d.Digest
	case gatelatch.CallDecided:
		return t.settled(d, c)
	case gatelatch.CallExpired:
		if c.state != gatelatch.Pending {
			return "I2: it was settled"
		}
		c.state = d.State
	case gatelatch.CallWithdrawn:
		if c.state != gatelatch.Pending && !permit {
			return "I2: it was settled"
		}
		c.state = d.State
	case gatelatch.CallRevoked, gatelatch.CallLapsed:
		if !permit {
			return "I2: nothing to take back"
		}
		c.state = d.State
	case gatelatch.CallConsumed:
		return t.consumed(e, d, c)
	case gatelatch.CallReported:
		if c.outcome != "" && c.outcome != gatelatch.Unknown {
			return "reported twice"
		}
		c.outcome = d.Kind
	case gatelatch.BatchOpened:
		return t.opened(e, d)
	case gatelatch.BatchRepeated:
		return t.repeated(e, d)
	case gatelatch.BatchExtended:
		t.phase[e.Batch]++
	case gatelatch.BatchFinished:
		t.over[e.Batch] = true
	case gatelatch.GrantRevoked:
		t.revoked[d.Grant] = true
	case gatelatch.GatePaused, gatelatch.GateUnpaused:
		t.paused = e.Kind == gatelatch.GatePaused
	default:
	}
	return ""
}

func (t *Trail) judged(d detail, c *told) string {
	switch d.Effect {
	case gatelatch.Ask:
		return ""
	case gatelatch.Allow:
		d.State, c.grant = gatelatch.Allowed, d.Grant
	default:
		d.State = gatelatch.Denied
	}
	if t.revoked[d.Grant] {
		return "I12: the grant was revoked"
	}
	return t.settled(d, c)
}

func (t *Trail) settled(d detail, c *told) string {
	switch {
	case c.state != gatelatch.Pending:
		return "I2: it was settled"
	case d.Digest != c.digest:
		return "I6: it was shown otherwise"
	case t.paused && d.State == gatelatch.Allowed:
		return "allowed in a pause"
	}
	if c.state = d.State; d.State == gatelatch.Allowed {
		c.allowed = d.Digest
	}
	return ""
}

func (t *Trail) consumed(e gatelatch.Event, d detail, c *told) string {
	switch {
	case c.state != gatelatch.Allowed:
		return "I1, I8: it is not allowed"
	case c.consumed:
		return "I5: it was consumed before"
	case c.outcome != "":
		return "it ran before"
	case d.Digest != c.allowed || d.Digest != c.digest:
		return "I6: another digest was allowed"
	case d.Fence == 0: // a host ran it without asking who holds the batch
		c.consumed = true
		return ""
	case t.revoked[c.grant]:
		return "I12: the grant was revoked"
	case d.Fence != t.fence[e.Batch] || t.over[e.Batch]:
		return "REL-11: by somebody who does not hold the batch"
	}
	for _, before := range t.order[e.Batch] {
		if before == c {
			break
		}
		if before.phase == c.phase && before.state == gatelatch.Allowed && !before.consumed {
			return "D5: an earlier call waits for its turn"
		}
	}
	c.consumed = true
	return ""
}

func (t *Trail) opened(e gatelatch.Event, d detail) string {
	for _, c := range t.order[e.Batch] {
		if c.state == gatelatch.Pending {
			return "I7, D2: a call waits"
		}
	}
	if d.Fence <= t.fence[e.Batch] || t.over[e.Batch] {
		return "REL-11: the fence does not grow"
	}
	t.fence[e.Batch] = d.Fence
	return ""
}
