package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// REL-31: a host that never closes the hook's input still gets a denial before
// its own limit ends.
func TestHookThatIsNeverFedDenies(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), need(t, product).hook, "claude", "--state", tempDir(t), "--limit", "1")
	in, err := cmd.StdinPipe() // stays open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out.String(), `"permissionDecision":"deny"`) {
		t.Errorf("%v, stdout %q, stderr %q", err, out.String(), stderr.String())
	}
}

// T13: a hook that dies without a word, or is not there at all, lets nothing
// through, although the agent itself would be content with the call.
func TestHookThatIsGoneAllowsNothing(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := gatedAgent(t, g)
	s := a.print(scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Bash("touch y"), scriptedmodel.Say("done")), wouldRun)
	d := g.desk()
	d.await("touch x")
	if err := syscall.Kill(a.waitHook(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c := d.await("touch y")
	a.moveHook("/nowhere/gatelatch-hook")
	d.decide(c, api.Decision{State: "denied"})
	wantDone(t, s.result())

	wantDone(t, a.print(touch("z"), wouldRun).result())
	for _, f := range []string{"x", "y", "z"} {
		if a.made(f) {
			t.Errorf("%s was made, which nobody allowed", f)
		}
	}
	a.sawRefusal("/nowhere/gatelatch-hook")
}
