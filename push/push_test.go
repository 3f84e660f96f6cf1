package push

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func unb64(t *testing.T, s string) []byte {
	t.Helper()
	b, err := b64.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The example of RFC 8291, section 5 and appendix A.
func TestRFC8291Vector(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(unb64(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := seal([]byte("When I grow up, I want to be a watermelon"),
		unb64(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		unb64(t, "BTBZMqHH6r4Tts7J_aSIgg"), own, unb64(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if b64.EncodeToString(got) != want {
		t.Errorf("got  %s\nwant %s", b64.EncodeToString(got), want)
	}
}

// browser is the other end: it has the keys that it subscribed with.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return browser{key, auth}
}

func (b browser) at(endpoint string) Subscription {
	return Subscription{Endpoint: endpoint, P256dh: b64.EncodeToString(b.key.PublicKey().Bytes()), Auth: b64.EncodeToString(b.auth), Key: "key_1"}
}

// open decrypts a body, as the RFC tells the receiver to.
func (b browser) open(t *testing.T, body []byte) string {
	t.Helper()
	from := body[21 : 21+65]
	pub, err := ecdh.P256().NewPublicKey(from)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := b.key.ECDH(pub)
	if err != nil {
		t.Fatal(err)
	}
	ikm, err := hkdf.Key(sha256.New, shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(from), 32)
	if err != nil {
		t.Fatal(err)
	}
	gcm, nonce, err := recordKey(ikm, body[:16])
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gcm.Open(nil, nonce, body[86:], nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(plain), "\x02")
}

// A message reaches the endpoint encrypted for the browser, and signed by the
// key that the browser subscribed with (RFC 8292).
func TestSendReachesTheBrowserOnly(t *testing.T) {
	s := open(t)
	b := newBrowser(t)
	got := make(chan *http.Request, 1)
	body := make(chan []byte, 1)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- r
		body <- raw
		w.WriteHeader(http.StatusCreated)
	}))
	defer srv.Close()
	s.client.Transport = srv.Client().Transport
	if err := s.Add(b.at(srv.URL + "/push/1")); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), []byte(`{"waiting":3}`)); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if text := b.open(t, <-body); text != `{"waiting":3}` {
		t.Errorf("the browser reads %q", text)
	}
	if r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("TTL") == "" || r.Header.Get("Urgency") != "high" {
		t.Errorf("headers %v", r.Header)
	}
	checkSignature(t, r.Header.Get("Authorization"), s.PublicKey(), srv.URL)
}

func checkSignature(t *testing.T, header, public, audience string) {
	t.Helper()
	token, key, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || key != public || len(parts) != 3 {
		t.Fatalf("authorization %q", header)
	}
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), unb64(t, key))
	if err != nil {
		t.Fatal(err)
	}
	sum, sig := sha256.Sum256([]byte(parts[0]+"."+parts[1])), unb64(t, parts[2])
	if !ecdsa.Verify(pub, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		t.Error("the signature is not good")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(unb64(t, parts[1]), &claims); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(time.Unix(claims.Exp, 0)); claims.Aud != audience || claims.Sub == "" || left <= 0 || left > 24*time.Hour {
		t.Errorf("claims %+v", claims)
	}
}

func open(t *testing.T) *Sender {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "push.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.pause = func(context.Context, time.Duration) error { return nil }
	return s
}

func TestSubscriptionsAndKeyOutliveAProcess(t *testing.T) {
	s := open(t)
	sub := newBrowser(t).at("https://push.example/1")
	if err := errors.Join(s.Add(sub), s.Add(sub)); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if subs := again.Subscriptions(); len(subs) != 1 || subs[0] != sub || again.PublicKey() != s.PublicKey() {
		t.Errorf("kept %v", subs)
	}
	if info, err := os.Stat(s.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A service that fails is tried again, one that says that the browser is gone
// is not, and a redirect is no answer.
func TestDeliveryIsTriedAgainAndEnds(t *testing.T) {
	var asked [3]atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/weak":
			if asked[0].Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		case "/gone":
			asked[1].Add(1)
			w.WriteHeader(http.StatusGone)
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		default:
			asked[2].Add(1)
		}
	}))
	defer srv.Close()
	s := open(t)
	s.client.Transport = srv.Client().Transport
	for _, path := range []string{"/weak", "/gone", "/moved"} {
		if err := s.Add(newBrowser(t).at(srv.URL + path)); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Send(t.Context(), []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "307") || strings.Contains(err.Error(), "/moved") {
		t.Errorf("got %v", err)
	}
	if asked[0].Load() != 3 || asked[1].Load() != 1 || asked[2].Load() != 0 || len(s.Subscriptions()) != 2 {
		t.Errorf("weak %d, gone %d, elsewhere %d; %d are kept", asked[0].Load(), asked[1].Load(), asked[2].Load(), len(s.Subscriptions()))
	}
}

func TestBadSubscriptionsAreRefused(t *testing.T) {
	s, good := open(t), newBrowser(t)
	for name, change := range map[string]func(*Subscription){
		"plain http":  func(s *Subscription) { s.Endpoint = "http://push.example/1" },
		"a password":  func(s *Subscription) { s.Endpoint = "https://a:b@push.example/1" },
		"no endpoint": func(s *Subscription) { s.Endpoint = "" },
		"no point":    func(s *Subscription) { s.P256dh = b64.EncodeToString(make([]byte, 65)) },
		"short auth":  func(s *Subscription) { s.Auth = "AAAA" },
	} {
		sub := good.at("https://push.example/1")
		change(&sub)
		if err := s.Add(sub); !errors.Is(err, ErrSubscription) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
