package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// SEC-02, SEC-03: whatever is added to a request, claims of roles among it, who
// it is from is told by a whole credential alone.
func TestNothingAddedLowersACheck(t *testing.T) {
	w := newWorld(t)
	type part struct {
		name string
		add  func(*http.Request)
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Add(name, value) }
	}
	cookie := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: value}) }
	}
	parts := []part{
		{"agent", header("Authorization", "Bearer "+w.ask)}, {"command", header("Authorization", "Bearer "+w.decide)},
		{"bad key", header("Authorization", "Bearer gkd_nope")}, {"empty key", header("Authorization", "")},
		{"cookie", cookie(w.cookie)}, {"bad cookie", cookie("gkb_nope")},
		{"proof", func(r *http.Request) { r.Header.Add(api.PageHeader, w.proof(r)) }}, {"bad proof", header(api.PageHeader, "v1.1.x.y.z")},
		{"claim", header("X-Role", "admin")}, {"claim", header("X-Gatelatch-Role", "admin")}, {"claim", header("X-Forwarded-User", "mira")},
		{"claim", header("X-Forwarded-For", "127.0.0.1")}, {"claim", header("Forwarded", "for=127.0.0.1")},
		{"claim", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "role", Value: "admin"}) }},
	}
	routes := map[string]func() *http.Request{
		"agent":  func() *http.Request { return w.request("GET", "/v1/batches/none", nil) },
		"people": func() *http.Request { return w.request("GET", "/v1/status", nil) },
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		var has []string
		chosen := slices.Clone(parts)
		rng.Shuffle(len(chosen), func(a, b int) { chosen[a], chosen[b] = chosen[b], chosen[a] })
		chosen = chosen[:rng.IntN(6)]
		count := func(names ...string) (n int) {
			for _, name := range has {
				if slices.Contains(names, name) {
					n++
				}
			}
			return n
		}
		for _, p := range chosen {
			has = append(has, p.name)
		}
		who := ""
		switch bearers, proofs := count("agent", "command", "bad key", "empty key"), count("proof", "bad proof"); {
		case bearers == 1 && proofs == 0 && count("cookie", "bad cookie") == 0:
			who = map[bool]string{true: "agent"}[count("agent") == 1] + map[bool]string{true: "people"}[count("command") == 1]
		case bearers == 0 && proofs == 1 && count("proof") == 1 && count("cookie") == 1:
			who = "people"
		}
		for role, request := range routes {
			r := request()
			r.RemoteAddr = "10.0." + strings.Join([]string{string(rune('0' + i/1000)), "1"}, ".") + ":1"
			for _, p := range chosen {
				p.add(r)
			}
			res := send(w.tcp, r)
			if in := res.Code == http.StatusOK || res.Code == http.StatusNotFound; in != (who == role) {
				t.Fatalf("%v at a route for %s: %d %s", has, role, res.Code, res.Body)
			}
		}
	}
}

// SEC-03: a role in a message is no role.
func TestRolesInMessagesAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, rt := range api.Routes {
		if rt.In == nil || rt.Name == "AddKey" { // where it says whose key is made
			continue
		}
		for _, who := range []string{"agent", "command"} {
			r := w.as(w.fill(rt), who)
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			var body map[string]any
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Fatal(err)
			}
			for _, claim := range []string{"role", "roles", "scope", "scopes", "principal", "by", "is_admin"} {
				if _, ours := body[claim]; ours {
					continue
				}
				body[claim] = "admin"
				raw, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				delete(body, claim)
				again := r.Clone(t.Context())
				again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
				if res := send(w.tcp, again); res.Code < 400 || res.Code >= 500 {
					t.Errorf("%s as %s with %s: %d %s", rt.Name, who, claim, res.Code, res.Body)
				}
			}
		}
	}
}

// SEC-06: no GET changes a byte of the database.
func TestReadingWritesNothing(t *testing.T) {
	w := newWorld(t)
	b := w.propose("m1", "git push")
	before := w.files()
	for _, rt := range api.Routes {
		if rt.Method != http.MethodGet {
			continue
		}
		for _, id := range []string{"none", b.ID, b.Calls[0].ID} {
			for _, who := range []string{"agent", "command", "browser", ""} {
				send(w.tcp, w.as(w.fillWith(rt, id), who))
				if after := w.files(); !bytes.Equal(after, before) {
					t.Errorf("GET %s of %s as %q changed the database", rt.Name, id, who)
					before = after
				}
			}
		}
	}
}

// files is the database with what is not yet written back to it, once its
// tables are up to date.
func (w *world) files() (all []byte) {
	w.t.Helper()
	if err := w.store.View(w.t.Context(), func(gatelatch.Reader) error { return nil }); err != nil {
		w.t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-redo0", "-redo1"} {
		f, err := os.Open(w.db + end)
		if err != nil {
			w.t.Fatal(err)
		}
		raw, err := io.ReadAll(io.LimitReader(f, 256<<10)) // of a redo log that is hardly begun
		if err := errors.Join(err, f.Close()); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, raw...)
	}
	return all
}
