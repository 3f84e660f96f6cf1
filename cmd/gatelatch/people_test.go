package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// mustRun is command for what has to succeed.
func mustRun(t *testing.T, opt gatewayOptions, args ...string) string {
	t.Helper()
	out, err := command(t, opt, args...)
	if err != nil {
		t.Fatalf("%v: %v, hint %q\n%s", args, err, hintOf(err), out)
	}
	return out
}

// show returns a call as JSON has it.
func show(t *testing.T, opt gatewayOptions, id string) (c api.Call) {
	t.Helper()
	if err := json.Unmarshal([]byte(mustRun(t, opt, "show", id, "--json")), &c); err != nil {
		t.Fatal(err)
	}
	input, err := strictjson.Compact(c.Input) // it was indented
	if err != nil {
		t.Fatal(err)
	}
	c.Input = input
	return c
}

// S3: refuse and interrupt, or answer in words.
func TestDenyAndReply(t *testing.T) {
	opt := testGateway(t)
	stop, words := ask(t, opt, "m1", "git push").Calls[0].ID, ask(t, opt, "m2", "git push -f").Calls[0].ID
	if out := mustRun(t, opt, "deny", stop, "--interrupt", "--note", "enough"); !strings.HasPrefix(out, "denied and interrupted: ") {
		t.Errorf("deny: %s", out)
	}
	if d := show(t, opt, stop).Decided; !d.Interrupt || d.Reply || d.Note != "enough" {
		t.Errorf("%+v", d)
	}
	if out := mustRun(t, opt, "reply", words, "use\nthe branch"); !strings.HasPrefix(out, "denied with a reply: ") {
		t.Errorf("reply: %s", out)
	}
	if d := show(t, opt, words).Decided; d.Interrupt || !d.Reply || d.Note != "use\nthe branch" {
		t.Errorf("%+v", d)
	}
	if out := mustRun(t, opt, "show", words); !strings.Contains(out, "with a reply by ") || !strings.Contains(out, ": use the branch\n") {
		t.Errorf("show: %s", out)
	}
	last := ask(t, opt, "m3", "git push").Calls[0].ID
	if _, err := command(t, opt, "reply", last, ""); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("an empty reply: %v", err)
	}
}

// S8: a plan is allowed with how it is carried out.
func TestAllowAPlan(t *testing.T) {
	opt := testGateway(t)
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	input, err := strictjson.Marshal(fields{"plan": "1. Do it."})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "Agent"}, Message: "m",
		Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Plan, Tool: "ExitPlanMode", Input: input}},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Calls[0].ID
	if _, err := command(t, opt, "allow", id, "--choice", "somehow"); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("an unknown choice: %v", err)
	}
	if _, err := command(t, opt, "allow", id, "--for", "session"); err == nil {
		t.Error("a plan was remembered")
	}
	mustRun(t, opt, "allow", id, "--choice", "clearContextAndStart")
	if out := mustRun(t, opt, "show", id); !strings.Contains(out, ", clearContextAndStart\n") {
		t.Errorf("show: %s", out)
	}
}

func TestShowSaysWhatBecameOfAnAllow(t *testing.T) {
	opt := testGateway(t)
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	b := ask(t, opt, "m1", "git push")
	id := b.Calls[0].ID
	mustRun(t, opt, "allow", id)
	if out := mustRun(t, opt, "show", id); !strings.Contains(out, "\nlapses   ") || strings.Contains(out, "\nbegan ") {
		t.Errorf("before it is taken: %s", out)
	}
	if _, err := c.Await(t.Context(), b.ID, gatelatch.Hold{Holder: "h", Consume: true}); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, opt, "show", id); !strings.Contains(out, "\nbegan    ") || strings.Contains(out, "\nlapses ") || strings.Contains(out, "\noutcome ") {
		t.Errorf("while it runs: %s", out)
	}
	if err := c.Report(t.Context(), gatelatch.Report{Session: "s", Ref: "m1"}); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, opt, "show", id); !strings.Contains(out, "\noutcome  failed, ") {
		t.Errorf("at the end: %s", out)
	}
	if out := mustRun(t, opt, "ls", "--settled"); !strings.Contains(out, ", failed") {
		t.Errorf("ls --settled: %s", out)
	}
}

func TestShowSaysAReasonOnce(t *testing.T) {
	opt := testGateway(t)
	id := ask(t, opt, "m1", "git push origin $x && git push origin $x").Calls[0].ID
	out := mustRun(t, opt, "show", id)
	if n := strings.Count(out, "\nremember "); n != 1 || !strings.Contains(out, "\nremember no: ") {
		t.Errorf("it says %d times that it can't be remembered:\n%s", n, out)
	}
	if !strings.Contains(out, "\nask  ") {
		t.Errorf("no reason:\n%s", out)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "ask ") && seen[line] {
			t.Errorf("twice: %s", line)
		}
		seen[line] = true
	}
}
