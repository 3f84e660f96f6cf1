package gatelatch_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/store/memory"
)

// rationed is several gates over one store, as several gateways are.
type rationed struct {
	*testing.T
	store *memory.Store
	gates []*gatelatch.Gate
	n     int
}

var (
	noisy  = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_noisy", Name: "Noisy"}
	calm   = gatelatch.Actor{Kind: gatelatch.AgentActor, ID: "key_calm", Name: "Calm"}
	strict = gatelatch.Quota{Rate: 20, Burst: 50, Pending: 1000, Again: time.Minute, Overs: 3}
)

func ration(t *testing.T, q gatelatch.Quota, gates int) *rationed {
	r := &rationed{T: t, store: memory.New(memory.Options{})}
	for _, who := range []gatelatch.Actor{noisy, calm} {
		err := r.store.Update(t.Context(), func(tx gatelatch.Tx) error {
			return tx.SaveKey(&gatelatch.Key{ID: who.ID, Kind: gatelatch.AskKey, Name: who.Name, Hash: gatelatch.SumOf([]byte(who.ID))})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range gates {
		g := gatelatch.New(r.store, byTool{})
		g.Quota = q
		r.gates = append(r.gates, g)
	}
	return r
}

func (r *rationed) ask(who gatelatch.Actor, input, turn string) *gatelatch.Call {
	r.Helper()
	return r.askIn("s", who, input, turn)
}

func (r *rationed) askIn(session string, who gatelatch.Actor, input, turn string) *gatelatch.Call {
	r.Helper()
	r.n++
	tool := "ask"
	if input == "ok" {
		tool = "allow"
	}
	b, err := r.gates[r.n%len(r.gates)].As(who).Propose(r.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: session, Name: "Claude Code", Project: "/home/mira/shop"}, Message: fmt.Sprint("m", r.n), Pair: turn,
		Calls: []gatelatch.ProposedCall{{Tool: tool, Input: []byte(`"` + input + `"`)}},
	})
	if err != nil {
		r.Fatal(err)
	}
	return b.Calls[0]
}

func (r *rationed) flood(n int) (asked, denied int) {
	for i := range n {
		switch c := r.ask(noisy, fmt.Sprint("x", r.n, i), ""); c.State {
		case gatelatch.Pending:
			asked++
		case gatelatch.Denied:
			denied++
			if a := c.Answer(); !strings.Contains(a, "this agent") || c.Verdict.Reasons[0].Layer != "quota" {
				r.Errorf("it is told %q", a)
			}
		default:
			r.Errorf("state %s", c.State)
		}
	}
	return asked, denied
}

// SEC-60: an agent has so much of people's attention and no more, at all
// gateways together, and what rules settle costs none of it.
func TestQuotaOfAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ration(t, strict, 3)
		if asked, denied := r.flood(60); asked != 50 || denied != 10 {
			t.Errorf("at once: %d asked, %d denied", asked, denied)
		}
		if c := r.ask(noisy, "ok", ""); c.State != gatelatch.Allowed {
			t.Errorf("what rules allow is %s", c.State)
		}
		if c := r.ask(calm, "x", ""); c.State != gatelatch.Pending {
			t.Errorf("another agent's ask is %s", c.State)
		}
		<-time.After(time.Minute + time.Second)
		if asked, denied := r.flood(30); asked != 20 || denied != 10 {
			t.Errorf("a minute later: %d asked, %d denied", asked, denied)
		}
		p, err := r.gates[0].As(mira).List(t.Context(), gatelatch.Query{Pending: true, Limit: 500})
		if err != nil || len(p.Calls) != 71 {
			t.Errorf("%d wait, %v: nothing that waits is dropped", len(p.Calls), err)
		}
	})
}

// SEC-74: so many wait, and a new ask is refused rather than an old one dropped.
func TestQuotaOfPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ration(t, gatelatch.Quota{Pending: 5}, 2)
		if asked, denied := r.flood(8); asked != 5 || denied != 3 {
			t.Errorf("%d asked, %d denied", asked, denied)
		}
		p, err := r.gates[0].As(mira).List(t.Context(), gatelatch.Query{Pending: true})
		if err != nil || len(p.Calls) != 5 {
			t.Fatalf("%d wait, %v", len(p.Calls), err)
		}
		l := p.Calls[0]
		if _, err := r.gates[1].As(mira).Decide(t.Context(), l.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: l.Digest}); err != nil {
			t.Fatal(err)
		}
		if asked, denied := r.flood(2); asked != 1 || denied != 1 {
			t.Errorf("after a decision: %d asked, %d denied", asked, denied)
		}
	})
}

// SEC-60: who goes on asking too much is muted until a person says otherwise,
// also by a gate that starts afterwards.
func TestNoisyAgentIsMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ration(t, strict, 1)
		for range 3 {
			r.flood(70)
			<-time.After(time.Minute + time.Second)
		}
		restarted := gatelatch.New(r.store, byTool{})
		restarted.Quota = strict
		r.gates = []*gatelatch.Gate{restarted}
		<-time.After(time.Hour)
		if c := r.ask(noisy, "please", ""); c.State != gatelatch.Denied || !strings.Contains(c.Answer(), "gatelatch unmute") {
			t.Errorf("a muted agent's ask is %s: %s", c.State, c.Answer())
		}
		if c := r.ask(noisy, "ok", ""); c.State != gatelatch.Allowed {
			t.Errorf("what rules allow is %s", c.State)
		}
		seat := restarted.As(mira)
		st, err := seat.Status(t.Context())
		if err != nil || len(st.Muted) != 1 || st.Muted[noisy.ID].Name != "Noisy" {
			t.Errorf("%+v, %v", st.Muted, err)
		}
		if err := restarted.As(noisy).Unmute(t.Context(), noisy.ID); err == nil {
			t.Error("an agent unmutes itself")
		}
		if err := seat.Unmute(t.Context(), noisy.ID); err != nil {
			t.Fatal(err)
		}
		if c := r.ask(noisy, "again", ""); c.State != gatelatch.Pending {
			t.Errorf("afterwards: %s", c.State)
		}
		kinds := map[gatelatch.EventKind]int{}
		var layers int
		for after := gatelatch.Seq(0); ; {
			es, err := seat.Events(t.Context(), after, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range es {
				kinds[e.Kind]++
				after = e.Seq
				if e.Kind == gatelatch.CallJudged && strings.Contains(string(e.Body), `"layer":"quota"`) && json.Valid(e.Body) {
					layers++
				}
			}
			if len(es) == 0 {
				break
			}
		}
		if kinds[gatelatch.AgentMuted] != 1 || kinds[gatelatch.AgentUnmuted] != 1 || layers < 60 {
			t.Errorf("the trail has %v, and %d denials by quota", kinds, layers)
		}
	})
}

// SEC-60: what a person denied is not asked again at once, unless it is another
// call, another turn or later.
func TestDeniedIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ration(t, strict, 2)
		c := r.ask(noisy, "push", "turn 1")
		if _, err := r.gates[0].As(mira).Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Denied, Digest: c.Digest, Note: "tests first"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		for range 2 {
			if c := r.ask(noisy, "push", "turn 1"); c.State != gatelatch.Denied || !strings.Contains(c.Answer(), "tests first") {
				t.Errorf("the same again is %s: %s", c.State, c.Answer())
			}
		}
		for what, c := range map[string]*gatelatch.Call{
			"another input": r.ask(noisy, "push --dry-run", "turn 1"), "another turn": r.ask(noisy, "push", "turn 2"), "another agent": r.ask(calm, "push", "turn 1"),
		} {
			if c.State != gatelatch.Pending {
				t.Errorf("%s is %s", what, c.State)
			}
		}
		<-time.After(time.Minute)
		if c := r.ask(noisy, "push", "turn 1"); c.State != gatelatch.Pending {
			t.Errorf("a minute later it is %s", c.State)
		}
	})
}

// What is remembered of denials stays small: it is read with the agent's key.
func TestLongNotesAreNotRememberedWhole(t *testing.T) {
	r := ration(t, strict, 1)
	c := r.ask(noisy, "x", "t")
	_, err := r.gates[0].As(mira).Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Denied, Digest: c.Digest, Note: strings.Repeat("né", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	err = r.store.View(t.Context(), func(v gatelatch.Reader) error {
		k, err := v.Key(noisy.ID)
		if err == nil && (len(k.Meter.Denied) != 1 || len(k.Meter.Denied[0].Note) > 250 || !strings.HasPrefix(k.Meter.Denied[0].Note, "nén")) {
			t.Errorf("remembered %+v", k.Meter.Denied)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// SEC-60: agents of one machine share a key. One that is noisy takes its own
// share and is muted alone; inventing sessions gives no more than the key has.
func TestSessionsOfOneKeyHaveSharesOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := strict
		q.Together, q.Pending = 4, 60
		r := ration(t, q, 2)
		ask := func(session string, n int) (asked int) {
			for i := range n {
				if c := r.askIn(session, noisy, fmt.Sprint("x", r.n, i), ""); c.State == gatelatch.Pending {
					asked++
				}
			}
			return asked
		}
		if n := ask("loud", 70); n != 50 {
			t.Errorf("%d of the loud one's were asked", n)
		}
		if n := ask("quiet", 10); n != 10 {
			t.Errorf("%d of the quiet one's were asked", n)
		}
		invented := 0
		for i := range 300 {
			invented += ask(fmt.Sprint("invented", i), 1)
		}
		if invented != 4*50-60 {
			t.Errorf("%d were asked by inventing sessions", invented)
		}
		<-time.After(time.Minute + time.Second)
		if n := ask("loud", 15); n != 10 {
			t.Errorf("%d of the loud one's were asked, so more than 60 wait, or fewer than may", n)
		}
		for range 3 {
			ask("loud", 5)
			<-time.After(time.Minute + time.Second)
		}
		st, err := r.gates[0].As(mira).Status(t.Context())
		if err != nil || len(st.Muted) != 1 {
			t.Fatalf("muted: %v, %v", st.Muted, err)
		}
		for id, m := range st.Muted {
			if !strings.HasPrefix(id, noisy.ID+".") || m.Name != "Claude Code in shop" {
				t.Errorf("muted %s: %+v", id, m)
			}
			if ask("loud", 1) != 0 || ask("quiet", 1) != 1 {
				t.Error("who is muted asks, or who is not does not")
			}
			if err := r.gates[1].As(mira).Unmute(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			for i := range 200 {
				ask(fmt.Sprint("again", i), 1)
			}
			<-time.After(time.Minute + time.Second)
		}
		if st, err = r.gates[0].As(mira).Status(t.Context()); err != nil || st.Muted[noisy.ID].Name != "Noisy" {
			t.Errorf("muted: %v, %v", st.Muted, err)
		}
		err = r.store.View(t.Context(), func(v gatelatch.Reader) error {
			k, err := v.Key(noisy.ID)
			if err == nil && len(k.Meter.Sessions) > 4*q.Burst {
				t.Errorf("%d sessions are remembered", len(k.Meter.Sessions))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
