package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// SEC-25: a script that is swapped while its card waits does not run. Asked
// again, it is another card, for what it says now.
func TestSwappedScriptDoesNotRun(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	d, a := g.desk(), gatedAgent(t, g)
	script := func(text string) {
		if err := os.WriteFile(filepath.Join(a.project, "job.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script("touch asked-for")
	job := scriptedmodel.Bash("sh job.sh")
	s := a.print(scriptedmodel.Prompt(job, job, scriptedmodel.Say("done")), "--allowedTools=Bash")

	first := d.await("sh job.sh")
	script("touch swapped")
	d.allow(first)
	second := d.await("sh job.sh")
	if a.made("asked-for") || a.made("swapped") {
		t.Error("the swapped script ran")
	}
	a.sawRefusal("job.sh changed since this was asked about; ask again")
	if first.Bound == nil || second.Bound == nil || len(second.Bound.Files) != 1 || first.Bound.Files[0].Sum == second.Bound.Files[0].Sum {
		t.Errorf("bound to %+v, then %+v", first.Bound, second.Bound)
	}
	d.allow(second)

	wantDone(t, s.result())
	if !a.made("swapped") {
		t.Error("what was allowed as it is did not run")
	}
}
