package auth_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// world is an Auth whose clock the test moves.
type world struct {
	*auth.Auth
	t    *testing.T
	path string
	mu   sync.Mutex // over now, where something watches
	now  time.Time
	s    *sqlite.Store

	command *gatelatch.Key // of a command line
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, path: filepath.Join(t.TempDir(), "g.db"), now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	w.open()
	_, k, err := w.Add(t.Context(), "mira", gatelatch.AdminRole, time.Time{}, gatelatch.Actor{Kind: gatelatch.GatewayActor})
	if err != nil {
		t.Fatal(err)
	}
	w.command = k
	t.Cleanup(func() { _ = w.s.Close() })
	return w
}

func (w *world) open() {
	w.t.Helper()
	s, err := sqlite.Open(context.Background(), w.path, sqlite.Options{Now: w.time})
	if err != nil {
		w.t.Fatal(err)
	}
	w.s, w.Auth = s, auth.New(s, "mira")
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) set(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

func (w *world) restart() {
	w.t.Helper()
	if err := w.s.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *world) login() (cookie, page string) {
	w.t.Helper()
	code, _, err := w.Code(w.t.Context(), w.command)
	if err != nil {
		w.t.Fatal(err)
	}
	cookie, page, _, err = w.Login(w.t.Context(), code, "here")
	if err != nil {
		w.t.Fatal(err)
	}
	return cookie, page
}

func (w *world) browser(cookie, page string) (*gatelatch.Key, error) {
	return w.show(cookie, auth.Prove(page, http.MethodGet, "/v1/status", nil, id.New("n"), w.now))
}

func (w *world) show(cookie, proof string) (*gatelatch.Key, error) {
	shown, err := w.Verify(w.t.Context(), auth.Request{
		Method: http.MethodGet, Target: "/v1/status", Cookies: []string{cookie},
		Header: http.Header{http.CanonicalHeaderKey(api.PageHeader): {proof}},
	})
	return shown.Key, err
}

func TestCodesWorkOnceAndSoon(t *testing.T) {
	w := newWorld(t)
	code, ends, err := w.Code(t.Context(), w.command)
	if err != nil || !ends.Equal(w.now.Add(auth.CodeLife)) {
		t.Fatalf("%v, ends %v", err, ends)
	}
	if len(code) < 26 {
		t.Errorf("a code of %d characters can be guessed", len(code))
	}
	if _, _, _, err := w.Login(t.Context(), code, "here"); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]string{"used": code, "unknown": "glc_nope", "empty": ""} {
		if _, _, _, err := w.Login(t.Context(), code, "here"); !errors.Is(err, auth.ErrCode) {
			t.Errorf("%s code: %v", name, err)
		}
	}
	late, _, err := w.Code(t.Context(), w.command)
	if err != nil {
		t.Fatal(err)
	}
	if begin := len("glc_") + 4; code[:begin] == late[:begin] {
		t.Errorf("two codes begin with %q: less than all of them is random", code[:begin])
	}
	w.now = w.now.Add(auth.CodeLife)
	if _, _, _, err := w.Login(t.Context(), late, "here"); !errors.Is(err, auth.ErrCode) {
		t.Errorf("a code that ended: %v", err)
	}
}

// O14: codes that nobody uses do not pile up.
func TestOldCodesGiveWay(t *testing.T) {
	w := newWorld(t)
	first, _, err := w.Code(t.Context(), w.command)
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		w.now = w.now.Add(time.Millisecond)
		if _, _, err := w.Code(t.Context(), w.command); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := w.Login(t.Context(), first, "here"); !errors.Is(err, auth.ErrCode) {
		t.Errorf("the first of 41 codes: %v", err)
	}
}

// A browser that lets another device in answers for it: what ends the one ends
// the other, and the other lets nobody in.
func TestADeviceEndsWithWhoLetItIn(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	parent, err := w.browser(cookie, page)
	if err != nil {
		t.Fatal(err)
	}
	link := func() string {
		t.Helper()
		code, _, err := w.Code(t.Context(), parent)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	cookie, page, _, err = w.Login(t.Context(), link(), "here")
	if err != nil {
		t.Fatal(err)
	}
	phone, err := w.browser(cookie, page)
	if err != nil || w.Check(t.Context(), phone) != nil {
		t.Fatalf("let in: %v", err)
	}
	if _, _, err := w.Code(t.Context(), phone); !errors.Is(err, gatelatch.ErrForbidden) {
		t.Errorf("a link of the phone's own: %v", err)
	}
	unused := link()
	if _, err := w.Revoke(t.Context(), parent.ID, parent.Actor()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) || w.Check(t.Context(), phone) == nil {
		t.Errorf("the phone after the log-out: %v", err)
	}
	if _, _, _, err := w.Login(t.Context(), unused, "here"); !errors.Is(err, auth.ErrCode) {
		t.Errorf("a link from before the log-out: %v", err)
	}
}

// Using a session does not make it last for ever.
func TestBrowserSessionsHaveAnEnd(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	for ends := w.now.Add(auth.BrowserLife); w.now.Before(ends); w.now = w.now.Add(auth.BrowserIdle) {
		if _, err := w.browser(cookie, page); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("after %v: %v", auth.BrowserLife, err)
	}
}

func TestBrowserSessions(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	k, err := w.browser(cookie, page)
	if err != nil || k.Actor().Kind != gatelatch.PersonActor || k.Actor().Name != "mira" {
		t.Fatalf("%+v, %v", k, err)
	}
	w.restart()
	if _, err := w.browser(cookie, page); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	for range 3 { // used now and then
		w.now = w.now.Add(auth.BrowserIdle - time.Minute)
		if _, err := w.browser(cookie, page); err != nil {
			t.Errorf("in use: %v", err)
		}
	}
	w.now = w.now.Add(auth.BrowserIdle + time.Minute)
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("idle for too long: %v", err)
	}
}

// The page never shows its half, and what it shows works for one request, once.
func TestProofs(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	const nonce = "0123456789abcdef"
	prove := func(method, target string, at time.Time, nonce string) string {
		return auth.Prove(page, method, target, nil, nonce, at)
	}
	good := prove("GET", "/v1/status", w.now, nonce)
	if _, err := w.show(cookie, good); err != nil {
		t.Fatal(err)
	}
	for name, proof := range map[string]string{
		"the same again":  good,
		"the half itself": page,
		"another path":    prove("GET", "/v1/calls", w.now, nonce+"1"),
		"another method":  prove("POST", "/v1/status", w.now, nonce+"2"),
		"too old":         prove("GET", "/v1/status", w.now.Add(-3*time.Minute), nonce+"3"),
		"from the future": prove("GET", "/v1/status", w.now.Add(3*time.Minute), nonce+"4"),
		"another half":    auth.Prove("gkp_other", "GET", "/v1/status", nil, nonce+"5", w.now),
		"a short nonce":   prove("GET", "/v1/status", w.now, "short"),
		"a changed nonce": strings.Replace(prove("GET", "/v1/status", w.now, nonce+"6"), nonce+"6", nonce+"7", 1),
		"nothing":         "",
		"dots":            "v1....",
	} {
		if _, err := w.show(cookie, proof); !errors.Is(err, auth.ErrNobody) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a key was used for last outlives a restart, and costs no write a use.
func TestUseIsNoted(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	w.now = w.now.Add(auth.BrowserIdle - time.Minute)
	k, err := w.browser(cookie, page)
	if err != nil {
		t.Fatal(err)
	}
	version := func() int64 {
		t.Helper()
		ks, err := w.Keys(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range ks {
			if o.ID == k.ID {
				return o.Version
			}
		}
		t.Fatal("the key is not listed")
		return 0
	}
	for _, want := range []int64{2, 2} { // the second time there is nothing to note
		if err := w.Flush(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if got := version(); got != want {
			t.Errorf("version %d, want %d", got, want)
		}
		w.now = w.now.Add(time.Second)
		if _, err := w.browser(cookie, page); err != nil {
			t.Fatal(err)
		}
	}
	w.restart()
	w.now = w.now.Add(auth.BrowserIdle - time.Minute)
	if _, err := w.browser(cookie, page); err != nil {
		t.Errorf("%v", err)
	}
}

func TestRevokedKeysEndAtOnce(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	k, err := w.browser(cookie, page)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Revoke(t.Context(), k.ID, k.Actor()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("after revocation: %v", err)
	}
}

func TestKeyFiles(t *testing.T) {
	w := newWorld(t)
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	if err := dir.Prepare(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it finds them
		if err := w.EnsureFiles(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	for path, kind := range map[string]gatelatch.KeyKind{dir.AgentKey(): gatelatch.AskKey, dir.ApproverKey(): gatelatch.DecideKey} {
		secret, err := statedir.ReadKey(path)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := w.Verify(t.Context(), auth.Request{Header: http.Header{"Authorization": {"Bearer " + secret}}})
		if err != nil || shown.Key.Kind != kind {
			t.Errorf("%s: %+v, %v", path, shown.Key, err)
		}
	}
	// An agent that puts its own key where the person's belongs gains nothing.
	secret, err := os.ReadFile(dir.AgentKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.ApproverKey(), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.EnsureFiles(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "does not hold a key of its kind") {
		t.Errorf("an agent's key as a person's: %v", err)
	}
}

// The page makes the same proof: the same values stand in its own test.
func TestProofVector(t *testing.T) {
	got := auth.Prove("gkp_test", "POST", "/v1/pause", []byte("{}"), "0123456789abcdef", time.UnixMilli(1794744000000))
	want := "v1.1794744000000.0123456789abcdef.44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a." +
		"3b4d8ce227c16ebbf0ced078381e87abc1aa39265c7e39e68ca203fce3f082ab"
	if got != want {
		t.Errorf("got %s", got)
	}
}
