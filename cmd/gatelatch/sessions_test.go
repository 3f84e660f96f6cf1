package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// P10: a person chooses the mode of a session in the terminal.
func TestModeOfASession(t *testing.T) {
	opt := testGateway(t)
	if out := mustRun(t, opt, "sessions"); out != "No agent has asked yet.\n" {
		t.Errorf("sessions: %s", out)
	}
	ask(t, opt, "m1", "git push origin main")
	if out := mustRun(t, opt, "sessions"); !strings.Contains(out, "as the policy says") {
		t.Errorf("sessions: %s", out)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"mode", "s", "yolo"}, "none of"},
		{[]string{"mode", "nobody", "plan"}, "no session"},
		{[]string{"mode", "s", "bypassPermissions"}, "needs a time"},
		{[]string{"mode", "s", "bypassPermissions", "--for", "48h"}, "at most"},
		{[]string{"mode", "s", "plan", "--for", "1ms"}, "whole seconds"},
	} {
		if _, err := command(t, opt, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v", tt.args, err)
		}
	}
	if out := mustRun(t, opt, "mode", "s", "bypassPermissions", "--for", "30m"); !strings.Contains(out, "bypassPermissions until ") {
		t.Errorf("mode: %s", out)
	}
	if c := ask(t, opt, "m2", "git push origin next").Calls[0]; c.State != gatelatch.Allowed {
		t.Errorf("in bypass the call is %s", c.State)
	}
	mustRun(t, opt, "mode", "s", "default")
	if c := ask(t, opt, "m3", "git push origin last").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("back in default the call is %s", c.State)
	}
	if out := mustRun(t, opt, "log"); !strings.Contains(out, "mode") {
		t.Errorf("log does not tell of the mode: %s", out)
	}
}

// A person stops a session in the terminal: what waits is denied, and the next
// call ends the turn.
func TestInterruptASession(t *testing.T) {
	opt := testGateway(t)
	waits := ask(t, opt, "m1", "git push origin main").Calls[0].ID
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"interrupt"}, "arg"},
		{[]string{"interrupt", "nobody"}, "no session"},
		{[]string{"interrupt", "s", "--note", strings.Repeat("x", 1<<20)}, "note"},
	} {
		if _, err := command(t, opt, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40v: %v", tt.args, err)
		}
	}
	if got := show(t, opt, waits); got.State != "pending" {
		t.Errorf("before it is %s", got.State)
	}
	if out := mustRun(t, opt, "interrupt", "s", "--note", "look first"); !strings.HasSuffix(out, ", s: interrupted\n") {
		t.Errorf("interrupt: %s", out)
	}
	if got := show(t, opt, waits); got.State != "denied" || !got.Decided.Interrupt || got.Decided.Note != "look first" {
		t.Errorf("what waited is %s, %+v", got.State, got.Decided)
	}
	if c := ask(t, opt, "m2", "ls").Calls[0]; c.State != gatelatch.Denied || !c.Decided.Interrupt {
		t.Errorf("the next call is %s, %+v", c.State, c.Decided)
	}
	if c := ask(t, opt, "m3", "ls").Calls[0]; c.State != gatelatch.Pending {
		t.Errorf("the call after it is %s", c.State)
	}
	var s api.AgentSession
	if err := json.Unmarshal([]byte(mustRun(t, opt, "interrupt", "s", "--json")), &s); err != nil || s.Session.ID != "s" {
		t.Errorf("interrupt --json: %+v, %v", s, err)
	}
	if out := mustRun(t, opt, "log"); !strings.Contains(out, "look first") {
		t.Errorf("log does not tell of it: %s", out)
	}
}
