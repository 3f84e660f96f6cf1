package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Passkeys are the devices that sign what people allow. Signing says what needs
// them: off, risky or all.
type Passkeys struct {
	Signing  string    `json:"signing"`
	Passkeys []Passkey `json:"passkeys"`
}

// Passkey is one of them. Credential is in base64url.
type Passkey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Credential string     `json:"credential"`
	Domain     string     `json:"domain"`          // where it signs
	Here       bool       `json:"here,omitempty"`  // which is this page's
	Yours      bool       `json:"yours,omitempty"` // it signs for who asks
	Created    time.Time  `json:"created"`
	Used       *time.Time `json:"used,omitempty"`
	Removed    *time.Time `json:"removed,omitempty"`
}

// AddPasskey enrols a passkey that the browser made for this page. Credential
// and PublicKey (SPKI) are in base64url.
type AddPasskey struct {
	Name       string `json:"name"`
	Credential string `json:"credential"`
	PublicKey  string `json:"public_key"`
}

// Says is what a body comes to, as it stands in what a passkey signs: whoever
// checks the trail compares it with the event, and needs no body for that.
func Says(in any) string {
	var words []any
	switch in := in.(type) {
	case Decision:
		words = []any{in.State, in.Digest, in.Mode}
		if t := in.Remember; t != nil {
			words = append(words, t.Scope, gatelatch.SumOf([]byte(t.Match)).String(), t.For, t.Uses)
		}
	case SetMode:
		words = []any{in.Mode, in.Agent, in.Session, in.For}
	case AddRule:
		words = []any{in.Effect, in.Match, in.Digest}
	case AddPasskey:
		words = []any{in.Credential}
	default:
		return ""
	}
	return SayWords(words...)
}

// SayWords writes words as a page does.
func SayWords(words ...any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(words); err != nil {
		panic(err) // texts and numbers
	}
	return strings.TrimSpace(b.String())
}
