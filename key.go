package gatelatch

import (
	"fmt"
	"time"
)

// KeyKind says how a key is shown. No key may both ask and decide.
type KeyKind string

// Kinds of key.
const (
	AskKey     KeyKind = "ask"     // an agent's: propose, await, withdraw, report
	DecideKey  KeyKind = "decide"  // a person's command line
	BrowserKey KeyKind = "browser" // a person's browser: two secrets, neither opens anything alone
	PasskeyKey KeyKind = "passkey" // signs what a person's browser sends; lets nobody in
)

// Role is what who has a key may do. The zero role may do nothing.
type Role string

// Roles. Each of a person's may do what the one before it may.
const (
	AgentRole    Role = "agent"    // asks, and can never have another
	AuditorRole  Role = "auditor"  // reads
	ApproverRole Role = "approver" // decides
	AdminRole    Role = "admin"    // changes rules and keys
)

// A Key lets a principal in. Only hashes of its secrets are kept.
type Key struct {
	ID      string    `json:"id"`
	Kind    KeyKind   `json:"kind"`
	Name    string    `json:"name"`           // of the agent or person
	Given   Role      `json:"role,omitempty"` // as recorded; see Role
	Hash    Sum       `json:"hash"`
	Second  Sum       `json:"second,omitzero"`  // a browser's other half
	Parent  string    `json:"parent,omitempty"` // the key that let this browser in: it ends with it
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Expires time.Time `json:"expires,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
	Rotated time.Time `json:"rotated,omitzero"` // whom an older secret let in ends with that
	Meter   Meter     `json:"meter,omitzero"`   // of an agent: what it has used of its quota
	Near    string    `json:"near,omitempty"`   // where a browser logged in, if its link was made at the approver's socket
	Passkey *Passkey  `json:"passkey,omitempty"`

	Version int64 `json:"-"`
}

// Role is what the key may do: nothing, if its kind and the role it was given
// do not belong together. Without one, a person's key may do everything.
func (k *Key) Role() Role {
	switch k.Kind {
	case AskKey:
		if k.Given == "" || k.Given == AgentRole {
			return AgentRole
		}
	case DecideKey, BrowserKey:
		switch k.Given {
		case "":
			return AdminRole
		case AuditorRole, ApproverRole, AdminRole:
			return k.Given
		case AgentRole:
		}
	case PasskeyKey: // it does nothing by itself
	}
	return ""
}

// Check refuses a key that must not be kept.
func (k *Key) Check() error {
	switch {
	case k.Kind == PasskeyKey && k.Passkey != nil && k.Given == "" && k.Parent != "":
	case k.Role() == "":
		return fmt.Errorf("a key to %s can't have the role %q: %w", k.Kind, k.Given, ErrForbidden)
	case !k.Expires.IsZero() && !k.Expires.After(k.Created):
		return fmt.Errorf("the key would have expired before it is made: %w", ErrInvalid)
	}
	return nil
}

// Actor is who acts with the key.
func (k *Key) Actor() Actor {
	switch k.Kind {
	case AskKey:
		return Actor{Kind: AgentActor, ID: k.ID, Name: k.Name}
	case DecideKey, BrowserKey:
		return Actor{Kind: PersonActor, ID: k.ID, Name: k.Name}
	case PasskeyKey:
	}
	return Actor{}
}
