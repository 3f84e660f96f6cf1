package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/passkey/passkeytest"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/server"
)

const (
	atName     = "localhost:7474"
	nameOrigin = "http://" + atName
)

// newSigningWorld is a world where every allow needs a passkey.
func newSigningWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.gate.Signs = func(*gatelatch.Call, gatelatch.Decision) bool { return true }
	file := policy.Open(t.TempDir() + "/policy.yaml")
	srv, err := server.New(server.Options{
		Gate: w.gate, Auth: w.auth, URL: nameOrigin, Version: "test", Log: slog.New(slog.DiscardHandler), Signing: "all", Rules: file,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.srv = srv
	for to, door := range map[*http.Handler]server.Door{&w.tcp: server.BrowserDoor(host).Named("localhost"), &w.people: server.ApproverDoor()} {
		h, err := srv.Handler(door)
		if err != nil {
			t.Fatal(err)
		}
		*to = held(t, h)
	}
	w.loginNear()
	return w
}

// loginNear logs the browser in at the name, by a link from the socket.
func (w *world) loginNear() {
	w.t.Helper()
	var code api.LoginCode
	decode(w.t, send(w.people, socket(w.as(w.request("POST", "/v1/login-codes", api.None{}), "command"))), http.StatusOK, &code)
	_, secret, ok := strings.Cut(code.URL, nameOrigin+"/login#c=")
	if !ok {
		w.t.Fatalf("the link is %s", code.URL)
	}
	r := w.request("POST", "/v1/login", api.Login{Code: secret})
	r.Host = atName
	r.Header.Set("Origin", nameOrigin)
	res := send(w.tcp, r)
	var in api.LoggedIn
	decode(w.t, res, http.StatusOK, &in)
	w.page, w.cookie = in.Page, res.Result().Cookies()[0].Value
}

// there makes a request one of the page at the name.
func (w *world) there(method, path string, body any) *http.Request {
	r := w.as(w.request(method, path, body), "browser")
	r.Host = atName
	if method != http.MethodGet {
		r.Header.Set("Origin", nameOrigin)
	}
	return r
}

// signs adds the device's signature, as the page does.
func (w *world) signs(r *http.Request, d *passkeytest.Device, body any) *http.Request {
	w.t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	now := time.Now()
	text := passkey.Request{At: now, Method: r.Method, Target: r.URL.RequestURI(), Says: api.Says(body), Body: gatelatch.SumOf(raw)}.Text()
	r.Header.Set(api.SignedHeader, auth.Stamp(now, d.Credential, d.Sign(w.t, nameOrigin, text)))
	return r
}

func addOf(d *passkeytest.Device) api.AddPasskey {
	b64 := base64.RawURLEncoding.EncodeToString
	return api.AddPasskey{Name: "laptop", Credential: b64(d.Credential), PublicKey: b64(d.Public)}
}

func (w *world) enrol() (*passkeytest.Device, api.Passkey) {
	w.t.Helper()
	d := passkeytest.New(w.t, "localhost")
	var k api.Passkey
	decode(w.t, send(w.tcp, w.there("POST", "/v1/passkeys", addOf(d))), http.StatusOK, &k)
	if !k.Here || !k.Yours || k.Domain != "localhost" {
		w.t.Errorf("%+v", k)
	}
	return d, k
}

// How a request of people is held: never, by a signature, or by one unless it
// comes by the approver's socket.
type hold string

const (
	free   hold = ""
	signed hold = "signed"
	orNear hold = "signed or near"
)

// holds is the expectation for every route of people that has a body. A new
// route fails until somebody says here whether it loosens something.
var holds = map[string]hold{
	"Decide": signed, "SetMode": signed, "AddRule": signed, "PhoneLink": signed, "AddPasskey": signed,
	"ApplyPolicy": orNear, "AddKey": orNear, "RotateKey": orNear, "LoginCode": orNear, "Unpause": orNear, "Unmute": orNear, "RemovePasskey": orNear,
	"Edit": free, "TryMatch": free, "RevokeGrant": free, "Interrupt": free, "Explain": free, "Suggest": free, "TryRule": free, "Subscribe": free,
	"Unsubscribe": free, "Look": free, "TryChannels": free, "Pause": free, "Logout": free, "RevokeKey": free,
}

func TestWhatLoosensIsSigned(t *testing.T) {
	w := newSigningWorld(t)
	d, _ := w.enrol()
	for _, rt := range api.Routes {
		if rt.In == nil || rt.Role == api.Agents || rt.Role == api.Anybody || rt.Role == api.Bearers {
			continue
		}
		want, known := holds[rt.Name]
		if !known {
			t.Errorf("%s: does it loosen something?", rt.Name)
		}
		if rt.Name == "Logout" {
			continue // at the end, or nobody is left to ask
		}
		// Each time with something new: what is settled needs no signature.
		try := func(near, sign bool) *httptest.ResponseRecorder {
			body, path := w.loosening(rt)
			h := w.tcp
			var r *http.Request
			switch {
			case near:
				h, r = w.people, socket(w.as(w.request(rt.Method, path, body), "command"))
			case rt.Role == api.Commands || rt.Role == api.Keyed:
				r = w.as(w.request(rt.Method, path, body), "command")
				r.Host = atName
			default:
				r = w.there(rt.Method, path, body)
			}
			if sign {
				r = w.signs(r, d, body)
			}
			return send(h, r)
		}
		if got := codeOf(try(false, false)); (got == "unsigned") != (want != free) {
			t.Errorf("%s, unsigned: %q", rt.Name, got)
		}
		if got := codeOf(try(false, true)); got == "unsigned" || got == "signature" {
			t.Errorf("%s, signed: %q", rt.Name, got)
		}
		if got := codeOf(try(true, false)); (got == "unsigned") != (want == signed && rt.Name != "AddPasskey") {
			t.Errorf("%s at the socket, unsigned: %q", rt.Name, got)
		}
	}
}

// loosening is a request that loosens something, if the route can.
func (w *world) loosening(rt api.Route) (body any, path string) {
	id, body := "none", rt.In
	switch rt.Name {
	case "Decide":
		c := w.proposeTo().Calls[0]
		id, body = c.ID, api.Decision{State: "allowed", Digest: c.Digest}
	case "SetMode":
		w.proposeTo()
		body = api.SetMode{Agent: w.key(w.ask).ID, Session: "s1", Mode: "bypassPermissions", For: 3600}
	case "AddRule":
		body = api.AddRule{Effect: "allow", Match: "Bash(ls)", Call: "none", Digest: "none"}
	case "AddKey":
		body = api.AddKey{Name: "otto", Role: "approver"}
	case "AddPasskey":
		body = addOf(passkeytest.New(w.t, "localhost"))
	case "RemovePasskey":
		_, k, err := w.another()
		if err != nil {
			w.t.Fatal(err)
		}
		id = k.ID
	}
	return body, strings.ReplaceAll(rt.Path, "{id}", id)
}

// another enrols one more passkey, past the API.
func (w *world) another() (*passkeytest.Device, *gatelatch.Key, error) {
	d := passkeytest.New(w.t, "localhost")
	k, err := w.auth.AddPasskey(w.t.Context(), auth.Enrolment{Name: "spare", Credential: d.Credential, Public: d.Public, RP: d.RP}, w.key(w.decide), &gatelatch.Signature{})
	return d, k, err
}

// proposeTo has a call wait.
func (w *world) proposeTo() api.Batch {
	w.t.Helper()
	return w.propose("m"+time.Now().Format("150405.000000000"), "git push")
}

// What tightens is free, with a session that has no passkey at hand.
func TestWhatTightensIsNotSigned(t *testing.T) {
	w := newSigningWorld(t)
	w.enrol()
	c := w.proposeTo().Calls[0]
	for _, tt := range []struct {
		path string
		body any
	}{
		{"/v1/calls/" + c.ID + "/decision", api.Decision{State: "denied", Digest: c.Digest}},
		{"/v1/sessions/mode", api.SetMode{Agent: w.key(w.ask).ID, Session: "s1", Mode: "plan"}},
		{"/v1/pause", api.PauseRequest{}},
	} {
		if res := send(w.tcp, w.there("POST", tt.path, tt.body)); res.Code != http.StatusOK {
			t.Errorf("%s: %d %s", tt.path, res.Code, res.Body)
		}
	}
	deny := api.AddRule{Effect: "deny", Match: "Bash(ls)", Call: c.ID, Digest: "none"}
	if got := codeOf(send(w.tcp, w.there("POST", "/v1/rules", deny))); got == "unsigned" {
		t.Error("a rule that denies needs a signature")
	}
	agent := w.as(w.request("POST", "/v1/keys", api.AddKey{Name: "ci", Role: "agent"}), "command")
	if res := send(w.tcp, agent); res.Code != http.StatusOK {
		t.Errorf("a key that only asks: %d %s", res.Code, res.Body)
	}
}

// A stolen session, both halves, and a signature that was seen on its way allow
// nothing: not again, not another call, not with other words.
func TestStolenSessionAllowsNothing(t *testing.T) {
	w := newSigningWorld(t)
	d, k := w.enrol()
	c, other := w.proposeTo().Calls[0], w.proposeTo().Calls[0]
	allow := api.Decision{State: "allowed", Digest: c.Digest}
	path := "/v1/calls/" + c.ID + "/decision"
	stamp := w.signs(w.there("POST", path, allow), d, allow).Header.Get(api.SignedHeader)
	with := func(path string, body any, stamp string) *httptest.ResponseRecorder {
		r := w.there("POST", path, body)
		r.Header.Set(api.SignedHeader, stamp)
		return send(w.tcp, r)
	}
	more := allow
	more.Remember = &api.Terms{Scope: "always", Match: "Bash(git:*)"}
	for name, res := range map[string]*httptest.ResponseRecorder{
		"another call":  with("/v1/calls/"+other.ID+"/decision", api.Decision{State: "allowed", Digest: other.Digest}, stamp),
		"more is asked": with(path, more, stamp),
		"another page":  with(path, allow, w.stampAt(path, allow, d, "http://localhost:7475")),
		"a new passkey": with("/v1/passkeys", addOf(passkeytest.New(t, "localhost")), stamp),
		"a device nobody knows": with(path, allow, func() string {
			return w.signs(w.there("POST", path, allow), passkeytest.New(t, "localhost"), allow).Header.Get(api.SignedHeader)
		}()),
	} {
		if res.Code != http.StatusForbidden || codeOf(res) != "signature" {
			t.Errorf("%s: %d %s", name, res.Code, res.Body)
		}
	}
	var done api.Call
	decode(t, with(path, allow, stamp), http.StatusOK, &done)
	if res := with(path, allow, stamp); codeOf(res) != "signature" || !strings.Contains(res.Body.String(), "used before") {
		t.Errorf("again: %d %s", res.Code, res.Body)
	}
	if done.State != "allowed" {
		t.Errorf("the person's own: %s", done.State)
	}
	// The trail holds it, with the enrolment that it is checked by.
	var trail api.Trail
	decode(t, send(w.tcp, w.there("GET", "/v1/trail", nil)), http.StatusOK, &trail)
	enrolled, decided := false, false
	for _, e := range trail.Events {
		var body struct {
			Key     string
			Passkey *gatelatch.Passkey
			Signed  *gatelatch.Signature
		}
		if err := json.Unmarshal(e.Body, &body); e.Body != nil && err != nil {
			t.Fatal(err)
		}
		enrolled = enrolled || e.Kind == "key.created" && body.Key == k.ID && bytes.Equal(body.Passkey.Public, d.Public)
		decided = decided || e.Kind == "call.decided" && e.Call == c.ID && body.Signed != nil && body.Signed.Passkey == k.ID
	}
	if !enrolled || !decided {
		t.Errorf("in the trail: enrolled %v, decided %v", enrolled, decided)
	}
}

func (w *world) stampAt(path string, body any, d *passkeytest.Device, origin string) string {
	w.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	now := time.Now()
	text := passkey.Request{At: now, Method: "POST", Target: path, Says: api.Says(body), Body: gatelatch.SumOf(append(raw, '\n'))}.Text()
	return auth.Stamp(now, d.Credential, d.Sign(w.t, origin, text))
}

// Without a passkey nothing can be allowed, and only a browser that has just
// logged in here adds the first.
func TestFirstPasskey(t *testing.T) {
	w := newSigningWorld(t)
	c := w.proposeTo().Calls[0]
	allow := api.Decision{State: "allowed", Digest: c.Digest}
	var p api.Problem
	decode(t, send(w.tcp, w.there("POST", "/v1/calls/"+c.ID+"/decision", allow)), http.StatusForbidden, &p)
	if p.Code != "unsigned" || !strings.Contains(p.Hint, "Add a passkey") {
		t.Errorf("%+v", p)
	}
	add := addOf(passkeytest.New(t, "localhost"))
	if res := send(w.tcp, w.as(w.request("POST", "/v1/passkeys", add), "browser")); codeOf(res) != "invalid" || !strings.Contains(res.Body.String(), "gatelatch open") {
		t.Errorf("at an address: %d %s", res.Code, res.Body)
	}
	w.enrol()
	var list api.Passkeys
	decode(t, send(w.tcp, w.there("GET", "/v1/passkeys", nil)), http.StatusOK, &list)
	if list.Signing != "all" || len(list.Passkeys) != 1 || !list.Passkeys[0].Here || !list.Passkeys[0].Yours {
		t.Errorf("%+v", list)
	}
}
