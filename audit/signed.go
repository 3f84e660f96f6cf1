package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/passkey"
)

const (
	// signedSlack is how far an event may be from the time that was signed.
	signedSlack = 5 * time.Minute
	// post is the method of all that is signed; net/http is too much for a word.
	post = "POST"
)

// signatures checks what passkeys have signed, by their enrolment in the same
// trail.
type signatures struct {
	keys  map[string]*gatelatch.Passkey
	grant noted     // the last that was made: its decision comes right after it
	made  time.Time // the grant
	all   bool      // every allow of a person is signed
	count int64
}

// said is what a signed body comes to; see api.Says.
type said []any

func (w said) text(i int) string {
	if i < len(w) {
		s, _ := w[i].(string)
		return s
	}
	return ""
}

func (w said) number(i int) int64 {
	if i < len(w) {
		n, _ := w[i].(float64)
		return int64(n)
	}
	return 0
}

// noted is what bodies of events have that matters here.
type noted struct {
	Key     string               `json:"key"`
	Kind    gatelatch.KeyKind    `json:"kind"`
	Passkey *gatelatch.Passkey   `json:"passkey"`
	Signed  *gatelatch.Signature `json:"signed"`
	State   gatelatch.State      `json:"state"`
	Digest  string               `json:"digest"`
	Grant   string               `json:"grant"`
	Mode    string               `json:"mode"`
	Agent   string               `json:"agent"`
	Session string               `json:"session"`
	Until   time.Time            `json:"until"`
	Match   string               `json:"match"`
	Scope   string               `json:"scope"`
	Uses    int64                `json:"uses"`
	Signing string               `json:"signing"`
}

// matters is cheap: most of a trail does not.
func (s *signatures) matters(e *gatelatch.Event) bool {
	switch e.Kind {
	case gatelatch.CallDecided, gatelatch.ModeChosen, gatelatch.RequestSigned:
		return s.all || bytes.Contains(e.Body, []byte(`"signed":{`))
	case gatelatch.KeyCreated, gatelatch.KeyRevoked:
		return bytes.Contains(e.Body, []byte(`"passkey"`))
	case gatelatch.GrantMade, gatelatch.SigningChosen:
		return true
	default:
		return false
	}
}

func (s *signatures) next(e *gatelatch.Event) error {
	if !s.matters(e) {
		return nil
	}
	var n noted
	if err := json.Unmarshal(e.Body, &n); err != nil {
		return fmt.Errorf("event %d: its body can't be read", e.Seq)
	}
	if err := s.check(e, &n); err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	switch {
	case e.Kind == gatelatch.GrantMade:
		s.grant, s.made = n, e.At
	case e.Kind == gatelatch.SigningChosen:
		s.all = n.Signing == "all"
	case e.Kind == gatelatch.KeyCreated && n.Kind == gatelatch.PasskeyKey && n.Passkey != nil:
		if s.keys == nil {
			s.keys = map[string]*gatelatch.Passkey{}
		}
		s.keys[n.Key] = n.Passkey
	case e.Kind == gatelatch.KeyRevoked:
		delete(s.keys, n.Key)
	}
	return nil
}

func (s *signatures) check(e *gatelatch.Event, n *noted) error {
	if n.Signed == nil {
		if s.all && e.Kind == gatelatch.CallDecided && n.State == gatelatch.Allowed && e.By.Kind == gatelatch.PersonActor {
			return errors.New("it allows without the signature that every allow had to have")
		}
		return nil
	}
	key := s.keys[n.Signed.Passkey]
	if key == nil {
		return errors.New("it is signed by a passkey that nobody had enrolled")
	}
	a := passkey.Assertion{Data: n.Signed.Data, Client: n.Signed.Client, Sig: n.Signed.Sig}
	if _, err := passkey.Verify(key.Public, key.RP, "", n.Signed.Text, a); err != nil {
		return fmt.Errorf("its signature is not good: %w", err)
	}
	r, err := passkey.ParseText(n.Signed.Text)
	if err != nil {
		return err
	}
	if d := e.At.Sub(r.At); d > signedSlack || d < -signedSlack {
		return errors.New("it was signed at another time")
	}
	var w said
	if r.Says != "" && json.Unmarshal([]byte(r.Says), &w) != nil {
		return errors.New("what was signed can't be read")
	}
	if r.Method != post || !s.fits(e, n, r.Target, w) {
		return errors.New("something else was signed than it says")
	}
	s.count++
	return nil
}

// fits reports whether the event says what was signed.
func (s *signatures) fits(e *gatelatch.Event, n *noted, target string, w said) bool {
	switch e.Kind {
	case gatelatch.CallDecided:
		return target == "/v1/calls/"+e.Call+"/decision" && w.text(0) == string(n.State) && w.text(1) == n.Digest && s.remembers(n.Grant, w)
	case gatelatch.ModeChosen:
		if target != "/v1/sessions/mode" { // a plan's, with its decision
			return w.text(2) == n.Mode && n.Mode != ""
		}
		return w.text(0) == n.Mode && w.text(1) == n.Agent && w.text(2) == n.Session && lasts(e.At, n.Until, w.number(3))
	case gatelatch.KeyCreated:
		return n.Passkey != nil && target == "/v1/passkeys" && w.text(0) == base64.RawURLEncoding.EncodeToString(n.Passkey.Credential)
	case gatelatch.KeyRevoked:
		return target == "/v1/passkeys/"+n.Key+"/remove"
	default:
		return e.Kind == gatelatch.RequestSigned
	}
}

// remembers reports whether the grant has the terms that were signed.
func (s *signatures) remembers(grant string, w said) bool {
	const scope, match, length, uses = 3, 4, 5, 6
	if grant == "" || len(w) <= scope {
		return grant == "" && len(w) <= scope
	}
	g := s.grant
	return g.Grant == grant && w.text(scope) == g.Scope && w.text(match) == g.Match && w.number(uses) == g.Uses && lasts(s.made, g.Until, w.number(length))
}

// lasts reports whether until is that many seconds after at; 0 is for ever.
func lasts(at, until time.Time, seconds int64) bool {
	if seconds == 0 || until.IsZero() {
		return seconds == 0 && until.IsZero()
	}
	d := until.Sub(at) - time.Duration(seconds)*time.Second
	return d > -time.Minute && d < time.Minute
}
