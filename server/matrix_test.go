package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/id"
)

// reach is who may use a route, by its role: the expectation, written down a
// second time. A route whose role is not here fails.
var reach = map[api.Role]struct{ roles, ways string }{
	api.Agents:   {"agent", "key"},
	api.Readers:  {"auditor approver admin", "key browser"},
	api.People:   {"approver admin", "key browser"},
	api.Admins:   {"admin", "key browser"},
	api.Commands: {"admin", "key"},
	api.Keyed:    {"auditor approver admin", "key"},
}

// reading are the routes that only look, though they have a body.
var reading = []string{"Explain", "Suggest", "TryRule", "TryMatch"}

// principal is somebody with a credential; role "" is nobody.
type principal struct {
	name, role, way string
	add             func(*http.Request) *http.Request
}

// principals are all kinds, good and bad.
func (w *world) principals() (out []principal) {
	w.t.Helper()
	bearer := func(secret string) func(*http.Request) *http.Request {
		return func(r *http.Request) *http.Request {
			r.Header.Set("Authorization", "Bearer "+secret)
			return r
		}
	}
	for _, role := range []gatelatch.Role{gatelatch.AgentRole, gatelatch.AuditorRole, gatelatch.ApproverRole, gatelatch.AdminRole} {
		secret, k := w.add(role, time.Time{})
		out = append(out, principal{"a good " + string(role), string(role), "key", bearer(secret)})
		if role != gatelatch.AgentRole {
			cookie, page := w.session(k)
			out = append(out, principal{"a browser of an " + string(role), string(role), "browser", func(r *http.Request) *http.Request {
				was := *w
				defer func() { w.cookie, w.page = was.cookie, was.page }()
				w.cookie, w.page = cookie, page
				return w.as(r, "browser")
			}})
		}
		gone, k := w.add(role, time.Time{})
		if _, err := w.auth.Revoke(w.t.Context(), k.ID, k.Actor()); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, principal{"a revoked " + string(role), "", "key", bearer(gone)})
		rotated, k := w.add(role, time.Time{})
		if _, _, err := w.auth.Rotate(w.t.Context(), k.ID, k.Actor()); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, principal{"the old secret of an " + string(role), "", "key", bearer(rotated)})
		out = append(out,
			principal{"an expired " + string(role), "", "key", bearer(w.plant(gatelatch.Key{Kind: kindOf(role), Given: role, Expires: time.Now().Add(-time.Second)}))},
			principal{"one that asks and is recorded as " + string(role), onlyIf(role == gatelatch.AgentRole, "agent"), "key", bearer(w.plant(gatelatch.Key{Kind: gatelatch.AskKey, Given: role}))},
			principal{"one that decides and is recorded as " + string(role), onlyIf(role != gatelatch.AgentRole, string(role)), "key", bearer(w.plant(gatelatch.Key{Kind: gatelatch.DecideKey, Given: role}))},
		)
	}
	for _, c := range malformed(w) {
		out = append(out, principal{c.name, "", "key", c.add})
	}
	return out
}

func kindOf(role gatelatch.Role) gatelatch.KeyKind {
	if role == gatelatch.AgentRole {
		return gatelatch.AskKey
	}
	return gatelatch.DecideKey
}

func onlyIf(ok bool, role string) string {
	if ok {
		return role
	}
	return ""
}

func (w *world) add(role gatelatch.Role, expires time.Time) (string, *gatelatch.Key) {
	w.t.Helper()
	secret, k, err := w.auth.Add(w.t.Context(), "some "+string(role), role, expires, gatelatch.Actor{Kind: gatelatch.GatewayActor})
	if err != nil {
		w.t.Fatal(err)
	}
	return secret, k
}

// plant puts a key into the store as nobody can by the API.
func (w *world) plant(k gatelatch.Key) string {
	w.t.Helper()
	secret := id.Secret("gkd")
	k.ID, k.Hash, k.Created = id.New("key"), gatelatch.SumOf([]byte(secret)), time.Now().Add(-time.Hour)
	if err := w.store.Update(w.t.Context(), func(tx gatelatch.Tx) error { return tx.SaveKey(&k) }); err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// session logs a browser in by a key's link.
func (w *world) session(k *gatelatch.Key) (cookie, page string) {
	w.t.Helper()
	code, _, err := w.auth.Code(w.t.Context(), k)
	if err != nil {
		w.t.Fatal(err)
	}
	cookie, page, _, err = w.auth.Login(w.t.Context(), code, "here")
	if err != nil {
		w.t.Fatal(err)
	}
	return cookie, page
}

// things has the ids that stand in a path, of each kind of state: those of an
// agent that is none of the principals.
func (w *world) things(kind string) map[string]string {
	w.t.Helper()
	waiting := w.propose(id.New("m"), "git push")
	denied := w.propose(id.New("m"), "git push --force")
	if _, err := w.seat().Decide(w.t.Context(), denied.Calls[0].ID, gatelatch.Decision{State: gatelatch.Denied, Digest: w.digest(denied.Calls[0].ID)}); err != nil {
		w.t.Fatal(err)
	}
	allowed := w.propose(id.New("m"), "git pull")
	if _, err := w.seat().Decide(w.t.Context(), allowed.Calls[0].ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: w.digest(allowed.Calls[0].ID)}); err != nil {
		w.t.Fatal(err)
	}
	switch kind {
	case "batches":
		return map[string]string{"missing": "none", "waiting": waiting.ID, "denied": denied.ID, "allowed": allowed.ID}
	case "calls":
		return map[string]string{"missing": "none", "waiting": waiting.Calls[0].ID, "denied": denied.Calls[0].ID, "allowed": allowed.Calls[0].ID}
	case "keys":
		_, agent := w.add(gatelatch.AgentRole, time.Time{})
		_, admin := w.add(gatelatch.AdminRole, time.Time{})
		return map[string]string{"missing": "none", "an agent": agent.ID, "an admin": admin.ID}
	}
	return map[string]string{"missing": "none"}
}

func (w *world) seat() *gatelatch.Seat {
	return w.gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "key_test"})
}

func (w *world) digest(call string) gatelatch.Sum {
	w.t.Helper()
	l, err := w.seat().Call(w.t.Context(), call)
	if err != nil {
		w.t.Fatal(err)
	}
	return l.Digest
}

// SEC-01, SEC-03, SEC-04: every principal at every route, with everything that
// a path may name, from the table of routes.
func TestWhoMayDoWhat(t *testing.T) {
	w := newWorld(t)
	cells, all := 0, w.principals()
	for _, rt := range api.Routes {
		if rt.Name == "Logout" || rt.Name == "Login" {
			continue // they change who is logged in; tested on their own
		}
		if rt.Role == api.Bearers {
			continue // its secret is in the body, and no credential makes it wider
		}
		want, known := reach[rt.Role]
		if !known && rt.Role != api.Anybody {
			t.Fatalf("route %s has the role %q, which this test does not know", rt.Name, rt.Role)
		}
		kind := strings.Split(rt.Path, "/")[min(2, strings.Count(rt.Path, "/"))]
		states := map[string]string{"": ""}
		if strings.Contains(rt.Path, "{id}") {
			states = w.things(kind)
		}
		for _, state := range slices.Sorted(maps.Keys(states)) {
			for i, p := range all {
				r := w.fillWith(rt, states[state])
				r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", cells>>16&255, cells>>8&255, cells&255) // none of them guesses often
				before := w.last()
				res := send(w.tcp, p.add(r))
				cells++
				may := rt.Role == api.Anybody || p.role != "" && strings.Contains(want.roles, p.role) && strings.Contains(want.ways, p.way)
				if rt.Role == api.People && rt.Method == http.MethodGet && p.role == "auditor" {
					may = true
				}
				what := fmt.Sprintf("%s of %s, as %s (%d)", rt.Name, state, p.name, i)
				if refused := res.Code == http.StatusUnauthorized || res.Code == http.StatusForbidden; refused == may {
					t.Errorf("%s: %d %s", what, res.Code, res.Body)
				}
				if p.role == "" && rt.Role != api.Anybody && res.Code != http.StatusUnauthorized {
					t.Errorf("%s: %d, want 401", what, res.Code)
				}
				if may && res.Code == http.StatusInternalServerError {
					t.Errorf("%s: %s", what, res.Body)
				}
				// SEC-06: whoever is refused, and whoever reads, changes nothing.
				if (!may || rt.Method == http.MethodGet || slices.Contains(reading, rt.Name)) && w.last() != before {
					t.Errorf("%s changed the trail", what)
				}
				// What belongs to another agent is not there for this one.
				if p.role == "agent" && kind == "batches" && state != "" && res.Code < http.StatusBadRequest {
					t.Errorf("%s: an agent reached into another's batch: %d %s", what, res.Code, res.Body)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
	if cells < 1800 {
		t.Errorf("only %d cells", cells)
	}
}
