package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// makeCertificate writes a certificate for this machine, with a serial number.
func makeCertificate(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	like := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "gate"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"gate.example", "*.gate.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000+serial, 0) // a change shows at once
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// SEC-07: with TLS, agents ask by key and browsers get a cookie that crosses no
// wire in the clear.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := makeCertificate(t, dir, 1)
	opt := testGatewayWith(t, func(o *gatewayOptions) { o.tlsCert, o.tlsKey = cert, key })
	where, err := opt.state.Gateway()
	if err != nil || !strings.HasPrefix(where.URL, "https://gate.example:") {
		t.Fatalf("%+v, %v", where, err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(where.URL, "https://"), ":")
	base := "https://127.0.0.1:" + port
	do := func(path, key, origin string, in, out any) *http.Response {
		t.Helper()
		chain, err := os.ReadFile(cert)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(chain)
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
		defer tr.CloseIdleConnections()
		raw, err := strictjson.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		res, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode == http.StatusOK {
			if err := json.NewDecoder(res.Body).Decode(out); err != nil {
				t.Fatal(err)
			}
		}
		return res
	}
	agent, err := statedir.ReadKey(opt.state.AgentKey())
	if err != nil {
		t.Fatal(err)
	}
	var b api.Batch
	proposal := api.Proposal{Session: api.Session{ID: "s"}, Message: "m", Calls: []api.ProposedCall{{Ref: "r", Tool: "Bash", Input: json.RawMessage(`{"command":"git push"}`), Dir: "/p"}}}
	if res := do("/v1/batches", agent, "", proposal, &b); res.StatusCode != http.StatusOK || len(b.Calls) != 1 {
		t.Fatalf("proposing: %d %+v", res.StatusCode, b)
	}
	// A wait takes its connection over, under TLS as without.
	people, err := client.ForPeople(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan api.Batch)
	go func() {
		var opened api.Batch
		do("/v1/batches/"+b.ID+"/await", agent, "", api.Await{Hold: api.Hold{Holder: "h1"}}, &opened)
		answered <- opened
	}()
	if _, err := people.Decide(t.Context(), b.Calls[0].ID, api.Decision{State: string(gatelatch.Allowed), Digest: b.Calls[0].Digest}); err != nil {
		t.Fatal(err)
	}
	if opened := <-answered; opened.Opened == nil {
		t.Errorf("the wait ended with %+v", opened)
	}
	code, err := people.LoginCode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var in api.LoggedIn
	_, secret, _ := strings.Cut(code.URL, "#c=")
	res := do("/v1/login", "", base, api.Login{Code: secret}, &in)
	if c := res.Cookies(); len(c) != 1 || !strings.HasPrefix(c[0].Name, "__Host-") || !c[0].Secure || !c[0].HttpOnly || c[0].Path != "/" || c[0].Domain != "" {
		t.Errorf("logging in: %d, %+v", res.StatusCode, c)
	}

	serial := func() int64 {
		t.Helper()
		conn, err := tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if p := conn.ConnectionState().NegotiatedProtocol; p != "http/1.1" {
			t.Errorf("it speaks %q", p)
		}
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	makeCertificate(t, dir, 2)
	if n := serial(); n != 2 {
		t.Errorf("after a renewal it shows number %d", n)
	}
	writeFile(t, cert, "half of a renewal")
	if n := serial(); n != 2 {
		t.Errorf("after half a renewal it shows number %d", n)
	}
}

func TestCertificatesThatAreNoUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := makeCertificate(t, dir, 1)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := loadCertificate(cert, key, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "read by everybody") {
		t.Errorf("a key for everybody: %v", err)
	}
}
