package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// tellingGateway is a gateway with a section "notify".
func tellingGateway(t *testing.T, section string) (gatewayOptions, *gateway) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.WriteFile(filepath.Join(tmp, "config.yaml"), []byte(section), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: tmp, listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler)}
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	})
	return opt, g
}

func TestNotifyTestAndLs(t *testing.T) {
	bodies := make(chan string, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies <- string(raw)
	}))
	defer srv.Close()
	opt, g := tellingGateway(t, `
notify:
  reach: [127.0.0.0/8]
  channels:
    ops: {type: webhook, url: "`+srv.URL+`", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}
    gone: {type: webhook, url: "`+srv.URL+`", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}
`)
	if out := mustRun(t, opt, "notify", "test", "ops"); !strings.HasPrefix(out, "ops  webhook  sent in ") || !strings.Contains(<-bodies, "a test") {
		t.Errorf("test: %q", out)
	}
	if _, err := command(t, opt, "notify", "test", "fax"); err == nil {
		t.Error("a channel that is not there")
	}
	ask(t, opt, "m1", "git push")
	for range 2 {
		if b := <-bodies; !strings.Contains(b, "Approval Needed: Agent") || strings.Contains(b, "git push") {
			t.Errorf("told %s", b)
		}
	}
	var list api.Notifications
	if err := json.Unmarshal([]byte(mustRun(t, opt, "notify", "ls", "--json")), &list); err != nil || len(list.Channels) != 2 || len(list.Messages) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if out := mustRun(t, opt, "notify", "ls", "--all"); !strings.Contains(out, "ops") || !strings.Contains(out, "asked cal_") {
		t.Errorf("ls: %q", out)
	}
	if out := mustRun(t, opt, "sessions"); !strings.Contains(out, "in review (1)") {
		t.Errorf("sessions: %q", out)
	}
	srv.Close()
	if out, err := command(t, opt, "notify", "test"); err == nil || !strings.Contains(out, "failed: ") || err.Error() != "2 of 2 channels failed" {
		t.Errorf("a dead receiver: %q, %v", out, err)
	}
	var said bytes.Buffer
	if g.saySilent(&said); said.Len() > 0 {
		t.Errorf("serve says %q", said.String())
	}
}

// No channel: said where a person looks.
func TestSilenceIsSaid(t *testing.T) {
	opt, g := tellingGateway(t, "listen: 127.0.0.1:0\n")
	var said bytes.Buffer
	if g.saySilent(&said); !strings.Contains(said.String(), "nobody is told") || !strings.Contains(said.String(), "hint: ") {
		t.Errorf("serve says %q", said.String())
	}
	if out := mustRun(t, opt, "notify", "ls"); !strings.Contains(out, "Nobody is told") {
		t.Errorf("ls: %q", out)
	}
	if _, err := command(t, opt, "notify", "test"); err == nil || !strings.Contains(err.Error(), "no channel is configured") {
		t.Errorf("test: %v", err)
	}
	d := &doctor{state: opt.state}
	if d.checkNotify(t.Context()); len(d.findings) != 1 || d.findings[0].State != isWrong || d.findings[0].Fix == "" {
		t.Errorf("doctor: %+v", d.findings)
	}
}

func TestABadNotifySectionStopsTheGateway(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"notify: {channels: {a: {type: pigeon}}}":                               "a type is one of",
		"notify: {chanels: {}}":                                                 "chanels",
		"notify: {channels: {a: {type: webhook, url: 'http://x/', secret: y}}}": "https://",
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadConfig(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
