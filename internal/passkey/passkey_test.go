package passkey_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/passkey/passkeytest"
)

const (
	rp     = "localhost"
	origin = "http://localhost:7474"
)

func request() passkey.Request {
	return passkey.Request{At: time.UnixMilli(1_767_323_045_006), Method: "POST", Target: "/v1/calls/cal_1/decision", Says: "allowed ab", Body: sha256.Sum256([]byte("{}"))}
}

func TestKindsOfKey(t *testing.T) {
	t.Parallel()
	text := request().Text()
	for name, d := range map[string]*passkeytest.Device{
		"ES256": passkeytest.New(t, rp), "EdDSA": passkeytest.NewEdDSA(t, rp), "RS256": passkeytest.NewRS256(t, rp, 2048),
	} {
		d.Count = 41
		n, err := passkey.Verify(d.Public, rp, origin, text, d.Sign(t, origin, text))
		if err != nil || n != 42 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if _, err := passkey.Verify(d.Public, rp, "", text, d.Sign(t, origin, text)); err != nil {
			t.Errorf("%s, for an auditor: %v", name, err)
		}
	}
}

// SEC-15: whatever differs, it is no signature.
func TestEachFieldCounts(t *testing.T) {
	t.Parallel()
	text := request().Text()
	for name, tt := range map[string]struct {
		bend   func(*passkeytest.Device)
		origin string
		change func(*passkey.Assertion)
		want   string
	}{
		"another port":          {origin: "http://localhost:7475", want: "another page"},
		"another scheme":        {origin: "https://localhost:7474", want: "another page"},
		"a subdomain":           {origin: "http://evil.localhost:7474", want: "another page"},
		"no origin":             {origin: "-", want: "another page"},
		"in a frame":            {bend: func(d *passkeytest.Device) { d.Cross = true }, want: "another page"},
		"a new passkey":         {bend: func(d *passkeytest.Device) { d.Type = "webauthn.create" }, want: "no signature of a passkey in use"},
		"another domain":        {bend: func(d *passkeytest.Device) { d.RP = "example.net" }, want: "another domain"},
		"nobody there":          {bend: func(d *passkeytest.Device) { d.Flags = 0 }, want: "nobody was there"},
		"only verified":         {bend: func(d *passkeytest.Device) { d.Flags = 4 }, want: "nobody was there"},
		"presence put in later": {bend: func(d *passkeytest.Device) { d.Flags = 0 }, change: func(a *passkey.Assertion) { a.Data[32] |= 1 }, want: "not this passkey's"},
		"another counter":       {change: func(a *passkey.Assertion) { a.Data[36]++ }, want: "not this passkey's"},
		"data cut short":        {change: func(a *passkey.Assertion) { a.Data = a.Data[:36] }, want: "cut short"},
		"data with more":        {change: func(a *passkey.Assertion) { a.Data = append(a.Data, 0) }, want: "not this passkey's"},
		"client with more":      {change: func(a *passkey.Assertion) { a.Client = append(a.Client, ' ') }, want: "not this passkey's"},
		"client no JSON":        {change: func(a *passkey.Assertion) { a.Client = a.Client[1:] }, want: "can't be read"},
		"signature changed":     {change: func(a *passkey.Assertion) { a.Sig[len(a.Sig)-1] ^= 1 }, want: "not this passkey's"},
		"no signature":          {change: func(a *passkey.Assertion) { a.Sig = nil }, want: "not this passkey's"},
		"somebody else's":       {change: func(a *passkey.Assertion) { *a = passkeytest.New(t, rp).Sign(t, origin, text) }, want: "not this passkey's"},
	} {
		d := passkeytest.New(t, rp)
		if tt.bend != nil {
			tt.bend(d)
		}
		if tt.origin == "" {
			tt.origin = origin
		}
		a := d.Sign(t, strings.TrimPrefix(tt.origin, "-"), text)
		if tt.change != nil {
			tt.change(&a)
		}
		if _, err := passkey.Verify(d.Public, rp, origin, text, a); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want one with %q", name, err, tt.want)
		}
	}
}

// Any other request has another text, so that a signature fits one only.
func TestTextHoldsTheWholeRequest(t *testing.T) {
	t.Parallel()
	d, good := passkeytest.New(t, rp), request()
	a := d.Sign(t, origin, good.Text())
	for name, change := range map[string]func(*passkey.Request){
		"time": func(r *passkey.Request) { r.At = r.At.Add(time.Millisecond) }, "method": func(r *passkey.Request) { r.Method = "GET" },
		"target": func(r *passkey.Request) { r.Target += "?x" }, "words": func(r *passkey.Request) { r.Says = "denied ab" },
		"body": func(r *passkey.Request) { r.Body[0]++ },
	} {
		other := good
		change(&other)
		if _, err := passkey.Verify(d.Public, rp, origin, other.Text(), a); err == nil || !strings.Contains(err.Error(), "something else") {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if back, err := passkey.ParseText(good.Text()); err != nil || back != good {
		t.Errorf("%+v, %v", back, err)
	}
	for _, bad := range []string{"", good.Text() + "\n", "x" + good.Text(), strings.Replace(good.Text(), "\n1", "\n+1", 1), strings.ToUpper(good.Text())} {
		if r, err := passkey.ParseText(bad); err == nil {
			t.Errorf("%q is %+v", bad, r)
		}
	}
}

func TestPublicKeysThatAreNotTaken(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(p384.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"none": nil, "noise": []byte("noise"), "P-384": spki, "long": bytes.Repeat([]byte{1}, 5000), "more": append(passkeytest.New(t, rp).Public, 0),
		"weak RSA": passkeytest.NewRS256(t, rp, 1024).Public,
	} {
		if k, err := passkey.ParsePublic(raw); err == nil {
			t.Errorf("%s: %T", name, k)
		}
	}
}
