package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/api/apitest"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/metrics"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/server"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const (
	host   = "127.0.0.1:7474"
	origin = "http://" + host

	cookieName = api.CookiePrefix + "7474"
)

// world is a server with its real store, gate and keys.
type world struct {
	t      *testing.T
	store  *sqlite.Store
	db     string // its file
	auth   *auth.Auth
	gate   *gatelatch.Gate
	srv    *server.Server
	tcp    http.Handler
	agents http.Handler
	people http.Handler
	ask    string // keys
	decide string
	cookie string
	page   string
	stay   func(server.Guest) // what guests of a plug do

	log     *safeBuffer // of the server
	problem string      // with the rules
}

// safeBuffer is a buffer for many.
type safeBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *safeBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(text)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := statedir.Dir(t.TempDir() + "/state")
	if err := dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	db := filepath.Join(string(dir), "g.db")
	s, err := sqlite.Open(ctx, db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, log: new(safeBuffer), store: s, db: db, auth: auth.New(s, "mira"), gate: gatelatch.New(s, policy.Default())}
	var wg sync.WaitGroup
	wg.Go(func() { w.gate.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait(); _ = s.Close() })
	if err := w.auth.EnsureFiles(ctx, dir); err != nil {
		t.Fatal(err)
	}
	w.ask, w.decide = readKey(t, dir.AgentKey()), readKey(t, dir.ApproverKey())
	srv, err := server.New(server.Options{
		Gate: w.gate, Auth: w.auth, URL: origin, Version: "test", Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: new(metrics.Registry), Checks: []server.Check{{Name: "rules", Problem: func() string { return w.problem }}},
		Web: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>page")}, "app.js": {Data: []byte("1")}, "assets/app-1.js": {Data: []byte("2")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.srv = srv
	for _, d := range []struct {
		to   *http.Handler
		door server.Door
	}{{&w.tcp, server.BrowserDoor(host)}, {&w.agents, server.AgentDoor()}, {&w.people, server.ApproverDoor()}} {
		h, err := srv.Handler(d.door)
		if err != nil {
			t.Fatal(err)
		}
		*d.to = held(t, h)
	}
	w.login()
	return w
}

func readKey(t *testing.T, path string) string {
	t.Helper()
	k, err := statedir.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (w *world) login() {
	w.t.Helper()
	code, _, err := w.auth.Code(w.t.Context(), w.key(w.decide))
	if err != nil {
		w.t.Fatal(err)
	}
	w.loginWith(code)
}

// key is what the store has for a secret.
func (w *world) key(secret string) (k *gatelatch.Key) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), func(r gatelatch.Reader) (err error) {
		k, err = r.KeyByHash(gatelatch.SumOf([]byte(secret)))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

func (w *world) loginWith(code string) {
	w.t.Helper()
	r := w.request("POST", "/v1/login", api.Login{Code: code})
	r.Header.Set("Origin", origin)
	res := send(w.tcp, r)
	var in api.LoggedIn
	decode(w.t, res, http.StatusOK, &in)
	w.page = in.Page
	for _, c := range res.Result().Cookies() {
		if c.Name == cookieName {
			w.cookie = c.Value
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
				w.t.Errorf("cookie %+v", c)
			}
		}
	}
}

func (w *world) request(method, path string, body any) *http.Request {
	var rd io.Reader
	if body != nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(body); err != nil {
			w.t.Fatal(err)
		}
		rd = &buf
	}
	r := httptest.NewRequest(method, path, rd)
	r.Host = host
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// as adds a credential.
func (w *world) as(r *http.Request, who string) *http.Request {
	switch who {
	case "agent":
		r.Header.Set("Authorization", "Bearer "+w.ask)
	case "command":
		r.Header.Set("Authorization", "Bearer "+w.decide)
	case "browser":
		r.AddCookie(&http.Cookie{Name: cookieName, Value: w.cookie})
		r.Header.Set(api.PageHeader, w.proof(r))
		if r.Method != http.MethodGet {
			r.Header.Set("Origin", origin)
		}
	}
	return r
}

// proof is what the page would send with r.
func (w *world) proof(r *http.Request) string {
	w.t.Helper()
	var raw []byte
	if r.Body != nil {
		var err error
		if raw, err = io.ReadAll(r.Body); err != nil {
			w.t.Fatal(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
	}
	return auth.Prove(w.page, r.Method, r.URL.RequestURI(), raw, id.New("n"), time.Now())
}

// described is a handler whose exchanges are held against the description.
type described struct {
	http.Handler
	check func(apitest.Exchange)
}

func held(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	checker, wrong := apitest.For(t)
	return &described{h, func(e apitest.Exchange) {
		if err := checker.Check(e); err != nil {
			wrong(err)
		}
	}}
}

func send(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	rec := &recorder{ResponseRecorder: httptest.NewRecorder()}
	var body bytes.Buffer
	if r.Body != nil {
		r.Body = io.NopCloser(io.TeeReader(r.Body, &body))
	}
	if d, ok := h.(*described); ok {
		defer func() {
			d.check(apitest.Exchange{Request: r, Body: body.Bytes(), Status: rec.Code, Type: rec.Header().Get("Content-Type"), Answer: rec.Body.Bytes()})
		}()
	}
	h.ServeHTTP(rec, r)
	if rec.far != nil {
		defer func() { _ = rec.far.Close() }()
		res, err := http.ReadResponse(bufio.NewReader(rec.far), r)
		if err != nil {
			panic(err)
		}
		defer func() { _ = res.Body.Close() }()
		maps.Copy(rec.Header(), res.Header)
		rec.WriteHeader(res.StatusCode)
		_, _ = io.Copy(rec, res.Body)
	}
	return rec.ResponseRecorder
}

// recorder also records what a request that waits gets in the end.
type recorder struct {
	*httptest.ResponseRecorder
	far net.Conn
}

func (r *recorder) Hijack() (near net.Conn, _ *bufio.ReadWriter, _ error) {
	near, r.far = net.Pipe()
	return near, nil, nil
}

func decode(t *testing.T, res *httptest.ResponseRecorder, status int, out any) {
	t.Helper()
	if res.Code != status {
		t.Fatalf("status %d, want %d: %s", res.Code, status, res.Body)
	}
	if err := json.Unmarshal(res.Body.Bytes(), out); err != nil {
		t.Fatal(err)
	}
}

func codeOf(res *httptest.ResponseRecorder) string {
	var p api.Problem
	_ = json.Unmarshal(res.Body.Bytes(), &p)
	return p.Code
}

func proposal(message, command string) api.Proposal {
	raw := []byte(`{"command":` + strconv.Quote(command) + `}`) // as it is: json.Marshal would escape
	return api.Proposal{
		Session: api.Session{ID: "s1", Name: "Agent", Project: "/p"}, Message: message,
		Calls: []api.ProposedCall{{Ref: message, Tool: "Bash", Input: raw, Dir: "/p"}},
	}
}

func (w *world) propose(message, command string) api.Batch {
	w.t.Helper()
	var b api.Batch
	decode(w.t, send(w.tcp, w.as(w.request("POST", "/v1/batches", proposal(message, command)), "agent")), http.StatusOK, &b)
	return b
}

func TestWalkOverTheAPI(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push && echo '<done>'")
	c := b.Calls[0]
	if c.State != "pending" || b.Opened != nil || c.Why == "" {
		t.Fatalf("proposed: %+v", c)
	}
	var list api.Calls
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/calls?state=pending", nil), "browser")), http.StatusOK, &list)
	if len(list.Calls) != 1 || list.Calls[0].ID != c.ID || list.Calls[0].Digest != c.Digest || list.Seq == 0 {
		t.Fatalf("listed: %+v", list)
	}
	d := api.Decision{State: "allowed", Digest: c.Digest}
	var seen api.Call
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/calls/"+c.ID+"/decision", d), "browser")), http.StatusOK, &seen)
	if seen.State != "allowed" || seen.Decided.By.Name != "mira" {
		t.Errorf("decided: %+v", seen.Decided)
	}
	decode(t, send(w.agents, socket(w.as(w.request("POST", "/v1/batches/"+b.ID+"/await", api.Await{Hold: api.Hold{Holder: "h"}}), "agent"))), http.StatusOK, &b)
	if b.Opened == nil || b.Calls[0].State != "allowed" || string(b.Calls[0].Input) != `{"command":"git push && echo '<done>'"}` {
		t.Errorf("awaited: %+v %s", b.Opened, b.Calls[0].Input)
	}
	// Somebody else, later.
	other := w.as(w.request("POST", "/v1/calls/"+c.ID+"/decision", api.Decision{State: "denied", Digest: c.Digest}), "command")
	var e api.Problem
	decode(t, send(w.tcp, other), http.StatusConflict, &e)
	if e.Code != "settled" || !strings.Contains(e.Message, "already decided by mira as allowed") || e.Decided == nil {
		t.Errorf("second decision: %+v", e)
	}
}

func socket(r *http.Request) *http.Request {
	r.Host = api.SocketHost
	return r
}

func TestAwaitOfWhatStillWaitsIs202(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	res := send(w.tcp, w.as(w.request("POST", "/v1/batches/"+b.ID+"/await", api.Await{Hold: api.Hold{Holder: "h"}, Wait: 1}), "agent"))
	decode(t, res, http.StatusAccepted, &b)
	if b.Opened != nil || b.Calls[0].State != "pending" {
		t.Errorf("%+v", b)
	}
}

func TestBadInput(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	id := b.Calls[0].ID
	good, err := json.Marshal(proposal("m2", "ls"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	for name, tt := range map[string]struct {
		path, body, who string
		status          int
		code            string
	}{
		"broken JSON":           {"/v1/batches", text[:40], "agent", 400, "invalid"},
		"nothing":               {"/v1/batches", "", "agent", 400, "invalid"},
		"duplicate key":         {"/v1/batches", strings.Replace(text, `"message"`, `"message":"x","message"`, 1), "agent", 400, "invalid"},
		"case-folded key":       {"/v1/batches", strings.Replace(text, `"command"`, `"COMMAND":"rm","command"`, 1), "agent", 400, "invalid"},
		"folded field alone":    {"/v1/batches", strings.Replace(text, `"message"`, `"Message"`, 1), "agent", 400, "invalid"},
		"unknown field":         {"/v1/batches", strings.Replace(text, `"message"`, `"approved":true,"message"`, 1), "agent", 400, "invalid"},
		"trailing bytes":        {"/v1/batches", text + "{}", "agent", 400, "invalid"},
		"10 MB":                 {"/v1/batches", strings.Replace(text, `"ls"`, `"`+strings.Repeat("a", 10<<20)+`"`, 1), "agent", 413, "too_large"},
		"same id, other input":  {"/v1/batches", strings.Replace(text, `"m2"`, `"m1"`, 2), "agent", 409, "conflict"},
		"unknown batch":         {"/v1/batches/bat_nope/await", `{"hold":{"holder":"h"}}`, "agent", 404, "not_found"},
		"no holder":             {"/v1/batches/" + b.ID + "/await", `{"hold":{"holder":""}}`, "agent", 400, "invalid"},
		"unknown call":          {"/v1/calls/cal_nope/decision", `{"state":"allowed","digest":"` + b.Calls[0].Digest + `"}`, "command", 404, "not_found"},
		"other digest":          {"/v1/calls/" + id + "/decision", `{"state":"allowed","digest":"` + strings.Repeat("0", 64) + `"}`, "command", 409, "changed"},
		"no digest":             {"/v1/calls/" + id + "/decision", `{"state":"allowed","digest":""}`, "command", 400, "invalid"},
		"no state":              {"/v1/calls/" + id + "/decision", `{"state":"","digest":"` + b.Calls[0].Digest + `"}`, "command", 400, "invalid"},
		"unknown state":         {"/v1/calls/" + id + "/decision", `{"state":"approved","digest":"` + b.Calls[0].Digest + `"}`, "command", 400, "invalid"},
		"edited input (T8)":     {"/v1/calls/" + id + "/decision", `{"state":"allowed","input":{"command":"rm"},"digest":"` + b.Calls[0].Digest + `"}`, "command", 400, "invalid"},
		"body says who decided": {"/v1/calls/" + id + "/decision", `{"state":"allowed","by":"root","digest":"` + b.Calls[0].Digest + `"}`, "command", 400, "invalid"},
	} {
		r := httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(tt.body))
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		res := send(w.tcp, w.as(r, tt.who))
		if res.Code != tt.status || codeOf(res) != tt.code {
			t.Errorf("%s: %d %s, want %d %s", name, res.Code, strings.TrimSpace(res.Body.String()), tt.status, tt.code)
		}
	}
	var c api.Call
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/calls/"+id, nil), "command")), http.StatusOK, &c)
	if c.State != "pending" {
		t.Errorf("after all that the call is %s", c.State)
	}
}

func TestInternalErrorsStayInside(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	res := send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "command"))
	if res.Code != http.StatusServiceUnavailable && res.Code != http.StatusInternalServerError {
		t.Errorf("with a closed store: %d %s", res.Code, res.Body)
	}
	if strings.Contains(res.Body.String(), "sql") {
		t.Errorf("the answer tells of the inside: %s", res.Body)
	}
}
