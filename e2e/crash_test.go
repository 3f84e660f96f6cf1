package e2e

import (
	"os"
	"syscall"
	"testing"
)

// A waiting call survives the gateway's violent death: neither the agent, nor
// its hook, nor the person at the page has to do anything again.
func TestKilledGatewayComesBackAndTheSameHookIsAnswered(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"), wouldRun)
	before := in.waitCard("touch x")
	hook := a.waitHook()

	g.kill()
	in.waitOffline()
	if a.made("x") {
		t.Error("the call ran when the gateway died")
	}
	g.start()
	in.waitLive()

	after := in.waitCard("touch x")
	if after.id != before.id {
		t.Errorf("after the restart the call is %s, want %s", after.id, before.id)
	}
	if got := a.hooks(); len(got) != 1 || got[0] != hook {
		t.Errorf("after the restart the hooks are %v, want only %d", got, hook)
	}
	after.allow()
	wantDone(t, s.result())
	if !a.made("x") {
		t.Error("the allowed call did not run")
	}
	g.stop()
}

// A gateway that never comes back allows nothing, however the agent ends.
func TestDeadGatewayNeverAllows(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"agent interrupted": syscall.SIGINT, "agent killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, "")
			a := gatedAgent(t, g)
			s := a.print(touch("x"), wouldRun)
			until(t, "the call to wait", func() bool { return len(g.waiting()) == 1 })
			a.waitHook()

			g.kill()
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.waitExit()
			if a.made("x") {
				t.Error("the call ran although nobody allowed it")
			}
		})
	}
}

// A hook whose agent was killed has nobody to answer. It ends, and takes the
// question off the page: nobody should decide what no longer matters.
func TestHookDoesNotOutliveItsAgent(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), gatedAgent(t, g)
	s := a.print(touch("x"), wouldRun)
	c := in.waitCard("touch x")
	a.waitHook()

	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.waitExit()
	until(t, "the hook to end", func() bool { return len(a.hooks()) == 0 })
	c.waitSettled()
	if a.made("x") {
		t.Error("the call ran although nobody allowed it")
	}
}

func TestUnreachableGatewayRefuses(t *testing.T) {
	t.Parallel()
	g := newGateway(t) // never started
	a := gatedAgent(t, g)

	wantDone(t, a.print(touch("x"), wouldRun).result())
	if a.made("x") {
		t.Error("the call ran without a gateway")
	}
	a.sawRefusal("not reachable")
}
