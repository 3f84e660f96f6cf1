package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// REL-27: a gateway that a thousand wait at stops within five seconds, each of
// them hears that it shall come again, and streams end between two events.
func TestStopWithAThousandWaiters(t *testing.T) {
	t.Parallel()
	const waiters = 1000
	g := newGateway(t)
	g.args = []string{"--json", "--metrics-listen", "127.0.0.1:0"}
	g.start()
	var probes string
	until(t, "the gateway to say where it counts", func() bool {
		_, rest, found := strings.Cut(g.log.String(), `"metrics": "http://`)
		probes, _, _ = strings.Cut(rest, "/")
		return found
	})
	if text := probe(t, probes, "/readyz"); !strings.Contains(text, `{"ready":true}`) {
		t.Errorf("readyz: %s", text)
	}
	agent, err := client.ForAgents(g.state)
	if err != nil {
		t.Fatal(err)
	}
	b, err := agent.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s"}, Message: "m",
		Calls: []gatelatch.ProposedCall{{Ref: "c", Kind: gatelatch.Permission, Tool: "Bash", Input: []byte(`{"command":"git push"}`), Dir: g.home}},
	})
	if err != nil {
		t.Fatal(err)
	}
	state := statedir.Dir(g.state)
	where, err := state.Gateway()
	if err != nil {
		t.Fatal(err)
	}
	stream := knock(t, where.ApproverSocket, state.ApproverKey(), "GET /v1/events?after=0", nil)
	conns := make([]net.Conn, waiters)
	for i := range conns {
		conns[i] = knock(t, where.AgentSocket, state.AgentKey(), "POST /v1/batches/"+b.ID+"/await", api.Await{Hold: api.Hold{Holder: fmt.Sprint("holder", i)}})
	}
	until(t, "everybody to wait", func() bool {
		return strings.Contains(probe(t, probes, "/metrics"), fmt.Sprintf("\ngatelatch_waiting_requests %d\n", waiters+1))
	})
	began := time.Now()
	g.stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	for i, c := range conns {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("waiter %d: %v", i, err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
			t.Fatalf("waiter %d: %s %v", i, res.Status, res.Header)
		}
	}
	if text, err := io.ReadAll(stream); err != nil || !strings.Contains(string(text), "event: call.proposed") || !strings.HasSuffix(string(text), "\n\n") {
		t.Errorf("the stream ended with %.200q, %v", text, err)
	}
}

// knock sends one request to a socket, and leaves the answer to be read.
func knock(t *testing.T, socket, keyFile, line string, body any) net.Conn {
	t.Helper()
	key, err := statedir.ReadKey(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	head := fmt.Sprintf("%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", line, api.SocketHost, key)
	var raw []byte
	if body != nil {
		if raw, err = strictjson.Marshal(body); err != nil {
			t.Fatal(err)
		}
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(raw))
	}
	if _, err := io.WriteString(c, head+"\r\n"+string(raw)); err != nil {
		t.Fatal(err)
	}
	return c
}

// probe reads what the listener without a key says.
func probe(t *testing.T, addr, path string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
