package main

import (
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
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
