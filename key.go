package gatelatch

import "time"

// KeyKind says what a key may do. No key may both ask and decide.
type KeyKind string

// Kinds of key.
const (
	AskKey     KeyKind = "ask"     // an agent's: propose, await, withdraw, report
	DecideKey  KeyKind = "decide"  // a person's command line
	BrowserKey KeyKind = "browser" // a person's browser: two secrets, neither opens anything alone
)

// A Key lets a principal in. Only hashes of its secrets are kept.
type Key struct {
	ID      string    `json:"id"`
	Kind    KeyKind   `json:"kind"`
	Name    string    `json:"name"` // of the agent or person
	Hash    Sum       `json:"hash"`
	Second  Sum       `json:"second,omitzero"`  // a browser's other half
	Parent  string    `json:"parent,omitempty"` // the browser that let this one in: it ends with it
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Revoked time.Time `json:"revoked,omitzero"`

	Version int64 `json:"-"`
}

// Actor is who acts with the key.
func (k *Key) Actor() Actor {
	switch k.Kind {
	case AskKey:
		return Actor{Kind: AgentActor, ID: k.ID, Name: k.Name}
	case DecideKey, BrowserKey:
		return Actor{Kind: PersonActor, ID: k.ID, Name: k.Name}
	}
	return Actor{}
}
