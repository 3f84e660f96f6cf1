package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/server"
)

// plugged is the world with a plug for each role.
func plugged(t *testing.T) (w *world, met *[]server.Guest) {
	t.Helper()
	w, met = newWorld(t), new([]server.Guest)
	serve := func(rw http.ResponseWriter, _ *http.Request, g server.Guest) {
		*met = append(*met, g)
		if w.stay != nil {
			w.stay(g)
		}
		rw.WriteHeader(http.StatusNoContent)
	}
	srv, err := server.New(server.Options{
		Gate: w.gate, Auth: w.auth, URL: origin, Log: slog.New(slog.DiscardHandler),
		Plugs: []server.Plug{{"/plug/agents", api.Agents, serve}, {"/plug/people", api.People, serve}, {"/plug/nobody", api.Nobody, serve}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for to, door := range map[*http.Handler]server.Door{&w.tcp: server.BrowserDoor(host), &w.agents: server.AgentDoor(), &w.people: server.ApproverDoor()} {
		if *to, err = srv.Handler(door); err != nil {
			t.Fatal(err)
		}
	}
	return w, met
}

// SEC-01, SEC-05, rules 9 and 11: a plug is entered like any route.
func TestWhoMayUseAPlug(t *testing.T) {
	w, met := plugged(t)
	for _, tt := range []struct {
		name, path, who string
		change          func(*http.Request)
		want            int
	}{
		{"an agent", "/plug/agents", "agent", nil, 204},
		{"an agent at people's", "/plug/people", "agent", nil, 403},
		{"a command line", "/plug/people", "command", nil, 204},
		{"a command line at agents'", "/plug/agents", "command", nil, 403},
		{"nobody", "/plug/agents", "", nil, 401},
		{"nobody at people's", "/plug/people", "", nil, 401},
		{"for nobody", "/plug/nobody", "command", nil, 404},
		{"a page", "/plug/people", "browser", func(r *http.Request) { r.Header.Set("Origin", origin) }, 204},
		{"a page that does not say from where", "/plug/people", "browser", nil, 403},
		{"a page at agents'", "/plug/agents", "browser", func(r *http.Request) { r.Header.Set("Origin", origin) }, 403},
		{"another origin", "/plug/people", "command", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"another origin, an agent", "/plug/agents", "agent", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"no origin at all", "/plug/agents", "agent", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"another site", "/plug/agents", "agent", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"another host", "/plug/agents", "agent", func(r *http.Request) { r.Host = "evil.example:7474" }, 421},
		{"two keys", "/plug/agents", "agent", func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+w.decide) }, 401},
	} {
		before := len(*met)
		r := w.as(w.request("GET", tt.path, nil), tt.who)
		if tt.change != nil {
			tt.change(r)
		}
		if res := send(w.tcp, r); res.Code != tt.want || (len(*met) > before) != (tt.want == 204) {
			t.Errorf("%s: %d %s", tt.name, res.Code, res.Body)
		}
	}
}

// A browser shows its half of the session as a subprotocol: it can send no
// header with a WebSocket. Shown in both places it shows nobody.
func TestProofAmongSubprotocols(t *testing.T) {
	w, met := plugged(t)
	for name, tt := range map[string]struct {
		header func(proof string) http.Header
		want   int
	}{
		"as a subprotocol": {func(p string) http.Header { return http.Header{"Sec-Websocket-Protocol": {"gatelatch, proof." + p}} }, 204},
		"in both": {func(p string) http.Header {
			return http.Header{"Sec-Websocket-Protocol": {"proof." + p}, api.PageHeader: {p}}
		}, 401},
		"twice": {func(p string) http.Header {
			return http.Header{"Sec-Websocket-Protocol": {"proof." + p + ", proof." + p}}
		}, 401},
		"without a proof": {func(string) http.Header { return http.Header{"Sec-Websocket-Protocol": {"gatelatch"}} }, 401},
		"of another page": {func(p string) http.Header {
			return http.Header{"Sec-Websocket-Protocol": {"proof." + p[:len(p)-2] + "00"}}
		}, 401},
	} {
		r := w.request("GET", "/plug/people", nil)
		proof := w.proof(r)
		r.Header = tt.header(proof)
		r.Header.Set("Origin", origin)
		r.AddCookie(&http.Cookie{Name: cookieName, Value: w.cookie})
		if res := send(w.tcp, r); res.Code != tt.want {
			t.Errorf("%s: %d %s", name, res.Code, res.Body)
		}
	}
	if len(*met) != 1 || (*met)[0].Who.Name != "mira" {
		t.Errorf("met %+v", *met)
	}
}

// SEC-07: a plug exists only where its role does.
func TestPlugsAtDoors(t *testing.T) {
	w, _ := plugged(t)
	for _, tt := range []struct {
		door      http.Handler
		who, path string
		want      int
	}{
		{w.agents, "agent", "/plug/agents", 204}, {w.agents, "agent", "/plug/people", 404},
		{w.people, "command", "/plug/people", 204}, {w.people, "command", "/plug/agents", 404},
	} {
		r := w.as(w.request("GET", tt.path, nil), tt.who)
		r.Host = api.SocketHost
		if res := send(tt.door, r); res.Code != tt.want {
			t.Errorf("%s as %s: %d", tt.path, tt.who, res.Code)
		}
	}
}

// What stays connected ends with its key.
func TestGuestsOfRevokedKeys(t *testing.T) {
	w, met := plugged(t)
	secret, k, err := w.auth.Add(t.Context(), "visitor", gatelatch.AgentRole, time.Time{}, gatelatch.Actor{Kind: gatelatch.GatewayActor})
	if err != nil {
		t.Fatal(err)
	}
	w.ask = secret
	w.stay = func(g server.Guest) {
		if err := g.Valid(); err != nil || g.Base.Err() != nil {
			t.Error(err)
		}
		if _, err := w.auth.Revoke(t.Context(), k.ID, gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_m"}); err != nil {
			t.Error(err)
		}
		if err := g.Valid(); !errors.Is(err, auth.ErrNobody) {
			t.Errorf("a revoked key is %v", err)
		}
		<-g.Base.Done() // by itself
		if cause := context.Cause(g.Base); !errors.Is(cause, auth.ErrNobody) {
			t.Errorf("the connection ended because of %v", cause)
		}
	}
	send(w.tcp, w.as(w.request("GET", "/plug/agents", nil), "agent"))
	if len(*met) != 1 {
		t.Error("nobody was met")
	}
}
