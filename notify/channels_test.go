package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var loopback = Reach{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func sample() Notice {
	return Notice{
		ID: "msg_2", Thread: "msg_1", Kind: gatelatch.AskedMessage, Call: "cal_1", Title: "Approval Needed: shöp", Text: "Tool 'Write' requires approval\nRisk: medium",
		Tool: "Write", Agent: "Claude Code", Project: "shöp", Risk: Medium, Link: "https://gate.example/#cal_1", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

type received struct {
	*http.Request
	body []byte
}

// receiver answers with status, and hands on what it got.
func receiver(t *testing.T, status int, header ...string) (*httptest.Server, chan received) {
	t.Helper()
	got := make(chan received, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		got <- received{r, body}
	}))
	t.Cleanup(srv.Close)
	return srv, got
}

const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func channel(t *testing.T, c ChannelConfig, reach ...string) *Target {
	t.Helper()
	o := &Outbox{URL: "http://127.0.0.1:7474", Public: "https://gate.example"}
	if err := (Config{Channels: map[string]ChannelConfig{"x": c}, Reach: reach}).Configure(o); err != nil {
		t.Fatal(err)
	}
	return o.Targets[0]
}

const here = "127.0.0.0/8"

// The receiver verifies with the library of those who made the standard.
func TestWebhookIsSignedAsTheStandardSays(t *testing.T) {
	srv, got := receiver(t, http.StatusNoContent)
	w := channel(t, ChannelConfig{Type: "webhook", URL: srv.URL + "/in", Secret: whsec}, here)
	if err := w.Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	verifier, err := standardwebhooks.NewWebhook(whsec)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(r.body, r.Header); err != nil {
		t.Error(err)
	}
	if err := verifier.Verify(append(r.body, ' '), r.Header); err == nil {
		t.Error("another body has the same signature")
	}
	var e struct {
		SpecVersion, ID, Source, Type, Subject, DataContentType string
		Time                                                    time.Time
		Data                                                    map[string]any
	}
	if err := json.Unmarshal(r.body, &e); err != nil {
		t.Fatal(err)
	}
	if e.SpecVersion != "1.0" || e.ID != "msg_2" || e.Source != "https://gate.example/" || e.Type != "dev.gatelatch.call.asked" || e.Subject != "cal_1" ||
		e.DataContentType != "application/json" || !e.Time.Equal(sample().At) || e.Data["tool"] != "Write" || e.Data["risk"] != "medium" {
		t.Errorf("event %s", r.body)
	}
	if ct := r.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/cloudevents+json") || r.Header.Get("webhook-id") != "msg_2" {
		t.Errorf("headers %v", r.Header)
	}
	if _, has := e.Data["input"]; has {
		t.Error("there is an input")
	}
}

func TestAnswersAreJudged(t *testing.T) {
	for _, tt := range []struct {
		status    int
		header    []string
		permanent bool
		after     time.Duration
	}{
		{status: 500}, {status: 408}, {status: 503, header: []string{"Retry-After", "120"}, after: 2 * time.Minute},
		{status: 429, header: []string{"Retry-After", "7"}, after: 7 * time.Second},
		{status: 400, permanent: true}, {status: 401, permanent: true}, {status: 404, permanent: true}, {status: 410, permanent: true},
		{status: 302, header: []string{"Location", "/elsewhere"}, permanent: true},
	} {
		srv, got := receiver(t, tt.status, tt.header...)
		w := channel(t, ChannelConfig{Type: "webhook", URL: srv.URL + "/in", Secret: whsec}, here)
		err := w.Send(t.Context(), sample())
		var never *PermanentError
		var busy *BusyError
		if errors.As(err, &never) != tt.permanent || err == nil || errors.As(err, &busy) != (tt.after > 0) || busy != nil && busy.After != tt.after {
			t.Errorf("%d: %v", tt.status, err)
		}
		if r := <-got; r.URL.Path != "/in" || len(got) > 0 {
			t.Errorf("%d: %d more requests", tt.status, len(got))
		}
	}
}

// SEC-76: what a name resolves to is checked, not what it looks like.
func TestMessagesGoNowhereTheyMayNot(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:80": false, "[::1]:80": false, "169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "[::ffff:127.0.0.1]:80": false, "[::ffff:169.254.169.254]:80": false,
		"0.0.0.0:80": false, "[::]:80": false, "100.100.100.200:80": false, "[fd00:ec2::254]:80": false, "168.63.129.16:80": false, "224.0.0.1:80": false,
		"93.184.216.34:443": true, "10.0.0.5:443": true, "[2001:db8::1]:443": true,
	} {
		if err := (Reach{}).check(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, ok := range map[string]bool{
		"93.184.216.34:443": true, "[2600::1]:443": true, "10.0.0.5:443": false, "192.168.1.1:443": false, "[fd12::1]:443": false, "100.64.0.1:443": false, "[::ffff:10.0.0.5]:443": false,
		"127.0.0.1:443": false, "169.254.169.254:443": false, "168.63.129.16:443": false, "0.0.0.0:443": false,
	} {
		if err := (Reach{}).checkForeign(address); (err == nil) != ok {
			t.Errorf("%s, by a request: %v", address, err)
		}
	}
	if err := errors.Join(loopback.check("127.0.0.1:80"), loopback.checkForeign("127.0.0.1:80")); err != nil {
		t.Error(err)
	}
	srv, got := receiver(t, 200)
	for _, url := range []string{srv.URL, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)} {
		w := channel(t, ChannelConfig{Type: "webhook", URL: url, Secret: whsec})
		var never *PermanentError
		if err := w.Send(t.Context(), sample()); !errors.As(err, &never) || !strings.Contains(err.Error(), "notify.reach") || len(got) > 0 {
			t.Errorf("%s: %v, %d requests", url, err, len(got))
		}
	}
}

// What ntfy's documentation says of publishing as JSON.
func TestNtfyPublishes(t *testing.T) {
	srv, got := receiver(t, 200)
	c := channel(t, ChannelConfig{Type: "ntfy", URL: srv.URL + "/topic", Token: "tk_1", Buttons: true, Person: "Mira"}, here)
	n := sample()
	n.Allow, n.Deny = "msg_2.a", "msg_2.d"
	if err := c.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	r := <-got
	var m ntfyMessage
	if err := json.Unmarshal(r.body, &m); err != nil {
		t.Fatal(err)
	}
	if r.URL.Path != "/" || r.Header.Get("Authorization") != "Bearer tk_1" || m.Topic != "topic" || m.Title != n.Title || m.Message != n.Text ||
		m.Click != n.Link || m.Priority != 4 || m.Sequence != "msg_1" || len(m.Actions) != 3 {
		t.Errorf("published %s", r.body)
	}
	if a := m.Actions[0]; a.Action != "http" || a.Label != "Allow" || a.URL != "https://gate.example/v1/presses" || a.Method != http.MethodPost || a.Body != `{"token":"msg_2.a"}` {
		t.Errorf("button %+v", a)
	}
	n.Kind, n.Outcome, n.Allow, n.Deny = gatelatch.SettledMessage, "allowed", "", ""
	if err := c.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	r = <-got
	m = ntfyMessage{}
	if err := json.Unmarshal(r.body, &m); err != nil || m.Sequence != "msg_1" || m.Priority != 1 || len(m.Actions) != 1 {
		t.Errorf("taken back with %s, %v", r.body, err)
	}
}

// program writes an executable shell script.
func program(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandGetsTheEventOnItsInput(t *testing.T) {
	dir := t.TempDir()
	c := channel(t, ChannelConfig{Type: "command", Path: program(t, dir, "tell", `cat > "$1"`), Args: []string{filepath.Join(dir, "got")}})
	if err := c.Send(t.Context(), sample()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "got"))
	if err != nil {
		t.Fatal(err)
	}
	var e struct{ Data map[string]any }
	if err := json.Unmarshal(raw, &e); err != nil || e.Data["title"] != "Approval Needed: shöp" || e.Data["link"] != "https://gate.example/#cal_1" {
		t.Errorf("%s, %v", raw, err)
	}
	c = channel(t, ChannelConfig{Type: "command", Path: program(t, dir, "bad", "echo no printer >&2; exit 3")})
	if err := c.Send(t.Context(), sample()); err == nil || !strings.Contains(err.Error(), "exit status 3: no printer") {
		t.Errorf("a failing program: %v", err)
	}
	c = channel(t, ChannelConfig{Type: "command", Path: program(t, dir, "slow", "sleep 60 & wait"), Timeout: 50 * time.Millisecond})
	if err := c.Send(t.Context(), sample()); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("a slow program: %v", err)
	}
}

func TestDesktopSaysItWithoutMarkup(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "notify-send", `for a; do printf '%s\n' "$a"; done > `+filepath.Join(dir, "args"))
	program(t, dir, "osascript", `for a; do printf '%s\n' "$a"; done > `+filepath.Join(dir, "args"))
	t.Setenv("PATH", dir)
	n := sample()
	n.Title, n.Text = "-h", "Tool '<b>x & y'"
	for system, want := range map[string]string{
		"linux":  "--\n-h\nTool '&lt;b&gt;x &amp; y'\nhttps://gate.example/#cal_1\n",
		"darwin": "end run\n-h\nTool '<b>x & y'\nhttps://gate.example/#cal_1\n",
	} {
		d, err := newDesktop()
		if err != nil {
			t.Fatal(err)
		}
		d.system = system
		if err := d.Send(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "args"))
		if err != nil || !strings.HasSuffix(string(raw), want) {
			t.Errorf("%s: %q, %v", system, raw, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	d, _ := newDesktop()
	var never *PermanentError
	if err := d.Send(context.Background(), n); !errors.As(err, &never) {
		t.Errorf("without the program: %v", err)
	}
}
