package api

import "time"

// Keys are what lets somebody in: agents, command lines and browsers, the
// newest first.
type Keys struct {
	Keys []Key `json:"keys"`
}

// Key is one of them. Its secret is shown once, when it is made.
type Key struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"` // ask, decide or browser
	Role    string     `json:"role"` // agent, auditor, approver or admin
	Name    string     `json:"name"`
	Parent  string     `json:"parent,omitempty"` // the key that let this browser in: it ends with it
	File    string     `json:"file,omitempty"`   // where its secret lies, of those the gateway made for itself
	You     bool       `json:"you,omitempty"`    // the one that asks
	Created time.Time  `json:"created"`
	Used    *time.Time `json:"used,omitempty"`
	Expires *time.Time `json:"expires,omitempty"`
	Revoked *time.Time `json:"revoked,omitempty"`
}

// AddKey makes a key. One that asks can have no other role.
type AddKey struct {
	Name string `json:"name"`
	Role string `json:"role"`                  // agent, auditor, approver or admin
	For  int    `json:"for_seconds,omitempty"` // then it expires; 0 is never
}

// MadeKey is a key with the secret that it was given just now.
type MadeKey struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret"`
}
