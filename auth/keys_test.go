package auth_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

var boss = gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_boss"}

func (w *world) bearer(secret string) (*gatelatch.Key, error) {
	shown, err := w.Verify(w.t.Context(), auth.Request{Header: http.Header{"Authorization": {"Bearer " + secret}}, From: "here"})
	return shown.Key, err
}

// SEC-04: a key that asks can have nothing else, at creation and at use.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	for _, role := range []gatelatch.Role{gatelatch.AgentRole, gatelatch.AuditorRole, gatelatch.ApproverRole, gatelatch.AdminRole} {
		secret, made, err := w.Add(t.Context(), "n", role, time.Time{}, boss)
		if err != nil {
			t.Fatal(err)
		}
		k, err := w.bearer(secret)
		if err != nil || k.Role() != role || k.ID != made.ID || (k.Actor().Kind == gatelatch.AgentActor) != (role == gatelatch.AgentRole) {
			t.Errorf("%s: %+v, %v", role, k, err)
		}
	}
	for _, role := range []gatelatch.Role{"", "root", "agent admin", "Admin"} {
		if _, _, err := w.Add(t.Context(), "n", role, time.Time{}, boss); err == nil {
			t.Errorf("made a key with the role %q", role)
		}
	}
	for _, name := range []string{"", " ", "a\nb", "\u202e", strings.Repeat("x", 65), "\xff"} {
		if _, _, err := w.Add(t.Context(), name, gatelatch.AgentRole, time.Time{}, boss); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("made a key with the name %q: %v", name, err)
		}
	}
	for _, k := range []gatelatch.Key{
		{Kind: gatelatch.AskKey, Given: gatelatch.AdminRole}, {Kind: gatelatch.AskKey, Given: gatelatch.ApproverRole}, {Kind: gatelatch.DecideKey, Given: gatelatch.AgentRole},
		{Kind: gatelatch.BrowserKey, Given: gatelatch.AgentRole}, {Kind: "other"}, {},
	} {
		if k.Role() != "" || k.Check() == nil {
			t.Errorf("%+v may act as %q", k, k.Role())
		}
	}
}

func TestKeysExpire(t *testing.T) {
	w := newWorld(t)
	ends := w.now.Add(time.Hour)
	if _, _, err := w.Add(t.Context(), "late", gatelatch.AgentRole, w.now, boss); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("a key that never was: %v", err)
	}
	agent, ak, err := w.Add(t.Context(), "ci", gatelatch.AgentRole, ends, boss)
	if err != nil {
		t.Fatal(err)
	}
	_, pk, err := w.Add(t.Context(), "guest", gatelatch.ApproverRole, ends, boss)
	if err != nil {
		t.Fatal(err)
	}
	code, _, err := w.Code(t.Context(), pk)
	if err != nil {
		t.Fatal(err)
	}
	cookie, page, browser, err := w.Login(t.Context(), code, "here")
	if err != nil || browser.Role() != gatelatch.ApproverRole || browser.Name != "guest" {
		t.Fatalf("%+v, %v", browser, err)
	}
	late, _, err := w.Code(t.Context(), pk)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 2)
	defer w.Watch(ak, func() { ended <- "agent" })()
	defer w.Watch(browser, func() { ended <- "browser" })()
	defer w.Watch(w.command, func() { ended <- "who stays" })()
	w.set(ends.Add(-time.Second))
	if _, err := w.bearer(agent); err != nil {
		t.Errorf("before its end: %v", err)
	}
	w.set(ends)
	if _, err := w.bearer(agent); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("at its end: %v", err)
	}
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("a browser that it let in: %v", err)
	}
	if _, _, _, err := w.Login(t.Context(), late, "here"); !errors.Is(err, auth.ErrCode) {
		t.Errorf("its last link: %v", err)
	}
	for range 2 { // what is open hears of it
		if who := <-ended; who == "who stays" {
			t.Error("a key ended that did not")
		}
	}
	if _, _, err := w.Rotate(t.Context(), ak.ID, boss); err == nil {
		t.Error("a key that ended got another secret")
	}
}

// A WebSocket or stream does not outlive the idleness that ends its browser.
func TestIdleBrowsersEndWhereTheyAreOpen(t *testing.T) {
	w := newWorld(t)
	cookie, page := w.login()
	k, err := w.browser(cookie, page)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	defer w.Watch(k, func() { close(ended) })()
	w.set(w.now.Add(auth.BrowserIdle + time.Second))
	if err := w.Check(t.Context(), k); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("idle: %v", err)
	}
	<-ended
	if !w.Lasts(t.Context(), k.ID) {
		t.Error("messages stop with idleness")
	}
}

func TestRotate(t *testing.T) {
	w := newWorld(t)
	dir := statedir.Dir(filepath.Join(t.TempDir(), "state"))
	if err := errors.Join(dir.Prepare(), w.EnsureFiles(t.Context(), dir)); err != nil {
		t.Fatal(err)
	}
	old, err := statedir.ReadKey(dir.AgentKey())
	if err != nil {
		t.Fatal(err)
	}
	k, err := w.bearer(old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Revoke(t.Context(), k.ID, boss); err == nil {
		t.Error("revoked a key that the next start would miss")
	}
	secret, again, err := w.Rotate(t.Context(), k.ID, boss)
	if err != nil || again.ID != k.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	if _, err := w.bearer(old); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("the old secret: %v", err)
	}
	if err := w.Check(t.Context(), k); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("who was let in by the old secret: %v", err)
	}
	if in, err := statedir.ReadKey(dir.AgentKey()); err != nil || in != secret {
		t.Errorf("the file holds %q, %v", in, err)
	}
	w.restart()
	if err := w.EnsureFiles(t.Context(), dir); err != nil {
		t.Error(err)
	}
	if now, err := w.bearer(secret); err != nil || now.ID != k.ID {
		t.Errorf("after a restart: %+v, %v", now, err)
	}
	w.login()
	ks, err := w.Keys(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range ks {
		if b.Kind == gatelatch.BrowserKey {
			if _, _, err := w.Rotate(t.Context(), b.ID, boss); err == nil {
				t.Error("a browser got one new half")
			}
		}
	}
}

// SEC-08: an agent that guesses at the gateway's own address does not lock the
// person out, not even one whose key was not shown since the start.
func TestGuessingLocksNobodyOut(t *testing.T) {
	w := newWorld(t)
	secret, _, err := w.Add(t.Context(), "me", gatelatch.AdminRole, time.Time{}, boss)
	if err != nil {
		t.Fatal(err)
	}
	over := func() bool { _, err := w.bearer("gkd_guess"); return errors.Is(err, auth.ErrGuessing) }
	for range 200 {
		over()
	}
	if !over() {
		t.Fatal("nobody is limited")
	}
	k, err := w.bearer(secret)
	if err != nil {
		t.Fatalf("the person is locked out: %v", err)
	}
	late, _, err := w.Add(t.Context(), "late", gatelatch.AgentRole, time.Time{}, k.Actor())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.bearer(late); err != nil {
		t.Errorf("a key made meanwhile: %v", err)
	}
	other, _, err := w.Rotate(t.Context(), k.ID, k.Actor())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.bearer(other); err != nil {
		t.Errorf("a secret made meanwhile: %v", err)
	}
	if !over() {
		t.Error("guesses are looked at again")
	}
}

// Whoever had a leaked key is out when it is rotated, with the browsers and the
// links that he made by it; the new secret lets in again.
func TestRotationEndsBrowsers(t *testing.T) {
	w := newWorld(t)
	_, k, err := w.Add(t.Context(), "me", gatelatch.AdminRole, time.Time{}, boss)
	if err != nil {
		t.Fatal(err)
	}
	code := func(by *gatelatch.Key) string {
		t.Helper()
		c, _, err := w.Code(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	cookie, page, browser, err := w.Login(t.Context(), code(k), "here")
	if err != nil {
		t.Fatal(err)
	}
	dcookie, dpage, _, err := w.Login(t.Context(), code(browser), "here")
	if err != nil {
		t.Fatal(err)
	}
	link := code(k)
	w.set(w.now.Add(time.Second))
	if _, k, err = w.Rotate(t.Context(), k.ID, boss); err != nil {
		t.Fatal(err)
	}
	if _, err := w.browser(cookie, page); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("the browser: %v", err)
	}
	if _, err := w.browser(dcookie, dpage); !errors.Is(err, auth.ErrNobody) {
		t.Errorf("its other device: %v", err)
	}
	if _, _, _, err := w.Login(t.Context(), link, "here"); !errors.Is(err, auth.ErrCode) {
		t.Errorf("a link of before: %v", err)
	}
	w.set(w.now.Add(time.Second))
	if cookie, page, _, err = w.Login(t.Context(), code(k), "here"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.browser(cookie, page); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
