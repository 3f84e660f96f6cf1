package client

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// answering is a client of something that answers each connection with text.
func answering(t *testing.T, text string) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ln, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	}()
	state := statedir.Dir(filepath.Join(dir, "state"))
	if err := errors.Join(state.Prepare(), statedir.WriteKey(state.AgentKey(), "gka_x"), state.Announce(statedir.Gateway{AgentSocket: ln.Addr().String()})); err != nil {
		t.Fatal(err)
	}
	c, err := ForAgents(state)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const batch = `{"id":"bat_1","opened":{"fence":1,"at":"2026-11-15T12:00:00Z"},"calls":[{"id":"cal_1","tool":"Bash","state":"allowed","effect":"allow","input":{"command":"ls"},"digest":"` +
	`0000000000000000000000000000000000000000000000000000000000000000"}]}`

// REL-31: half an answer, or one that is not a gateway's, is never a success.
func TestAnswersThatAreNone(t *testing.T) {
	head := "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n"
	for name, tt := range map[string]struct {
		text  string
		again bool
	}{
		"nothing":            {"", true},
		"a broken head":      {"HTTP/1.0 200", true},
		"no end of the head": {"HTTP/1.0 200 OK\r\nContent-Type: x\r\n", true},
		"half a body":        {head + batch[:len(batch)/2], true},
		"no body":            {head, true},
		"not HTTP":           {"SSH-2.0-OpenSSH_9.2\r\n", true},
		"a huge line":        {"HTTP/1.0 200 OK\r\nX: " + strings.Repeat("a", 1<<20), true},
		"a redirect":         {"HTTP/1.0 302 Found\r\nLocation: http://evil.com/\r\n\r\n", false},
		"an error as text":   {"HTTP/1.0 500 Oops\r\n\r\nsorry", false},
		"an unknown effect":  {head + strings.Replace(batch, `"effect":"allow"`, `"effect":"yes"`, 1), false},
		"a broken digest":    {head + strings.Replace(batch, `0000"}`, `"}`, 1), false},
	} {
		b, err := answering(t, tt.text).Propose(t.Context(), gatelatch.Proposal{})
		if err == nil || b != nil {
			t.Errorf("%s: %+v", name, b)
		}
		if Again(err) != tt.again {
			t.Errorf("%s: %v, again %v", name, err, Again(err))
		}
	}
	if b, err := answering(t, head+batch).Propose(t.Context(), gatelatch.Proposal{}); err != nil || b.Calls[0].State != gatelatch.Allowed {
		t.Errorf("a whole answer: %+v, %v", b, err)
	}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	c := answering(t, "HTTP/1.0 409 Conflict\r\n\r\n"+`{"type":"x","title":"t","status":409,"detail":"m","code":"conflict","message":"m","hint":"h"}`)
	_, err := c.Propose(t.Context(), gatelatch.Proposal{})
	var r *api.RemoteError
	if !errors.Is(err, gatelatch.ErrConflict) || !errors.As(err, &r) || r.Hint() != "h" || Again(err) {
		t.Errorf("got %v", err)
	}
}

func TestEndedContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := answering(t, "").Await(ctx, "bat_1", gatelatch.Hold{Holder: "h"}); !errors.Is(err, context.Canceled) || Again(err) {
		t.Errorf("got %v", err)
	}
}

// Who refuses a request before all of it was sent is understood, and nothing else
// that comes so early.
func TestAnswerBeforeTheEnd(t *testing.T) {
	head := "\r\nContent-Type: application/json\r\n\r\n"
	large := gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s"}, Message: "m", Calls: []gatelatch.ProposedCall{
		{Tool: "Bash", Input: []byte(`{"command":"` + strings.Repeat("x", 10<<20) + `"}`)},
	}}
	for text, want := range map[string]int{
		"HTTP/1.0 413 Request Entity Too Large" + head + `{"code":"too_large","message":"large"}`: 413,
		"HTTP/1.0 200 OK" + head + batch: 0,
	} {
		_, err := answering(t, text).Propose(t.Context(), large)
		var refused *api.RemoteError
		switch {
		case want > 0 && (!errors.As(err, &refused) || refused.Status != want):
			t.Errorf("refused early: %v", err)
		case want == 0 && !errors.Is(err, ErrUnreachable):
			t.Errorf("allowed before it had heard all: %v", err)
		}
	}
}
