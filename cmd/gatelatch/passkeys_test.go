package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/passkey"
	"github.com/gatelatch/gatelatch/internal/passkey/passkeytest"
)

// page is a browser as far as the gateway can tell, with a passkey.
type page struct {
	t      *testing.T
	origin string
	half   string
	http   http.Client
	device *passkeytest.Device
}

// openPage logs in by the link that the command line prints.
func openPage(t *testing.T, opt gatewayOptions) *page {
	t.Helper()
	link, err := command(t, opt, "login")
	if err != nil {
		t.Fatal(err)
	}
	origin, code, ok := strings.Cut(strings.TrimSpace(link), "/login#c=")
	if !ok || !strings.HasPrefix(origin, "http://localhost:") {
		t.Fatalf("passkeys have no addresses, and the link is %s", link)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, origin: origin, http: http.Client{Jar: jar}, device: passkeytest.New(t, "localhost")}
	var in api.LoggedIn
	if err := p.post("/v1/login", api.Login{Code: code}, false, &in); err != nil {
		t.Fatal(err)
	}
	p.half = in.Page
	return p
}

func (p *page) post(path string, body any, sign bool, out any) error {
	p.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.origin+path, bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	now := time.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", p.origin)
	if p.half != "" {
		r.Header.Set(api.PageHeader, auth.Prove(p.half, r.Method, path, raw, id.New("n"), now))
	}
	if sign {
		text := passkey.Request{At: now, Method: r.Method, Target: path, Says: api.Says(body), Body: gatelatch.SumOf(raw)}.Text()
		r.Header.Set(api.SignedHeader, auth.Stamp(now, p.device.Credential, p.device.Sign(p.t, p.origin, text)))
	}
	res, err := p.http.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return json.NewDecoder(res.Body).Decode(out)
	}
	var problem api.Problem
	if err := json.NewDecoder(res.Body).Decode(&problem); err != nil {
		p.t.Fatal(err)
	}
	return errors.New(problem.Code)
}

func (p *page) enrol() (k api.Passkey) {
	p.t.Helper()
	b64 := base64.RawURLEncoding.EncodeToString
	if err := p.post("/v1/passkeys", api.AddPasskey{Name: "laptop", Credential: b64(p.device.Credential), PublicKey: b64(p.device.Public)}, false, &k); err != nil {
		p.t.Fatal(err)
	}
	return k
}

// signingGateway needs passkeys. Agents are another user's.
func signingGateway(t *testing.T, what string) gatewayOptions {
	t.Helper()
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return testGatewayWith(t, func(opt *gatewayOptions) {
		text := fmt.Sprintf("signing: %s\nagent_users: ['61234']\nagent_socket: %s/agent.sock\n", what, dir)
		if err := errors.Join(os.MkdirAll(opt.config, 0o700), os.WriteFile(filepath.Join(opt.config, "config.yaml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	})
}

// The whole way: nobody can allow, somebody adds a passkey, allows with it, and
// the trail shows it to who has nothing but the trail.
func TestSignedLevel(t *testing.T) {
	opt := signingGateway(t, "all")
	level := func() string {
		t.Helper()
		c, err := client.ForPeople(opt.state)
		if err != nil {
			t.Fatal(err)
		}
		st, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Isolation
	}
	if got := level(); got != separated {
		t.Errorf("without a passkey: %s", got)
	}
	p := openPage(t, opt)
	k := p.enrol()
	if got := level(); got != signed {
		t.Errorf("with a passkey: %s", got)
	}
	if out, err := command(t, opt, "passkeys", "remove", k.ID[:12]); err != nil || !strings.Contains(out, "removed") {
		t.Errorf("%q, %v", out, err)
	}
	if got := level(); got != separated {
		t.Errorf("after it was removed: %s", got)
	}
	p.device = passkeytest.New(t, "localhost")
	p.enrol()
	if out, err := command(t, opt, "passkeys"); err != nil || !strings.Contains(out, "signing is all") || !strings.Contains(out, "laptop  localhost  never used") {
		t.Errorf("%q, %v", out, err)
	}

	first, second := ask(t, opt, "m1", "git push").Calls[0], ask(t, opt, "m2", "git commit -m x").Calls[0]
	if _, err := command(t, opt, "allow", first.ID); !errors.Is(err, gatelatch.ErrUnsigned) || !strings.Contains(hintOf(err), "gatelatch open") {
		t.Errorf("on the command line: %v, %s", err, hintOf(err))
	}
	var c api.Call
	allow := api.Decision{State: "allowed", Digest: first.Digest.String()}
	if err := p.post("/v1/calls/"+first.ID+"/decision", allow, false, &c); err == nil || err.Error() != "unsigned" {
		t.Errorf("a session alone: %v", err)
	}
	if err := p.post("/v1/calls/"+first.ID+"/decision", allow, true, &c); err != nil || c.State != "allowed" {
		t.Errorf("with the passkey: %s, %v", c.State, err)
	}
	keep := api.Decision{State: "allowed", Digest: second.Digest.String(), Remember: &api.Terms{Scope: "session", Match: "Bash(git commit -m x)", For: 600, Uses: 3}}
	if err := p.post("/v1/calls/"+second.ID+"/decision", keep, true, &c); err != nil || c.State != "allowed" {
		t.Errorf("remembered: %s, %v", c.State, err)
	}
	var s api.AgentSession
	bypass := api.SetMode{Agent: c.Agent, Session: c.Session.ID, Mode: "bypassPermissions", For: 60}
	if err := p.post("/v1/sessions/mode", bypass, true, &s); err != nil || s.Mode == nil {
		t.Errorf("bypass: %v", err)
	}
	if out, err := command(t, opt, "audit", "verify"); err != nil || !strings.Contains(out, "signatures   3 of passkeys, all good") {
		t.Errorf("%q, %v", out, err)
	}
}

// What is risky is signed; what a button in a message could allow is not.
func TestSigningRisky(t *testing.T) {
	opt := signingGateway(t, "risky")
	openPage(t, opt).enrol()
	for line, unsigned := range map[string]bool{"sudo make install": true, "rm -rf /srv/x": true, "curl https://example.com": false} {
		b := ask(t, opt, id.New("m"), line)
		if _, err := command(t, opt, "allow", b.Calls[0].ID); errors.Is(err, gatelatch.ErrUnsigned) != unsigned || !unsigned && err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	b := ask(t, opt, "m9", "curl https://example.com/x")
	if _, err := command(t, opt, "allow", b.Calls[0].ID, "--for", "session"); !errors.Is(err, gatelatch.ErrUnsigned) {
		t.Errorf("remembered: %v", err)
	}
}

// A name that could lead to somebody else is no name.
func TestLocalhostIsOursAlone(t *testing.T) {
	f, err := listenFront(gatewayOptions{listen: "127.0.0.1:0", signing: signAll})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.twin == nil {
		t.Fatal("this machine has no [::1], so this proves nothing")
	}
	other, err := listenFront(gatewayOptions{listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	port := f.twin.Addr().String()[strings.LastIndexByte(f.twin.Addr().String(), ':')+1:]
	if err := errors.Join(f.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	// The twin still listens: as a stranger would.
	if g, err := listenFront(gatewayOptions{listen: "127.0.0.1:" + port, signing: signAll}); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("%v, %v", g, err)
	}
	if err := f.twin.Close(); err != nil {
		t.Fatal(err)
	}
	if g, err := listenFront(gatewayOptions{listen: "127.0.0.2:0", signing: signAll}); err == nil || hintOf(err) == "" {
		t.Errorf("another address: %v, %v", g, err)
	}
	g, err := listenFront(gatewayOptions{listen: "127.0.0.2:0", signing: signAll, public: "https://gate.example.net"})
	if err != nil || g.page != g.url {
		t.Fatalf("with a name of its own: %v", err)
	}
	_ = g.Close()
}

// The doctor says where nobody could allow anything.
func TestDoctorOnSigning(t *testing.T) {
	p, opt := newPatient(t), signingGateway(t, "all")
	look := func() doctorReport { return p.look(t, "--state", string(opt.state), "--config", opt.config) }
	look().says(t, isWrong, "signing", "nobody has a passkey")
	openPage(t, opt).enrol()
	r := look()
	r.says(t, isOK, "signing", "all: 1 passkey")
	r.says(t, isOK, "isolation", "signed: ")
}
