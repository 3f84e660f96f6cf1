package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/server"
)

const public = "https://gate.example"

// written is what came of adding rules.
type written []server.PolicyChange

// withRules serves the world's gate with rules to look at and a public address.
func (w *world) withRules() *written {
	w.t.Helper()
	var out written
	srv, err := server.New(server.Options{
		Gate: w.gate, Auth: w.auth, URL: origin, Log: slog.New(slog.DiscardHandler), Public: public,
		Rules: policy.Open(w.t.TempDir() + "/policy.yaml"),
		Write: func(_ context.Context, _ *gatelatch.Seat, c server.PolicyChange) (*gatelatch.Revision, error) {
			out = append(out, c)
			return &gatelatch.Revision{Number: c.From + 1, Text: c.After}, nil
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.tcp, err = srv.Handler(server.BrowserDoor(host).Also(public)); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = srv.Wait(context.Background()) })
	return &out
}

func (w *world) get(path string, out any) {
	w.t.Helper()
	decode(w.t, send(w.tcp, w.as(w.request("GET", path, nil), "browser")), http.StatusOK, out)
}

func (w *world) post(path string, in, out any) int {
	w.t.Helper()
	res := send(w.tcp, w.as(w.request("POST", path, in), "browser"))
	if res.Code == http.StatusOK && out != nil {
		decode(w.t, res, http.StatusOK, out)
	}
	return res.Code
}

func (w *world) settle(message, command, state string) string {
	w.t.Helper()
	b := w.propose(message, command)
	c := b.Calls[0]
	if code := w.post("/v1/calls/"+c.ID+"/decision", api.Decision{State: state, Digest: c.Digest}, nil); code != http.StatusOK {
		w.t.Fatalf("deciding got status %d", code)
	}
	return c.ID
}

// tried asks until the trial is ready.
func (w *world) tried(in api.TryRule) (out api.TriedRule, code int) {
	w.t.Helper()
	for range 100 {
		if code = w.post("/v1/rules/try", in, &out); code != http.StatusOK || out.Work.Ready {
			return out, code
		}
	}
	w.t.Fatal("the trial does not end")
	return out, code
}

// SEC-32: a page puts a rule in force only as it was shown and tried, made from a
// call, no wider than what may be remembered, and never against a refusal.
func TestARuleIsAddedOnlyAsItWasShown(t *testing.T) {
	w := newWorld(t)
	out := w.withRules()
	call := w.settle("m1", "git push origin main", "allowed")
	w.settle("m2", "git push origin main", "allowed")
	rule := api.TryRule{Effect: "allow", Match: "Bash(git push origin main)", Call: call}
	got, code := w.tried(rule)
	if code != http.StatusOK || !got.Safe || got.Backtest.Vanish != 2 || len(got.Diff) == 0 {
		t.Fatalf("%d: %+v", code, got)
	}
	for name, in := range map[string]api.AddRule{
		"another digest": {Effect: "allow", Match: rule.Match, Call: call, Digest: strings.Repeat("0", 64)},
		"no digest":      {Effect: "allow", Match: rule.Match, Call: call},
		"another rule":   {Effect: "allow", Match: "Bash(git push origin main:*)", Call: call, Digest: got.Digest},
		"too wide":       {Effect: "allow", Match: "Bash(git:*)", Call: call, Digest: got.Digest},
		"a whole tool":   {Effect: "allow", Match: "Bash", Call: call, Digest: got.Digest},
		"no such call":   {Effect: "allow", Match: rule.Match, Call: "cal_none", Digest: got.Digest},
		"no effect":      {Effect: "ask", Match: rule.Match, Call: call, Digest: got.Digest},
	} {
		if code := w.post("/v1/rules", in, nil); code < 400 || len(*out) > 0 {
			t.Errorf("%s: status %d, written %v", name, code, *out)
		}
	}
	good := api.AddRule{Effect: "allow", Match: rule.Match, Call: call, Digest: got.Digest}
	// What was safe is tried anew once a person refuses such a call.
	w.settle("m3", "git push origin main", "denied")
	if code := w.post("/v1/rules", good, nil); code < 400 || len(*out) > 0 {
		t.Errorf("after a refusal: status %d, written %v", code, *out)
	}
	if got, _ := w.tried(rule); got.Safe || len(got.Backtest.Opened) != 1 {
		t.Errorf("after a refusal the trial says %+v", got.Backtest)
	}
	if code := w.post("/v1/rules", good, nil); code < 400 || len(*out) > 0 {
		t.Errorf("what was refused: status %d, written %v", code, *out)
	}
	// To deny is to tighten.
	deny, _ := w.tried(api.TryRule{Effect: "deny", Match: rule.Match, Call: call})
	if code := w.post("/v1/rules", api.AddRule{Effect: "deny", Match: rule.Match, Call: call, Digest: deny.Digest}, nil); code != http.StatusOK || len(*out) != 1 ||
		!strings.Contains((*out)[0].After, "deny:\n  - Bash(git push origin main)\n") {
		t.Errorf("a denial: status %d, written %v", code, *out)
	}
}

// Each command of a line becomes a rule of its own; which of them is denied, a
// person has to say.
func TestALineBecomesSeveralRules(t *testing.T) {
	w := newWorld(t)
	w.withRules()
	call := w.settle("m1", "git push origin main && git push origin next", "allowed")
	got, code := w.tried(api.TryRule{Effect: "allow", Call: call})
	if diff := fmt.Sprint(got.Diff); code != http.StatusOK || !got.Safe || got.Match != "Bash(git push origin main) + Bash(git push origin next)" ||
		!strings.Contains(diff, "- Bash(git push origin main)") || !strings.Contains(diff, "- Bash(git push origin next)") || strings.Contains(diff, " + ") {
		t.Errorf("%d: %s, %v", code, got.Match, got.Diff)
	}
	if got, code := w.tried(api.TryRule{Effect: "deny", Call: call}); code != http.StatusBadRequest {
		t.Errorf("a denial: %d, %+v", code, got)
	}
}

func TestRulesAndExplanations(t *testing.T) {
	w := newWorld(t)
	w.withRules()
	call := w.settle("m1", "git push origin main", "allowed")
	var rules api.Rules
	w.get("/v1/rules", &rules)
	if len(rules.Rules) == 0 || rules.Rules[0].Text == "" || rules.Rules[0].Layer == "" {
		t.Errorf("rules %+v", rules)
	}
	var said api.Explained
	if code := w.post("/v1/rules/explain", api.Explain{Tool: "Bash", Input: "cat \u202ex | sh"}, &said); code != http.StatusOK || said.Verdict.Effect != "ask" || strings.Contains(fmt.Sprint(said), "\u202e") {
		t.Errorf("%d: %+v", code, said)
	}
	if code := w.post("/v1/rules/explain", api.Explain{Call: call}, &said); code != http.StatusOK || said.Card.Subject != "git push origin main" || len(said.Layers) < 4 {
		t.Errorf("%d: %+v", code, said)
	}
	for _, bad := range []api.Explain{{}, {Tool: "Bash", Project: "here"}, {Tool: "Bash", Mode: "root"}, {Tool: "mcp__x", Input: "text"}} {
		if code := w.post("/v1/rules/explain", bad, nil); code != http.StatusBadRequest {
			t.Errorf("%+v: status %d", bad, code)
		}
	}
	var found api.Suggestions
	w.settle("m2", "git push origin main", "allowed")
	for !found.Work.Ready {
		w.post("/v1/rules/suggest", api.SuggestRules{Anew: true}, &found)
	}
	if len(found.Rules) != 1 || found.Rules[0].Match != "Bash(git push origin main)" || found.Rules[0].Saves != 2 || found.Rules[0].Call == "" {
		t.Errorf("suggestions %+v", found)
	}
}

func TestHistoryIsNarrowed(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.settle(fmt.Sprint("m", i), fmt.Sprint("git push origin branch-", i), []string{"allowed", "denied"}[i%2])
	}
	count := func(query string) int {
		t.Helper()
		n, after := 0, ""
		for {
			var part api.History
			w.get("/v1/history?"+query+after, &part)
			n += len(part.Calls)
			if part.Next == "" {
				return n
			}
			after = "&after=" + part.Next
		}
	}
	for query, want := range map[string]int{
		"": 5, "limit=2": 5, "outcome=denied": 2, "outcome=denied&limit=1": 2, "q=PUSH+Branch-3": 1, "tool=Bash": 5, "tool=Edit": 0, "by=person": 5, "by=rules": 0, "session=none": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("%q: %d calls, want %d", query, got, want)
		}
	}
	for _, bad := range []string{"by=god", "limit=0", "limit=501", "colour=red", "q=a&q=b"} {
		if res := send(w.tcp, w.as(w.request("GET", "/v1/history?"+bad, nil), "browser")); res.Code != http.StatusBadRequest {
			t.Errorf("%q: status %d", bad, res.Code)
		}
	}
	var in api.Insight
	w.get("/v1/insight?days=7&offset=60", &in)
	if len(in.Days) != 7 || in.Calls != 5 || in.Asked != 5 || in.Rules != 0 || len(in.Most) != 1 || in.Most[0].Allowed != 3 || in.Most[0].Denied != 2 {
		t.Errorf("insight %+v", in)
	}
	var f api.Facets
	w.get("/v1/history/facets", &f)
	if len(f.Tools) != 1 || f.Tools[0] != "Bash" || len(f.Sessions) != 1 || len(f.Agents) != 1 {
		t.Errorf("facets %+v", f)
	}
}

// The page says how far the chain is whole, and when it is not.
func TestTheChainIsChecked(t *testing.T) {
	w := newWorld(t)
	w.settle("m1", "deploy", "allowed")
	var a api.Audit
	for a.Checked == 0 || a.Checked < a.Seq {
		w.get("/v1/audit", &a)
	}
	if a.Problem != "" || a.At == nil || time.Since(*a.At) > time.Minute {
		t.Errorf("audit %+v", a)
	}
}

// A row of a list has nothing that one could decide on.
func TestBriefCallsCannotBeDecided(t *testing.T) {
	w := newWorld(t)
	w.propose("m1", "deploy")
	var list api.Calls
	w.get("/v1/calls?state=pending&brief=true", &list)
	c := list.Calls[0]
	if !c.Brief || c.Digest != "" || len(c.Card.Blocks) > 0 || string(c.Input) != "null" || c.Remember != nil || c.Card.Subject != "deploy" {
		t.Errorf("%+v", c)
	}
	if code := w.post("/v1/calls/"+c.ID+"/decision", api.Decision{State: "allowed", Digest: c.Digest}, nil); code != http.StatusBadRequest {
		t.Errorf("deciding without a digest got status %d", code)
	}
}

// Rows tell which calls are the same, and which are not.
func TestRowsTellWhichAreTheSame(t *testing.T) {
	w := newWorld(t)
	for i, command := range []string{"deploy", "deploy", "deploy twice"} {
		w.propose(fmt.Sprint("m", i), command)
	}
	var list api.Calls
	w.get("/v1/calls?state=pending&brief=true&whole=1", &list)
	if c := list.Calls; c[0].Same == "" || c[0].Same != c[1].Same || c[0].Same == c[2].Same || strings.Contains(c[0].Digest, c[0].Same) {
		t.Errorf("%q, %q and %q", c[0].Same, c[1].Same, c[2].Same)
	}
}

// A list stays small whatever agents propose, and cuts no name of a character.
func TestRowsOfLargeCallsAreSmall(t *testing.T) {
	w := newWorld(t)
	w.propose("m1", "deploy "+strings.Repeat("\u202e", 100_000))
	var list api.Calls
	w.get("/v1/calls?state=pending&brief=true", &list)
	s := list.Calls[0].Card.Subject
	if len(s) > 1100 || !strings.HasPrefix(s, "deploy ⟨U+202E⟩") || !strings.HasSuffix(s, "⟩…") {
		t.Errorf("the row says %s", s)
	}
	raw, err := json.Marshal(list)
	if err != nil || len(raw) > 10_000 {
		t.Errorf("the list has %d bytes (%v)", len(raw), err)
	}
}

// The first card needs no second question: the calls that a list begins with can
// be whole.
func TestABriefListCanBeginWithWholeCalls(t *testing.T) {
	w := newWorld(t)
	w.propose("m1", "deploy one")
	w.propose("m2", "deploy two")
	var list api.Calls
	w.get("/v1/calls?state=pending&brief=true&whole=1", &list)
	if c := list.Calls; len(c) != 2 || c[0].Brief || c[0].Digest == "" || !c[1].Brief {
		t.Errorf("%+v", c)
	}
	for _, query := range []string{"whole=1", "brief=true&whole=11", "brief=true&whole=-1", "brief=true&whole=x", "brief=true&whole=1&whole=2"} {
		if code := send(w.tcp, w.as(w.request("GET", "/v1/calls?state=pending&"+query, nil), "browser")).Code; code != http.StatusBadRequest {
			t.Errorf("%s got status %d", query, code)
		}
	}
}

// SEC-13: at the public address the same checks hold, for that address; its
// cookie goes nowhere without TLS.
func TestThePublicAddress(t *testing.T) {
	w := newWorld(t)
	w.withRules()
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"gate.example", public, http.StatusOK},
		{"gate.example", "http://gate.example", http.StatusForbidden},
		{"gate.example", origin, http.StatusForbidden},
		{host, public, http.StatusForbidden},
		{"evil.example", public, http.StatusMisdirectedRequest},
	} {
		code, _, err := w.auth.Code(t.Context(), w.key(w.decide))
		if err != nil {
			t.Fatal(err)
		}
		r := w.request("POST", "/v1/login", api.Login{Code: code})
		r.Host = c.host
		r.Header.Set("Origin", c.origin)
		res := send(w.tcp, r)
		if res.Code != c.want {
			t.Errorf("%s from %s: status %d, want %d", c.host, c.origin, res.Code, c.want)
		}
		if cookie := res.Header().Get("Set-Cookie"); c.want == http.StatusOK && !strings.Contains(cookie, "; Secure") {
			t.Errorf("the cookie is %q", cookie)
		}
	}
	var link api.PhoneLink
	if code := w.post("/v1/phone-link", api.None{}, &link); code != http.StatusOK || !strings.HasPrefix(link.URL, public+"/login#c=") || len(link.QR) < 29 {
		t.Errorf("%d: %+v", code, link)
	}
}

// A page that was left open for a moment lets nobody in for good.
func TestADeviceThatAPageLetIn(t *testing.T) {
	w := newWorld(t)
	w.withRules()
	var link api.PhoneLink
	if code := w.post("/v1/phone-link", api.None{}, &link); code != http.StatusOK {
		t.Fatal(code)
	}
	_, secret, _ := strings.Cut(link.URL, "#c=")
	phone := *w
	phone.loginWith(secret)
	status := func(w *world) int { return send(w.tcp, w.as(w.request("GET", "/v1/status", nil), "browser")).Code }
	if code := status(&phone); code != http.StatusOK {
		t.Fatal(code)
	}
	if code := phone.post("/v1/phone-link", api.None{}, nil); code != http.StatusForbidden {
		t.Errorf("a link of the phone's own: %d", code)
	}
	if code := w.post("/v1/logout", api.None{}, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	if code := status(&phone); code != http.StatusUnauthorized {
		t.Errorf("after the page logged out: %d", code)
	}
}
