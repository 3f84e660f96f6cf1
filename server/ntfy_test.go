package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/notify"
)

// ntfyServer is a real ntfy server, where only who has the token reads and
// writes the topic "gate".
type ntfyServer struct {
	url, token string
}

func startNtfy(t *testing.T) ntfyServer {
	t.Helper()
	bin := os.Getenv("NTFY_BIN")
	if bin == "" {
		out, err := exec.CommandContext(t.Context(), "../scripts/ntfy.sh").Output()
		if err != nil {
			t.Fatalf("no ntfy server to test with: %v", err)
		}
		bin = strings.TrimSpace(string(out))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "server.yml")
	text := fmt.Sprintf("base-url: http://%s\nlisten-http: %s\ncache-file: %s/cache.db\nauth-file: %s/auth.db\nauth-default-access: deny-all\n", addr, addr, dir, dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "serve", "--config", config)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = log.Close() })
	s := ntfyServer{url: "http://" + addr}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		res, err := http.Get(s.url + "/v1/health")
		if err == nil {
			_ = res.Body.Close()
			tick.Stop()
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("ntfy does not answer: %v\n%s", err, said)
		}
	}
	manage := func(args ...string) string {
		c := exec.CommandContext(t.Context(), bin, append([]string{args[0], "--config", config}, args[1:]...)...)
		c.Env = append(os.Environ(), "NTFY_PASSWORD=correct-horse")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("ntfy %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	manage("user", "add", "mira")
	manage("access", "mira", "gate", "rw")
	s.token = regexp.MustCompile(`tk_[a-z0-9]+`).FindString(manage("token", "add", "mira"))
	return s
}

// ntfyGot is what a phone gets of a message.
type ntfyGot struct {
	Title, Message, Click string
	Priority              int
	SequenceID            string `json:"sequence_id"`
	Actions               []struct {
		Action, Label, URL, Method, Body string
		Headers                          map[string]string
	}
	Attachment any
}

// follow is the topic as the app reads it.
func (s ntfyServer) follow(t *testing.T) func() ntfyGot {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/gate/json?since=all", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	d := json.NewDecoder(res.Body)
	return func() ntfyGot {
		t.Helper()
		for {
			var m struct {
				Event string
				ntfyGot
			}
			if err := d.Decode(&m); err != nil {
				t.Fatal(err)
			}
			if m.Event == "message" {
				return m.ntfyGot
			}
		}
	}
}

// The way of a message through a real ntfy server to a phone, and of the
// button that is pressed there.
func TestNtfyServer(t *testing.T) {
	t.Parallel()
	ntfy := startNtfy(t)
	w := newWorld(t)
	box := &notify.Outbox{Store: w.store, URL: origin, Public: public, Log: slog.New(slog.DiscardHandler)}
	err := notify.Config{Reach: []string{"127.0.0.1/32"}, Channels: map[string]notify.ChannelConfig{
		"phone": {Type: "ntfy", URL: ntfy.url + "/gate", Token: ntfy.token, Buttons: true, Person: "Mira", IncludeInput: true},
	}}.Configure(box)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := w.tells(box)
	phone := ntfy.follow(t)
	for _, c := range []struct {
		command, state string
		buttons        []string
	}{
		{"touch x", "allowed", []string{"Allow", "Deny", "Open"}},
		{"touch " + strings.Repeat("漢", 3000), "denied", []string{"Deny", "Open"}}, // more bytes than a message may have
	} {
		call := w.propose("m"+c.state, c.command).Calls[0].ID
		asked := phone()
		var buttons []string
		for _, a := range asked.Actions {
			buttons = append(buttons, a.Label)
		}
		if !strings.HasPrefix(asked.Title, "Approval Needed: ") || !strings.HasPrefix(asked.Message, "Tool 'Bash' requires approval\n") || !strings.Contains(asked.Message, `{"command":"touch `) ||
			asked.Click != public+"/#"+call || asked.Attachment != nil || !slices.Equal(buttons, c.buttons) {
			t.Fatalf("the phone got %+v", asked)
		}
		a := asked.Actions[0]
		path, ok := strings.CutPrefix(a.URL, public)
		r := httptest.NewRequestWithContext(t.Context(), a.Method, path, strings.NewReader(a.Body))
		r.Host = strings.TrimPrefix(public, "https://")
		for k, v := range a.Headers {
			r.Header.Set(k, v)
		}
		var out api.Pressed
		decode(t, send(h, r), http.StatusOK, &out)
		if !ok || out.Call != call || out.State != c.state {
			t.Errorf("pressed %s: %+v", a.Label, out)
		}
		back := phone()
		if !strings.HasPrefix(back.Title, "No longer waiting: ") || back.Priority != 1 || !strings.Contains(back.Message, c.state+" by Mira via ntfy") ||
			back.SequenceID != asked.SequenceID || len(back.Actions) != 1 {
			t.Errorf("taken back with %+v", back)
		}
	}

	box.Targets = nil
	err = notify.Config{Reach: []string{"127.0.0.1/32"}, Channels: map[string]notify.ChannelConfig{"phone": {Type: "ntfy", URL: ntfy.url + "/gate", Token: "tk_wrong"}}}.Configure(box)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := box.Try(t.Context(), "")
	if err != nil || len(tried) != 1 || tried[0].Err == nil || !strings.Contains(tried[0].Err.Error(), "401") {
		t.Errorf("with a wrong token: %+v, %v", tried, err)
	}
}
