package hookcmd

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// fakeGateway is something that is not a gateway, where one should be.
func fakeGateway(t *testing.T, talk func(net.Conn)) statedir.Dir {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	dir := statedir.Dir(filepath.Join(tmp, "s"))
	if err := dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir.Run(), "a.sock")
	if err := statedir.WriteKey(dir.AgentKey(), "glk_secret"); err != nil {
		t.Fatal(err)
	}
	if err := dir.Announce(statedir.Gateway{PID: os.Getpid(), AgentSocket: socket}); err != nil {
		t.Fatal(err)
	}
	if talk == nil {
		return dir
	}
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go talk(c)
		}
	}()
	return dir
}

// saying answers each request with these bytes.
func saying(raw string) func(net.Conn) {
	return func(c net.Conn) {
		defer func() { _ = c.Close() }()
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = c.Write([]byte(raw))
		}
	}
}

func answering(body string) func(net.Conn) {
	return saying(fmt.Sprintf("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
}

// REL-31, T13: whatever stands where the gateway should be, nothing it says but
// a decision that this process took about this call is an allow.
func TestBrokenGatewayNeverAllows(t *testing.T) {
	const (
		digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		opened = `"opened":{"fence":1,"resume":"r","at":"2026-01-01T00:00:00Z","until":"2026-01-02T00:00:00Z","consume":true}`
		call   = `{"id":"c","phase":1,"kind":"permission","tool":"Bash","state":"allowed","effect":"allow","input":{"command":"touch x && y"},"digest":"` + digest + `","consumed":true}`
	)
	batch := func(opened, calls string) func(net.Conn) {
		return answering(`{"id":"b","phase":1,` + opened + `"calls":[` + calls + `]}`)
	}
	for name, talk := range map[string]func(net.Conn){
		"nobody listens":    nil,
		"hangs":             func(net.Conn) {},
		"closes":            func(c net.Conn) { _ = c.Close() },
		"noise":             saying("\x00\xff\x17 hello"),
		"half an answer":    saying("HTTP/1.0 200 OK\r\nContent-Length: 5000\r\n\r\n{\"id\":\"b\",\"pha"),
		"no JSON":           answering("allow"),
		"nothing":           answering(""),
		"null":              answering("null"),
		"an empty object":   answering("{}"),
		"allow, its way":    answering(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`),
		"error":             saying("HTTP/1.0 500 Internal Server Error\r\n\r\n{}"),
		"forbidden":         saying("HTTP/1.0 403 Forbidden\r\n\r\n{\"error\":{\"code\":\"forbidden\",\"message\":\"no\"}}"),
		"no call":           batch(opened+",", ""),
		"two calls":         batch(opened+",", call+","+call),
		"not consumed":      batch(opened+",", strings.Replace(call, `"consumed":true`, `"consumed":false`, 1)),
		"unknown state":     batch(opened+",", strings.Replace(call, `"allowed"`, `"ALLOWED"`, 1)),
		"pending":           batch(opened+",", strings.Replace(call, `"allowed"`, `"pending"`, 1)),
		"no digest":         batch(opened+",", strings.Replace(call, digest, "", 1)),
		"allowed, not ours": batch("", call),
	} {
		for _, event := range []string{"PreToolUse", "PermissionRequest"} {
			t.Run(name+"/"+event, func(t *testing.T) {
				t.Parallel()
				raw := preBash
				if event == "PermissionRequest" {
					raw = permission(preBash)
				}
				p := runHook(strings.NewReader(raw), "claude", "--state", string(fakeGateway(t, talk)), "--limit", "1")
				if err := p.denied(event); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// SEC-10: the key goes to the socket of the state directory and nowhere else.
func TestKeyIsNotSentElsewhere(t *testing.T) {
	var reached atomic.Bool
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	go func() {
		if c, err := other.Accept(); err == nil {
			reached.Store(true)
			_ = c.Close()
		}
	}()
	for _, status := range []string{"302 Found", "307 Temporary Redirect", "308 Permanent Redirect"} {
		dir := fakeGateway(t, saying("HTTP/1.0 "+status+"\r\nLocation: http://"+other.Addr().String()+"/v1/batches\r\n\r\n"))
		p := runHook(strings.NewReader(preBash), "claude", "--state", string(dir), "--limit", "1")
		if err := p.denied("PreToolUse"); err != nil || reached.Load() {
			t.Errorf("%s: %v; followed: %v", status, err, reached.Load())
		}
	}
}

// The transcript only helps the reader: whatever it is, the call is judged.
func TestTranscriptNeverMatters(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(string) error{
		"missing":    func(string) error { return nil },
		"a folder":   func(p string) error { return os.Mkdir(p, 0o700) },
		"unreadable": func(p string) error { return os.WriteFile(p, []byte("{}"), 0) },
		"noise":      func(p string) error { return os.WriteFile(p, []byte("\x00\xff\n{\"type\":7}\n[]\n"), 0o600) },
		"a cut line": func(p string) error {
			return os.WriteFile(p, []byte(`{"type":"user","message":{"content":"hal`), 0o600)
		},
		"a device": func(p string) error { return os.Symlink("/dev/zero", p) },
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if got := lastWords(path); got.Prompt != "" || got.Said != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
