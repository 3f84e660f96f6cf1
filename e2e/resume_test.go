package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// resumer is "gatelatch resume" in the user's own process and environment.
type resumer struct {
	cmd    *exec.Cmd
	out    output.Buffer
	exited chan struct{}
}

func (a *agent) resume(g *gateway, args ...string) *resumer {
	a.t.Helper()
	r := &resumer{exited: make(chan struct{})}
	args = append([]string{"resume", "--state", g.state, "--claude", a.bin}, args...)
	r.cmd = exec.Command(need(a.t, product).gatelatch, args...)
	r.cmd.Dir, r.cmd.Env = a.home, a.env() // not the project: it has to find that
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	if err := r.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() {
		defer close(r.exited)
		_ = r.cmd.Wait() // how it ended is in ProcessState
	}()
	a.t.Cleanup(func() {
		_ = r.cmd.Process.Kill() // usually ended already
		<-r.exited
		if a.t.Failed() {
			a.t.Logf("gatelatch resume: %s", &r.out)
		}
	})
	return r
}

// A headless agent ends while its call waits, and so may the gateway: whoever
// watches goes on with it, in the agent's own folder, once somebody decided.
func TestDeferredCallIsResumedAfterADecision(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := gatedAgent(t, g, "--defer-after", "0s")
	watch := a.resume(g, "--watch", "--", "--permission-mode", "default")

	s := a.print(touch("x"), wouldRun)
	r := s.result()
	if r.IsError || r.Terminal != "tool_deferred" || a.made("x") {
		t.Fatalf("claude ended with %+v; x was made: %v", r, a.made("x"))
	}
	g.kill()
	g.start()
	d := g.desk()
	c := d.await("touch x")
	if !c.Parked {
		t.Error("the card does not say that nobody waits at present")
	}
	second := a.resume(g)
	<-second.exited
	if second.cmd.ProcessState.Success() || !strings.Contains(second.out.String(), "another") {
		t.Errorf("a second resumer: %v, %s", second.cmd.ProcessState, &second.out)
	}
	d.decide(d.edit(c, `{"command":"touch y"}`), api.Decision{State: "allowed"})
	until(t, "the agent to go on", func() bool { return strings.Contains(watch.out.String(), "done") })
	if a.made("x") || !a.made("y") {
		t.Errorf("x was made: %v, y: %v; want what was allowed", a.made("x"), a.made("y"))
	}
	if !a.model.Saw("The user changed this call before allowing it") {
		t.Error("the model was not told what was changed")
	}
	if err := watch.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-watch.exited
	if !watch.cmd.ProcessState.Success() {
		t.Errorf("the resumer ended with %v", watch.cmd.ProcessState)
	}
}

// Of two calls at once the host would forget the first. One is deferred, the
// other is told to ask again, and then gets the decision about it.
func TestOneDeferralForASession(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nask:\n  - Read\n")
	a := gatedAgent(t, g, "--defer-after", "0s")
	var both scriptedmodel.Turn
	for _, f := range []string{"a", "b"} {
		file := filepath.Join(a.project, f)
		if err := os.WriteFile(file, []byte("content of "+f), 0o600); err != nil {
			t.Fatal(err)
		}
		both.Content = append(both.Content, scriptedmodel.Block{Tool: "Read", Input: map[string]any{"file_path": file}})
	}
	s := a.print(scriptedmodel.Prompt(both, both, scriptedmodel.Say("done")))
	if r := s.result(); r.Terminal != "tool_deferred" {
		t.Fatalf("claude ended with %+v", r)
	}
	d := g.desk()
	waiting := d.pending()
	if len(waiting) != 2 {
		t.Fatalf("%d calls wait", len(waiting))
	}
	for _, c := range waiting {
		d.allow(c)
	}
	r := a.resume(g, "--", "--permission-mode", "default")
	<-r.exited
	if !r.cmd.ProcessState.Success() {
		t.Errorf("the resumer ended with %v", r.cmd.ProcessState)
	}
	a.sawRefusal("another call of this session already waits for approval")
	// The one that was told to ask again ran without being asked about twice.
	// What had run by then is asked anew, which ends the agent again.
	if !a.model.Saw("content of a") && !a.model.Saw("content of b") || len(d.pending()) != 1 {
		t.Errorf("%d calls wait; tool results: %+v", len(d.pending()), a.model.Results())
	}
	d.allow(d.pending()[0])
	r = a.resume(g, "--", "--permission-mode", "default")
	<-r.exited
	if !a.model.Saw("content of a") || !a.model.Saw("content of b") || !strings.Contains(r.out.String(), "done") {
		t.Errorf("tool results: %+v", a.model.Results())
	}
	if n := len(d.pending()); n != 0 {
		t.Errorf("%d calls wait", n)
	}
}
