package ws_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/gatelatch/gatelatch/adapter/ws"
)

// dial connects to a server that runs fn.
func dial(t *testing.T, fn func(context.Context, ws.Conn) error) *websocket.Conn {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ws.Serve(context.Background(), w, r, ws.MaxMessage, fn) }))
	t.Cleanup(srv.Close)
	c, res, err := websocket.Dial(t.Context(), strings.Replace(srv.URL, "http", "ws", 1), &websocket.DialOptions{Subprotocols: []string{"gatelatch", "proof.x"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Body != nil {
		t.Cleanup(func() { _ = res.Body.Close() })
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	if c.Subprotocol() != "gatelatch" {
		t.Errorf("subprotocol %q", c.Subprotocol())
	}
	return c
}

// echo sends each message back as JSON.
func echo(ctx context.Context, c ws.Conn) error {
	for {
		raw, err := c.Read(ctx)
		if err != nil {
			return err
		}
		if err := c.Write(ctx, string(raw)); err != nil {
			return err
		}
	}
}

func TestLines(t *testing.T) {
	c := dial(t, echo)
	for _, frame := range []string{"one", "two\nthree\n", "\n\n four && \r\n"} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"one", "two", "three", "four &&"} {
		kind, got, err := c.Read(t.Context())
		if err != nil || kind != websocket.MessageText || string(got) != `"`+want+"\"\n" {
			t.Errorf("got %q, %v, want %s", got, err, want)
		}
	}
}

func TestWhatEndsAConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		kind websocket.MessageType
		body string
		want websocket.StatusCode
	}{
		"binary":    {websocket.MessageBinary, "x", websocket.StatusPolicyViolation},
		"too large": {websocket.MessageText, strings.Repeat("x", ws.MaxMessage+1), websocket.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, echo)
			c.SetReadLimit(2 * ws.MaxMessage)
			if err := c.Write(t.Context(), tt.kind, []byte(tt.body)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != tt.want {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// The reason is told, cut to what a frame holds.
func TestReasonIsTold(t *testing.T) {
	c := dial(t, func(context.Context, ws.Conn) error { return errors.New("because " + strings.Repeat("ä", 100)) })
	_, _, err := c.Read(t.Context())
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != websocket.StatusPolicyViolation || !strings.HasPrefix(end.Reason, "because ä") {
		t.Errorf("ended with %v", err)
	}
}

// Rule 11, a second time: the handshake of another origin is refused here too.
func TestOtherOrigins(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws.Serve(context.Background(), w, r, ws.MaxMessage, echo)
	}))
	defer srv.Close()
	_, res, err := websocket.Dial(t.Context(), strings.Replace(srv.URL, "http", "ws", 1), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}})
	if err == nil || res == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("got %v, %v", res, err)
	}
}

// A fault in what serves one peer ends that connection, and not the gateway.
func TestPanicEndsTheConnection(t *testing.T) {
	c := dial(t, func(ctx context.Context, c ws.Conn) error {
		s := &ws.Session{Conn: c, Valid: func() error { return nil }}
		return s.Run(ctx, func(context.Context, []byte) error {
			s.Go(func() error { panic("secret of an input") })
			return nil
		})
	})
	if err := c.Write(t.Context(), websocket.MessageText, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(t.Context()); err == nil || t.Context().Err() != nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("ended with %v", err)
	}
}
