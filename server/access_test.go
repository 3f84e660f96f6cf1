package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// fill puts a plausible body and path into a route's request.
func (w *world) fill(rt api.Route) *http.Request { return w.fillWith(rt, "none") }

func (w *world) fillWith(rt api.Route, id string) *http.Request {
	path := strings.ReplaceAll(rt.Path, "{id}", id)
	switch rt.Name {
	case "Calls":
		path += "?state=pending"
	case "Events":
		path += "?after=999999" // ends at once: the trail is shorter
	case "FollowMode":
		return w.request(rt.Method, path, api.FollowMode{Session: "s", Mode: "plan"}) // it is another: nothing to wait for
	case "FollowInterrupts":
		return w.request(rt.Method, path, api.FollowInterrupts{Session: "s", Known: -1})
	}
	return w.request(rt.Method, path, rt.In)
}

type credential struct {
	name string
	add  func(*http.Request) *http.Request
}

// malformed is everything that looks like a credential and is none, made of good
// ones.
func malformed(w *world) []credential {
	same := func(r *http.Request) *http.Request {
		if r.Method != http.MethodGet {
			r.Header.Set("Origin", origin)
		}
		return r
	}
	header := func(name, value string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request { r.Header.Add(name, value); return same(r) }
	}
	cookie := func(value string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request {
			r.AddCookie(&http.Cookie{Name: cookieName, Value: value})
			return same(r)
		}
	}
	both := func(fs ...func(*http.Request) *http.Request) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request {
			for _, f := range fs {
				r = f(r)
			}
			return r
		}
	}
	good := func(who string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request { return w.as(r, who) }
	}
	return []credential{
		{"nothing", same},
		{"empty key", header("Authorization", "Bearer ")},
		{"unknown key", header("Authorization", "Bearer gkd_nope")},
		{"key without scheme", header("Authorization", w.decide)},
		{"basic", header("Authorization", "Basic "+w.decide)},
		{"cookie alone", cookie(w.cookie)},
		{"page half alone", header(api.PageHeader, w.page)},
		{"proof alone", func(r *http.Request) *http.Request { r.Header.Set(api.PageHeader, w.proof(r)); return same(r) }},
		{"cookie and the half itself", both(cookie(w.cookie), header(api.PageHeader, w.page))},
		{"cookie and wrong page half", both(cookie(w.cookie), header(api.PageHeader, "gkp_nope"))},
		{"halves swapped", both(cookie(w.page), header(api.PageHeader, w.cookie))},
		{"cookie as key", header("Authorization", "Bearer "+w.cookie)},
		{"page half as key", header("Authorization", "Bearer "+w.page)},
		{"agent key as cookie", both(cookie(w.ask), header(api.PageHeader, w.ask))},
		{"key in the query", func(r *http.Request) *http.Request {
			q := r.URL.Query()
			q.Set("key", w.decide)
			r.URL.RawQuery = q.Encode()
			return same(r)
		}},
		{"two keys", both(header("Authorization", "Bearer "+w.ask), header("Authorization", "Bearer "+w.decide))},
		{"key and session", both(good("browser"), header("Authorization", "Bearer "+w.ask))},
		{"cookie of another port", both(func(r *http.Request) *http.Request {
			r.AddCookie(&http.Cookie{Name: api.CookiePrefix + "7475", Value: w.cookie})
			r.Header.Set(api.PageHeader, w.proof(r))
			return same(r)
		})},
		{"two page halves", both(good("browser"), header(api.PageHeader, "gkp_nope"))},
	}
}

// SEC-07: what a socket is not for does not exist there.
func TestDoors(t *testing.T) {
	w := newWorld(t)
	for _, rt := range api.Routes {
		for name, door := range map[string]struct {
			h     http.Handler
			roles []api.Role
		}{"agents": {w.agents, []api.Role{api.Agents}}, "people": {w.people, []api.Role{api.People, api.Readers, api.Admins, api.Commands, api.Keyed}}} {
			if rt.Name == "Logout" {
				continue
			}
			has := false
			for _, r := range door.roles {
				has = has || r == rt.Role
			}
			res := send(door.h, socket(w.as(w.fill(rt), "command")))
			if missing := codeOf(res) == "not_found" && strings.Contains(res.Body.String(), "nothing here"); missing == has {
				t.Errorf("%s at the %s' socket: %d %s", rt.Name, name, res.Code, res.Body)
			}
		}
	}
	if res := send(w.people, socket(w.request("GET", "/", nil))); res.Code != http.StatusNotFound {
		t.Errorf("the page at a socket: %d", res.Code)
	}
}

// SEC-05: only our own address and our own page.
func TestHostAndOrigin(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	decision := api.Decision{State: "denied", Digest: strings.Repeat("0", 64)} // never succeeds: 409 means it got through
	paths := map[string]func() *http.Request{
		"GET":    func() *http.Request { return w.as(w.request("GET", "/v1/status", nil), "browser") },
		"stream": func() *http.Request { return w.as(w.request("GET", "/v1/events?after=999999", nil), "browser") },
		"POST": func() *http.Request {
			r := w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", decision), "browser")
			r.Header.Del("Origin")
			return r
		},
		"POST with key": func() *http.Request {
			return w.as(w.request("POST", "/v1/calls/"+b.Calls[0].ID+"/decision", decision), "command")
		},
	}
	through := func(r *http.Request) bool {
		res := send(w.tcp, r)
		return res.Code == http.StatusOK || res.Code == http.StatusConflict
	}
	hosts := map[string]bool{
		host: true,
		"":   false, "localhost:7474": false, "[::1]:7474": false, "127.0.0.1": false, "localhost": false, "127.0.0.1:80": false, "127.0.0.1:7475": false, "evil.com": false, "evil.com:7474": false,
		"localhost.:7474": false, "LOCALHOST:7474": false, "127.0.0.1.nip.io:7474": false, "[::ffff:127.0.0.1]:7474": false, "0.0.0.0:7474": false,
		"127.1:7474": false, "2130706433:7474": false, "127.0.0.1:7474.": false, "127.0.0.1:7474:7474": false, "user@127.0.0.1:7474": false,
		api.SocketHost: false, "gatelatch": false, "127.0.0.1:07474": false,
	}
	for h, ok := range hosts {
		for name, make := range paths {
			r := make()
			r.Host = h
			if name == "POST" {
				r.Header.Set("Origin", "http://"+h)
			}
			if got := through(r); got != ok {
				t.Errorf("%s with Host %q: through %v, want %v", name, h, got, ok)
			}
		}
	}
	origins := []string{"null", "", "http://127.0.0.1", "http://localhost:7474", "https://127.0.0.1:7474", "http://127.0.0.1:7475", "http://evil.com", "http://evil.com:7474",
		"http://127.0.0.1:7474.evil.com", "http://127.0.0.1:7474/", "HTTP://127.0.0.1:7474", "http://[::1]:7474", "file://", "chrome-extension://abc", "http://127.0.0.1:7474, http://evil.com"}
	for _, o := range origins {
		for name, make := range paths {
			r := make()
			r.Header["Origin"] = []string{o}
			if through(r) {
				t.Errorf("%s with Origin %q got through", name, o)
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(*http.Request)
		ok     map[string]bool // by path; missing is refused
	}{
		"our origin":          {func(r *http.Request) { r.Header.Set("Origin", origin) }, map[string]bool{"GET": true, "stream": true, "POST": true, "POST with key": true}},
		"no origin":           {func(*http.Request) {}, map[string]bool{"GET": true, "stream": true, "POST with key": true}},
		"two origins":         {func(r *http.Request) { r.Header["Origin"] = []string{origin, origin} }, nil},
		"fetched same-origin": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, map[string]bool{"GET": true, "stream": true, "POST with key": true}},
		"fetched same-site":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, nil},
		"fetched cross-site":  {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, nil},
		"fetched by nobody":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, nil},
		"absolute target": {func(r *http.Request) {
			r.URL = &url.URL{Scheme: "http", Host: host, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
		}, nil},
	} {
		for path, make := range paths {
			r := make()
			tt.change(r)
			if got := through(r); got != tt.ok[path] {
				t.Errorf("%s, %s: through %v, want %v", path, name, got, tt.ok[path])
			}
		}
	}
}

// SEC-06: bodies are JSON and say so, and reading changes nothing.
func TestMethodsAndBodies(t *testing.T) {
	w := newWorld(t)
	before := w.trail()
	for _, rt := range api.Routes {
		if rt.Role == api.Bearers {
			continue // see TestPress
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=utf-8", "Application/JSON"} {
			if rt.In == nil {
				continue
			}
			r := w.as(w.fill(rt), "command")
			r.Header.Set("Content-Type", kind)
			if res := send(w.tcp, r); res.Code != http.StatusUnsupportedMediaType {
				t.Errorf("%s with body as %q: %d", rt.Name, kind, res.Code)
			}
		}
		r := w.as(w.fill(rt), "command")
		r.Header.Set("Content-Encoding", "gzip")
		if res := send(w.tcp, r); res.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%s compressed: %d", rt.Name, res.Code)
		}
		for _, m := range []string{"PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"} {
			r := w.as(w.fill(rt), "command")
			r.Method = m
			if res := send(w.tcp, r); res.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d %s", m, rt.Path, res.Code, res.Body)
			}
		}
		if rt.Method == http.MethodGet {
			for _, who := range []string{"agent", "command", "browser"} {
				send(w.tcp, w.as(w.fill(rt), who))
			}
		}
	}
	if after := w.trail(); after != before {
		t.Errorf("reading and refused requests changed the trail from %s to %s", before, after)
	}
}

// trail is the end of the audit trail: any change of state moves it.
func (w *world) trail() (out string) {
	w.t.Helper()
	err := w.store.View(w.t.Context(), func(r gatelatch.Reader) error {
		es, err := r.Events(0, 1000)
		if err == nil && len(es) > 0 {
			e := es[len(es)-1]
			out = fmt.Sprint(e.Seq, " ", e.Link)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// SEC-14: the headers are on every answer, errors included.
func TestSecurityHeaders(t *testing.T) {
	w := newWorld(t)
	reqs := []*http.Request{
		w.request("GET", "/", nil), w.request("GET", "/app.js", nil), w.request("GET", "/nope", nil), w.request("GET", "/v1/nope", nil),
		w.request("GET", "/v1/status", nil), w.as(w.request("GET", "/v1/status", nil), "browser"), w.request("GET", "/healthz", nil),
		w.as(w.request("POST", "/v1/batches", api.None{}), "agent"),
	}
	wrong := w.request("GET", "/", nil)
	wrong.Host = "evil.com"
	for _, r := range append(reqs, wrong) {
		h := send(w.tcp, r).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := h.Get(name); !strings.Contains(got, want) {
				t.Errorf("%s %s: %s is %q", r.Method, r.URL, name, got)
			}
		}
		if csp := h.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.HasPrefix(csp, "default-src 'none'") {
			t.Errorf("policy %q", csp)
		}
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Error("another origin may read this")
		}
	}
}

func TestPage(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]int{"/": 200, "/login": 200, "/history": 200, "/app.js": 200, "/other": 404, "/../server.go": 404, "/v1/": 404} {
		r := w.request("GET", "/", nil)
		r.URL.Path = path
		if res := send(w.tcp, r); res.Code != want {
			t.Errorf("GET %s: %d", path, res.Code)
		}
	}
	for name, tt := range map[string]struct {
		headers map[string]string
		want    int
	}{
		"typed or a link from a terminal": {map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"a link on another page":          {map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"framed by another page":          {map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"fetched by another page":         {map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Origin": "http://127.0.0.1:3000"}, 403},
		"script of another page":          {map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}, 403},
	} {
		r := w.request("GET", "/", nil)
		for k, v := range tt.headers {
			r.Header.Set(k, v)
		}
		if res := send(w.tcp, r); res.Code != tt.want {
			t.Errorf("%s: %d, want %d", name, res.Code, tt.want)
		}
	}
	first := send(w.tcp, w.request("GET", "/app.js", nil))
	again := w.request("GET", "/app.js", nil)
	again.Header.Set("If-None-Match", first.Header().Get("ETag"))
	if res := send(w.tcp, again); res.Code != http.StatusNotModified {
		t.Errorf("the same file again: %d", res.Code)
	}
	for path, want := range map[string]string{"/": "no-cache", "/app.js": "no-cache", "/assets/app-1.js": "immutable", "/assets/none.js": "no-store", "/v1/status": "no-store"} {
		if got := send(w.tcp, w.request("GET", path, nil)).Header().Get("Cache-Control"); !strings.Contains(got, want) {
			t.Errorf("GET %s is kept: %q, want %q", path, got, want)
		}
	}
}

// SEC-13: a code works once; leaving ends the session.
func TestLoginAndLogout(t *testing.T) {
	w := newWorld(t)
	code, _, err := w.auth.Code(t.Context(), w.key(w.decide))
	if err != nil {
		t.Fatal(err)
	}
	try := func(change func(*http.Request)) *httptest.ResponseRecorder {
		r := w.request("POST", "/v1/login", api.Login{Code: code})
		r.Header.Set("Origin", origin)
		change(r)
		return send(w.tcp, r)
	}
	if res := try(func(r *http.Request) { r.Header.Del("Origin") }); res.Code != http.StatusForbidden {
		t.Errorf("login without an origin: %d", res.Code)
	}
	if res := try(func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:3000") }); res.Code != http.StatusForbidden {
		t.Errorf("login from another page: %d", res.Code)
	}
	if res := try(func(*http.Request) {}); res.Code != http.StatusOK {
		t.Errorf("login: %d %s", res.Code, res.Body)
	}
	if res := try(func(*http.Request) {}); res.Code != http.StatusForbidden || len(res.Result().Cookies()) > 0 {
		t.Errorf("the same code again: %d", res.Code)
	}
	if res := send(w.tcp, w.as(w.request("POST", "/v1/logout", api.None{}), "browser")); res.Code != http.StatusOK {
		t.Fatalf("logout: %d", res.Code)
	}
	if res := send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "browser")); res.Code != http.StatusUnauthorized {
		t.Errorf("after logout: %d", res.Code)
	}
}

// I5: only its holder learns that a batch is open.
func TestOpeningIsTheHoldersAlone(t *testing.T) {
	w := newWorld(t)
	p := proposal("m1", "pwd")
	p.Hold.Holder = "h1"
	var b api.Batch
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/batches", p), "agent")), http.StatusOK, &b)
	if b.Opened == nil {
		t.Fatal("the holder does not learn that it holds the batch")
	}
	p.Hold.Holder = ""
	var again api.Batch
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/batches", p), "agent")), http.StatusOK, &again)
	if again.Opened != nil {
		t.Error("somebody who holds nothing learns that the batch is open")
	}
	var seen api.Batch
	decode(t, send(w.tcp, w.as(w.request("GET", "/v1/batches/"+b.ID, nil), "agent")), http.StatusOK, &seen)
	if seen.Opened != nil {
		t.Error("reading the batch tells that it is open")
	}
}

// An agent with large inputs must not make the list unreadable.
func TestListsAreCutByBytes(t *testing.T) {
	w := newWorld(t)
	const calls = 3
	for i := range calls {
		w.propose(fmt.Sprint("m", i), "echo "+strings.Repeat("a", 900<<10))
	}
	got, pages := map[string]bool{}, 0
	for after, more := "", true; more; pages++ {
		var list api.Calls
		decode(t, send(w.tcp, w.as(w.request("GET", "/v1/calls?state=pending"+after, nil), "command")), http.StatusOK, &list)
		for _, c := range list.Calls {
			got[c.ID] = true
			after = "&after=" + c.ID
		}
		more = list.More && pages < calls
	}
	if len(got) != calls || pages < 2 {
		t.Errorf("%d of %d calls on %d pages", len(got), calls, pages)
	}
}

// A client that sends no body, or does not read, does not stay.
func TestSlowClientsAreCutOff(t *testing.T) {
	w := newWorld(t)
	srv := httptest.NewServer(w.tcp)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "POST /v1/login HTTP/1.1\r\nHost: evil.com\r\nContent-Length: 100\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(conn) // ends, because the server closes
	if err != nil || !strings.Contains(string(raw), "421") || !strings.Contains(string(raw), "Connection: close") {
		t.Errorf("%q, %v", raw, err)
	}
}

// What a page signed is what counts: a body changed on the way is refused.
func TestSignedBodies(t *testing.T) {
	w := newWorld(t)
	c := w.propose("m1", "git push").Calls[0]
	denied := w.as(w.request("POST", "/v1/calls/"+c.ID+"/decision", api.Decision{State: "denied", Digest: c.Digest}), "browser")
	allowed := w.as(w.request("POST", "/v1/calls/"+c.ID+"/decision", api.Decision{State: "allowed", Digest: c.Digest}), "command")
	denied.Body = allowed.Body
	if res := send(w.tcp, denied); res.Code != http.StatusForbidden {
		t.Errorf("another body than was signed: %d %s", res.Code, res.Body)
	}
	signed := w.as(w.request("GET", "/v1/status", nil), "browser")
	for i, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		again := signed.Clone(t.Context())
		if res := send(w.tcp, again); res.Code != want {
			t.Errorf("time %d: %d, want %d", i+1, res.Code, want)
		}
	}
}
