package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
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
