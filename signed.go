package gatelatch

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Passkey is a person's device that signs what loosens something. Only its
// public half is known.
type Passkey struct {
	Credential []byte  `json:"credential"`
	Public     []byte  `json:"public"`          // SPKI
	RP         string  `json:"rp"`              // the domain it was made for
	Count      uint32  `json:"count,omitempty"` // signatures, if the device counts them
	Spent      []Spent `json:"spent,omitempty"` // signatures that are too young to be refused by their age
}

// Spent is a signature that does not count a second time.
type Spent struct {
	Sum Sum       `json:"sum"`
	At  time.Time `json:"at"`
}

// A Signature is a passkey's word for one request, whole, so that it can be
// checked without the gateway: see internal/passkey.
type Signature struct {
	Passkey string `json:"passkey"`       // its id
	Text    string `json:"text"`          // exactly what was signed
	Data    []byte `json:"authenticator"` // as the device gave it
	Client  []byte `json:"client"`        // as the browser gave it
	Sig     []byte `json:"signature"`
}

// NoteSigning writes down what needs a passkey from now on, if that is news: a
// missing signature then shows in the trail.
func (g *Gate) NoteSigning(ctx context.Context, what string) error {
	return g.store.Update(ctx, func(tx Tx) error {
		ctl, err := tx.Control()
		if err != nil || ctl.Signing == what {
			return err
		}
		ctl.Signing = what
		if err := tx.SaveControl(ctl); err != nil {
			return err
		}
		return tx.Record(Event{Kind: SigningChosen, By: Actor{Kind: GatewayActor}, At: tx.Now(), Body: eventBody(struct {
			Signing string `json:"signing"`
		}{cmp.Or(what, "off")})})
	})
}

// unsigned reports whether an allow lacks the passkey's word that it needs.
func (g *Gate) unsigned(c *Call, d Decision) bool {
	return g.Signs != nil && d.State == Allowed && d.Signed == nil && g.Signs(c, d)
}

// loosens reports whether a session would be asked less in the next mode than
// in the one it has, or for longer.
func (g *Gate) loosens(s *Session, next ModeChoice) bool {
	rules := ModeDefault
	if p, ok := g.policy.(Moding); ok {
		m, _ := p.ModeOf(s)
		rules = cmp.Or(m, rules)
	}
	now := cmp.Or(s.ModeAt(next.At), rules)
	rank := func(m Mode) int { return slices.Index(Modes(), m) }
	ends := s.Chosen.Until
	longer := !ends.IsZero() && (next.Until.IsZero() || next.Until.After(ends))
	return rank(next.Mode) > rank(now) || rank(next.Mode) > rank(rules) && longer
}
