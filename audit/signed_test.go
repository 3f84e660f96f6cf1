package audit_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/passkey/passkeytest"
)

const origin = "http://localhost:7474"

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// story is events as a gateway writes them, to be changed and linked anew: by
// whoever can write the database.
type story struct {
	t  *testing.T
	es []gatelatch.Event
}

func (s *story) add(kind gatelatch.EventKind, call string, body map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.es = append(s.es, gatelatch.Event{
		Kind: kind, Call: call, At: noon.Add(time.Duration(len(s.es)) * time.Second), Body: raw, By: gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_b"},
	})
}

// change replaces fields of the body of one event; nil takes one out.
func (s *story) change(i int, fields map[string]any) {
	s.t.Helper()
	var body map[string]any
	if err := json.Unmarshal(s.es[i].Body, &body); err != nil {
		s.t.Fatal(err)
	}
	maps.Copy(body, fields)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.es[i].Body = raw
}

func (s *story) verify() (audit.Report, error) {
	v := audit.NewVerifier(nil)
	var prev gatelatch.Sum
	for i, e := range s.es {
		e.Seq, e.Prev = gatelatch.Seq(i+1), prev
		e.Link = audit.Link(e)
		prev = e.Link
		if err := v.Next(e); err != nil {
			return v.Report(), err
		}
	}
	return v.Report(), v.End()
}

func sign(t *testing.T, d *passkeytest.Device, at time.Time, target string, said ...any) *gatelatch.Signature {
	t.Helper()
	says := ""
	if len(said) > 0 {
		raw, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		says = string(raw)
	}
	text := passkey.Request{At: at, Method: "POST", Target: target, Says: says}.Text()
	a := d.Sign(t, origin, text)
	return &gatelatch.Signature{Passkey: "key_p", Text: text, Data: a.Data, Client: a.Client, Sig: a.Sig}
}

// The events of tell, by what they are about.
const (
	chosen = iota
	enrolled
	allowed
	granted
	remembered
	mode
	plan
	planMode
	second
	asked
	removed
	denied
)

func tell(t *testing.T) (*story, *passkeytest.Device) {
	d, d2 := passkeytest.New(t, "localhost"), passkeytest.New(t, "localhost")
	s := &story{t: t}
	enrol := func(id string, d *passkeytest.Device, signed *gatelatch.Signature) {
		body := map[string]any{"key": id, "kind": "passkey", "passkey": gatelatch.Passkey{Credential: d.Credential, Public: d.Public, RP: d.RP}}
		if signed != nil {
			body["signed"] = signed
		}
		s.add(gatelatch.KeyCreated, "", body)
	}
	s.add(gatelatch.SigningChosen, "", map[string]any{"signing": "all"})
	enrol("key_p", d, nil)
	s.add(gatelatch.CallDecided, "cal_1", map[string]any{"state": "allowed", "digest": "d1", "signed": sign(t, d, noon, "/v1/calls/cal_1/decision", "allowed", "d1", "")})
	s.add(gatelatch.GrantMade, "cal_2", map[string]any{"grant": "gra_1", "match": "m", "scope": "project", "uses": 3, "until": noon.Add(63 * time.Second)})
	s.add(gatelatch.CallDecided, "cal_2", map[string]any{"state": "allowed", "digest": "d2", "grant": "gra_1", "signed": sign(t, d, noon, "/v1/calls/cal_2/decision", "allowed", "d2", "", "project", "m", 60, 3)})
	s.add(gatelatch.ModeChosen, "", map[string]any{"agent": "a", "session": "s\n", "mode": "bypassPermissions", "until": noon.Add(time.Hour), "signed": sign(t, d, noon, "/v1/sessions/mode", "bypassPermissions", "a", "s\n", 3600)})
	both := sign(t, d, noon, "/v1/calls/cal_3/decision", "allowed", "d3", "acceptEdits")
	s.add(gatelatch.CallDecided, "cal_3", map[string]any{"state": "allowed", "digest": "d3", "signed": both})
	s.add(gatelatch.ModeChosen, "", map[string]any{"agent": "a", "session": "s", "mode": "acceptEdits", "signed": both})
	enrol("key_q", d2, sign(t, d, noon, "/v1/passkeys", base64.RawURLEncoding.EncodeToString(d2.Credential)))
	s.add(gatelatch.RequestSigned, "", map[string]any{"signed": sign(t, d, noon, "/v1/phone-link")})
	s.add(gatelatch.KeyRevoked, "", map[string]any{"key": "key_q", "kind": "passkey", "signed": sign(t, d, noon, "/v1/passkeys/key_q/remove")})
	s.add(gatelatch.CallDecided, "cal_4", map[string]any{"state": "denied", "digest": "d4"})
	return s, d
}

// Whoever writes the trail anew and links it still has no passkey.
func TestSignaturesInTheTrail(t *testing.T) {
	good, _ := tell(t)
	if r, err := good.verify(); err != nil || r.Signatures != 8 || r.Events != 12 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, tt := range map[string]struct {
		at     int
		change func(s *story, d *passkeytest.Device)
		want   string
	}{
		"another digest":    {allowed, func(s *story, _ *passkeytest.Device) { s.change(allowed, map[string]any{"digest": "d9"}) }, "something else was signed"},
		"another call":      {allowed, func(s *story, _ *passkeytest.Device) { s.es[allowed].Call = "cal_9" }, "something else was signed"},
		"no signature":      {allowed, func(s *story, _ *passkeytest.Device) { s.change(allowed, map[string]any{"signed": nil}) }, "without the signature"},
		"a denial turned":   {denied, func(s *story, _ *passkeytest.Device) { s.change(denied, map[string]any{"state": "allowed"}) }, "without the signature"},
		"another time":      {allowed, func(s *story, _ *passkeytest.Device) { s.es[allowed].At = noon.Add(time.Hour) }, "at another time"},
		"a grant added":     {allowed, func(s *story, _ *passkeytest.Device) { s.change(allowed, map[string]any{"grant": "gra_1"}) }, "something else was signed"},
		"a grant taken out": {remembered, func(s *story, _ *passkeytest.Device) { s.change(remembered, map[string]any{"grant": nil}) }, "something else was signed"},
		"a wider grant":     {remembered, func(s *story, _ *passkeytest.Device) { s.change(granted, map[string]any{"scope": "always"}) }, "something else was signed"},
		"another matcher":   {remembered, func(s *story, _ *passkeytest.Device) { s.change(granted, map[string]any{"match": "x"}) }, "something else was signed"},
		"a longer grant":    {remembered, func(s *story, _ *passkeytest.Device) { s.change(granted, map[string]any{"until": nil}) }, "something else was signed"},
		"more uses":         {remembered, func(s *story, _ *passkeytest.Device) { s.change(granted, map[string]any{"uses": 4}) }, "something else was signed"},
		"another session":   {mode, func(s *story, _ *passkeytest.Device) { s.change(mode, map[string]any{"session": "s"}) }, "something else was signed"},
		"a longer mode": {mode, func(s *story, _ *passkeytest.Device) {
			s.change(mode, map[string]any{"until": noon.Add(9 * time.Hour)})
		}, "something else was signed"},
		"a plan's other mode": {planMode, func(s *story, _ *passkeytest.Device) { s.change(planMode, map[string]any{"mode": "bypassPermissions"}) }, "something else was signed"},
		"another new passkey": {second, func(s *story, d *passkeytest.Device) {
			s.change(second, map[string]any{"passkey": gatelatch.Passkey{Credential: d.Credential, Public: d.Public}})
		}, "something else was signed"},
		"another removed": {removed, func(s *story, _ *passkeytest.Device) { s.change(removed, map[string]any{"key": "key_p"}) }, "something else was signed"},
		"another enrolled key": {allowed, func(s *story, _ *passkeytest.Device) {
			s.change(enrolled, map[string]any{"passkey": gatelatch.Passkey{Public: passkeytest.New(t, "localhost").Public, RP: "localhost"}})
		}, "not this passkey's"},
		"another domain": {allowed, func(s *story, d *passkeytest.Device) {
			s.change(enrolled, map[string]any{"passkey": gatelatch.Passkey{Public: d.Public, RP: "example.net"}})
		}, "another page"},
		"nobody enrolled": {allowed, func(s *story, _ *passkeytest.Device) { s.change(enrolled, map[string]any{"kind": "browser"}) }, "nobody had enrolled"},
		"signed anew": {asked, func(s *story, _ *passkeytest.Device) {
			s.change(asked, map[string]any{"signed": sign(t, passkeytest.New(t, "localhost"), noon, "/v1/phone-link")})
		}, "not this passkey's"},
		"after it was removed": {denied, func(s *story, d *passkeytest.Device) {
			s.change(removed, map[string]any{"key": "key_p", "signed": nil})
			s.change(denied, map[string]any{"state": "allowed", "signed": sign(t, d, noon, "/v1/calls/cal_4/decision", "allowed", "d4", "")})
		}, "nobody had enrolled"},
		"a read request": {allowed, func(s *story, d *passkeytest.Device) {
			text := strings.Replace(sign(t, d, noon, "/v1/calls/cal_1/decision", "allowed", "d1", "").Text, "POST", "GET", 1)
			a := d.Sign(t, origin, text)
			s.change(allowed, map[string]any{"signed": gatelatch.Signature{Passkey: "key_p", Text: text, Data: a.Data, Client: a.Client, Sig: a.Sig}})
		}, "something else was signed"},
	} {
		s, d := tell(t)
		tt.change(s, d)
		_, err := s.verify()
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("event %d: ", tt.at+1)) {
			t.Errorf("%s: %v, want one of event %d with %q", name, err, tt.at+1, tt.want)
		}
	}
}

// Where not everything had to be signed, what has no signature is no fault.
func TestTrailWithoutSignatures(t *testing.T) {
	for _, signing := range []string{"off", "risky"} {
		s, _ := tell(t)
		s.change(chosen, map[string]any{"signing": signing})
		s.change(allowed, map[string]any{"signed": nil})
		if r, err := s.verify(); err != nil || r.Signatures != 7 {
			t.Errorf("%s: %+v, %v", signing, r, err)
		}
	}
}
