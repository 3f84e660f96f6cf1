package auth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/passkey/passkeytest"
)

const (
	here   = "localhost"
	origin = "http://localhost:7474"
)

// near logs a browser in by a link from the approver's socket.
func (w *world) near(by *gatelatch.Key, domain string) *gatelatch.Key {
	w.t.Helper()
	code, _, err := w.NearCode(w.t.Context(), by)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _, k, err := w.LoginAt(w.t.Context(), code, "here", domain)
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

func enrolment(d *passkeytest.Device) auth.Enrolment {
	return auth.Enrolment{Name: "laptop", Credential: d.Credential, Public: d.Public, RP: d.RP}
}

// enrol adds the device as a person's first.
func (w *world) enrol(by *gatelatch.Key, d *passkeytest.Device) *gatelatch.Key {
	w.t.Helper()
	k, err := w.AddPasskey(w.t.Context(), enrolment(d), by, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// asked is an allow as the page sends it.
func asked() auth.Signing {
	return auth.Signing{Method: "POST", Target: "/v1/calls/cal_1/decision", Says: "allowed ab", Body: []byte(`{"state":"allowed","digest":"ab"}`), Origin: origin, Header: http.Header{}}
}

// stamp signs r as the page does, at a time of its clock.
func stamp(t *testing.T, r auth.Signing, d *passkeytest.Device, at time.Time) string {
	t.Helper()
	text := passkey.Request{At: at, Method: r.Method, Target: r.Target, Says: r.Says, Body: gatelatch.SumOf(r.Body)}.Text()
	return auth.Stamp(at, d.Credential, d.Sign(t, r.Origin, text))
}

func with(r auth.Signing, headers ...string) auth.Signing {
	r.Header = http.Header{api.SignedHeader: headers}
	return r
}

// SEC-15: a signature is of this person's passkey, fresh, about this request,
// and counts once.
func TestSignedRequests(t *testing.T) {
	w := newWorld(t)
	browser, d := w.near(w.command, here), passkeytest.New(t, here)
	k := w.enrol(browser, d)
	refused := func(name, want string, r auth.Signing, by *gatelatch.Key) {
		t.Helper()
		if s, err := w.Signed(t.Context(), r, by); !errors.Is(err, gatelatch.ErrSignature) || !strings.Contains(err.Error(), want) || s != nil {
			t.Errorf("%s: %v, %v, want one with %q", name, s, err, want)
		}
	}
	if s, err := w.Signed(t.Context(), asked(), browser); s != nil || err != nil {
		t.Errorf("no signature: %v, %v", s, err)
	}
	now := w.time()
	good := stamp(t, asked(), d, now)
	for name, change := range map[string]func(*auth.Signing){
		"another call": func(r *auth.Signing) { r.Target = "/v1/calls/cal_2/decision" }, "another body": func(r *auth.Signing) { r.Body = []byte("{}") },
		"another digest": func(r *auth.Signing) { r.Says = "allowed cd" }, "another method": func(r *auth.Signing) { r.Method = "PUT" },
	} {
		r := with(asked(), good)
		change(&r)
		refused(name, "something else was signed", r, browser)
	}
	for name, bad := range map[string]string{"nothing": "", "noise": "v1.1.a.b.c", "later version": "v2" + good[2:], "padded": good + "=", "no time": "v1.x" + good[3:], "more": good + ".x"} {
		refused(name, "can't be read", with(asked(), bad), browser)
	}
	refused("twice", "can't be read", with(asked(), good, good), browser)
	refused("a passkey nobody knows", "nobody knows", with(asked(), stamp(t, asked(), passkeytest.New(t, here), now)), browser)
	refused("too old", "too old", with(asked(), stamp(t, asked(), d, now.Add(-61*time.Second))), browser)
	refused("too young", "too old", with(asked(), stamp(t, asked(), d, now.Add(61*time.Second))), browser)
	elsewhere := asked()
	elsewhere.Origin = "http://localhost:7475"
	refused("another page", "another page", with(asked(), stamp(t, elsewhere, d, now)), browser)
	socket := with(asked(), good)
	socket.Origin = ""
	refused("at a socket", "another page", socket, browser)
	_, otto, err := w.Add(t.Context(), "otto", gatelatch.AdminRole, time.Time{}, w.command.Actor())
	if err != nil {
		t.Fatal(err)
	}
	refused("another person's", "another person's", with(asked(), good), w.near(otto, here))

	s, err := w.Signed(t.Context(), with(asked(), good), browser)
	if err != nil || s.Passkey != k.ID || !strings.Contains(s.Text, "\nallowed ab\n") {
		t.Fatalf("%+v, %v", s, err)
	}
	refused("a second time", "used before", with(asked(), good), browser)
	w.set(w.time().Add(59 * time.Second))
	refused("a second time, later", "used before", with(asked(), good), browser)
	if _, err := w.RemovePasskey(t.Context(), k.ID, browser, true, nil); err != nil {
		t.Fatal(err)
	}
	refused("removed", "nobody knows", with(asked(), stamp(t, asked(), d, w.time())), browser)
}

// A device that counts never counts back: one of two would be a copy.
func TestSignCounter(t *testing.T) {
	w := newWorld(t)
	browser, d := w.near(w.command, here), passkeytest.New(t, here)
	d.Count = 5
	w.enrol(browser, d)
	sign := func(count uint32) error {
		d.Count = count
		_, err := w.Signed(t.Context(), with(asked(), stamp(t, asked(), d, w.time())), browser)
		return err
	}
	for _, tt := range []struct {
		count uint32 // before it signs
		good  bool
	}{{6, true}, {6, false}, {5, false}, {0, false}, {8, true}} {
		if err := sign(tt.count); (err == nil) != tt.good || err != nil && !strings.Contains(err.Error(), "counter") {
			t.Errorf("count %d: %v", tt.count, err)
		}
	}
}

// No session adds a passkey of its own choice: the first at a domain comes right
// after a login from the approver's socket, each later one is signed for.
func TestWhoAddsAPasskey(t *testing.T) {
	w := newWorld(t)
	add := func(by *gatelatch.Key, rp string, signed *gatelatch.Signature) error {
		_, err := w.AddPasskey(t.Context(), enrolment(passkeytest.New(t, rp)), by, signed)
		return err
	}
	far, _, err := w.Code(t.Context(), w.command)
	if err != nil {
		t.Fatal(err)
	}
	_, _, stolen, err := w.LoginAt(t.Context(), far, "here", here)
	if err != nil {
		t.Fatal(err)
	}
	old := w.near(w.command, here)
	w.set(w.time().Add(11 * time.Minute))
	fresh := w.near(w.command, here)
	for name, by := range map[string]*gatelatch.Key{"by a link from elsewhere": stolen, "an old session": old, "the command line": w.command, "logged in at another domain": w.near(w.command, "gate.example.net")} {
		if err := add(by, here, nil); !errors.Is(err, gatelatch.ErrForbidden) || !strings.Contains(err.Error(), "gatelatch open") {
			t.Errorf("the first, %s: %v", name, err)
		}
	}
	if err := add(fresh, here, nil); err != nil {
		t.Fatal(err)
	}
	if err := add(fresh, here, nil); !errors.Is(err, gatelatch.ErrUnsigned) {
		t.Errorf("a second one, unsigned: %v", err)
	}
	if err := add(stolen, "gate.example.net", nil); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("one at another domain by a session from here: %v", err)
	}
	if err := add(old, here, &gatelatch.Signature{}); err != nil {
		t.Errorf("a second one, signed for: %v", err)
	}
	if err := add(w.near(w.command, "gate.example.net"), "gate.example.net", nil); err != nil {
		t.Errorf("the first at another domain: %v", err)
	}
	if ks, err := w.Passkeys(t.Context(), fresh); err != nil || len(ks) != 3 {
		t.Errorf("%d, %v", len(ks), err)
	}
	if ks, err := w.Keys(t.Context(), true); err != nil || len(ks) < 2 {
		t.Errorf("%d, %v", len(ks), err)
	} else {
		for _, k := range ks {
			if k.Kind == gatelatch.PasskeyKey {
				t.Error("a passkey lets nobody in, and is listed among what does")
			}
		}
	}
}

func TestPasskeysThatAreNotTaken(t *testing.T) {
	w := newWorld(t)
	browser := w.near(w.command, here)
	for name, change := range map[string]func(*auth.Enrolment){
		"no name": func(e *auth.Enrolment) { e.Name = " " }, "no credential": func(e *auth.Enrolment) { e.Credential = nil },
		"a long credential": func(e *auth.Enrolment) { e.Credential = make([]byte, 1024) }, "no key": func(e *auth.Enrolment) { e.Public = nil },
		"an address": func(e *auth.Enrolment) { e.RP = "127.0.0.1" }, "no domain": func(e *auth.Enrolment) { e.RP = "" }, "IPv6": func(e *auth.Enrolment) { e.RP = "::1" },
	} {
		e := enrolment(passkeytest.New(t, here))
		change(&e)
		if _, err := w.AddPasskey(t.Context(), e, browser, nil); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := passkeytest.New(t, here)
	k := w.enrol(browser, d)
	if _, err := w.AddPasskey(t.Context(), enrolment(d), browser, &gatelatch.Signature{}); !errors.Is(err, gatelatch.ErrConflict) {
		t.Errorf("the same again: %v", err)
	}
	for _, secret := range []string{string(d.Credential), string(d.Public), k.ID} {
		if got, err := w.Verify(t.Context(), auth.Request{Header: http.Header{"Authorization": {"Bearer " + secret}}}); !errors.Is(err, auth.ErrNobody) {
			t.Errorf("a passkey lets %v in: %v", got.Key, err)
		}
	}
}

// Removing the last one would let a thief begin anew, so it is signed for, or
// done on the gateway's own machine.
func TestWhoRemovesAPasskey(t *testing.T) {
	w := newWorld(t)
	browser := w.near(w.command, here)
	k := w.enrol(browser, passkeytest.New(t, here))
	_, otto, err := w.Add(t.Context(), "otto", gatelatch.ApproverRole, time.Time{}, w.command.Actor())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		id   string
		by   *gatelatch.Key
		near bool
		want error
	}{
		"by a session":        {k.ID, browser, false, gatelatch.ErrUnsigned},
		"by another approver": {k.ID, otto, true, gatelatch.ErrForbidden},
		"what is no passkey":  {w.command.ID, browser, true, gatelatch.ErrNotFound},
		"what is not there":   {"key_none", browser, true, gatelatch.ErrNotFound},
	} {
		if _, err := w.RemovePasskey(t.Context(), tt.id, tt.by, tt.near, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Revoke(t.Context(), k.ID, browser.Actor()); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("as if it were a key: %v", err)
	}
	if gone, err := w.RemovePasskey(t.Context(), k.ID, w.command, true, nil); err != nil || gone.Revoked.IsZero() {
		t.Errorf("on this machine: %v", err)
	}
	if _, err := w.RemovePasskey(t.Context(), k.ID, browser, false, nil); err != nil {
		t.Errorf("again: %v", err)
	}
}
