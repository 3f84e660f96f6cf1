package gatelatch

import (
	"encoding/json"
	"time"
)

// ActorKind says what kind of thing acted.
type ActorKind string

// Kinds of actor. Only a person decides by hand; an agent never does.
const (
	AgentActor   ActorKind = "agent"
	PersonActor  ActorKind = "person"
	PolicyActor  ActorKind = "policy"
	HookActor    ActorKind = "hook"
	ClockActor   ActorKind = "clock"
	GatewayActor ActorKind = "gateway"
)

// An Actor is whoever caused an event. Agents and persons come from a verified
// key, never from a request's body.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id,omitempty"`
	Name string    `json:"name,omitempty"`
}

// String names the actor for people.
func (a Actor) String() string {
	switch {
	case a.Name != "":
		return a.Name
	case a.ID != "":
		return string(a.Kind) + " " + a.ID
	}
	return string(a.Kind)
}

// Seq numbers events without gaps, from 1.
type Seq int64

// EventKind says what happened, in the past tense.
type EventKind string

// Kinds of event.
const (
	CallProposed   EventKind = "call.proposed"
	CallJudged     EventKind = "call.judged"
	CallDecided    EventKind = "call.decided"
	CallExpired    EventKind = "call.expired"
	CallWithdrawn  EventKind = "call.withdrawn"
	CallRevoked    EventKind = "call.revoked"
	CallEdited     EventKind = "call.edited"
	CallLapsed     EventKind = "call.lapsed"
	CallConsumed   EventKind = "call.consumed"
	CallReported   EventKind = "call.reported"
	CallSuggested  EventKind = "call.suggested" // by a repetition: what could be remembered
	CallLeft       EventKind = "call.left"      // nobody waits for the answer
	CallRejoined   EventKind = "call.rejoined"  // somebody does again
	CallUnseen     EventKind = "call.unseen"    // one ran that was never proposed
	BatchClaimed   EventKind = "batch.claimed"
	BatchParked    EventKind = "batch.parked"
	BatchUnparked  EventKind = "batch.unparked"
	BatchRepeated  EventKind = "batch.repeated"
	BatchOpened    EventKind = "batch.opened"
	BatchRenewed   EventKind = "batch.renewed"
	BatchExtended  EventKind = "batch.extended"
	BatchFinished  EventKind = "batch.finished"
	BatchForgotten EventKind = "batch.forgotten"
	GrantMade      EventKind = "grant.made"
	GrantRevoked   EventKind = "grant.revoked"
	ModeChosen     EventKind = "mode.chosen"

	SessionInterrupted EventKind = "session.interrupted"

	PolicyChanged EventKind = "policy.changed"
	KeyCreated    EventKind = "key.created"
	KeyRevoked    EventKind = "key.revoked"
	KeyRotated    EventKind = "key.rotated"
	SigningChosen EventKind = "signing.chosen" // what needs a passkey from now on
	RequestSigned EventKind = "request.signed" // by a passkey, for what no other event holds the signature of
	AgentMuted    EventKind = "agent.muted"    // it asked too much
	AgentUnmuted  EventKind = "agent.unmuted"
	HostDrifted   EventKind = "host.drifted"
	HostMended    EventKind = "host.mended"
	GatePaused    EventKind = "gate.paused"
	GateUnpaused  EventKind = "gate.unpaused"
	GateRestored  EventKind = "gate.restored"
)

// An Event is one line of the audit trail. It names inputs by hash only.
type Event struct {
	Seq   Seq             `json:"seq"`
	At    time.Time       `json:"at"`
	Kind  EventKind       `json:"kind"`
	By    Actor           `json:"by"`
	Batch string          `json:"batch,omitempty"`
	Call  string          `json:"call,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
	Prev  Sum             `json:"prev"` // link of the event before
	Link  Sum             `json:"link"` // hash over Prev and everything above
}
