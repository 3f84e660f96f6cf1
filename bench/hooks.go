package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// pendingBeside is how much waits for people while the hook is timed.
const pendingBeside = 1000

// hooks times the real hook against the real gateway, for a call that policy
// allows: judged, committed, audited.
func hooks(r *rig) error {
	bins, err := build(r.dir, "bench/hello", "cmd/gatelatch", "cmd/gatelatch-hook")
	if err != nil {
		return err
	}
	commit, err := sqliteCommits(r.dir, r.n)
	if err != nil {
		return err
	}
	ctx := context.Background()
	f, err := fill(ctx, r.dir)
	if err != nil {
		return err
	}
	err = inParallel(clients, pendingBeside, func(i int) error { _, _, err := f.propose(ctx, i); return err })
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer g.stop()
	// One after the other, so that whatever else the machine does hits all.
	runs, err := sideBySide(r.n,
		func(int) error { return exec.Command(bins["hello"]).Run() },
		func(i int) error { return oneHook("gatelatch-hook", bins["gatelatch-hook"], g.state, r.dir, i) },
		func(i int) error { return oneHook("gatelatch hook", bins["gatelatch"], g.state, r.dir, i) },
	)
	if err != nil {
		return err
	}
	hello := runs[0]
	commit.print("one bare SQLite commit (WAL, synchronous=FULL)")
	hello.print("a Go process that says hello")
	runs[1].print("gatelatch-hook, a call that policy allows")
	runs[2].print("the same by the whole program, which nobody installs as a hook")
	r.most("gatelatch-hook, p50, by 4 × hello", ms(runs[1].p50()), ms(4*hello.p50()), "ms")
	r.most(fmt.Sprintf("gatelatch-hook, p99, with %d pending", pendingBeside), ms(runs[1].p99()), 15, "ms")
	return nil
}

func oneHook(name, bin string, state statedir.Dir, dir string, i int) error {
	args := []string{"claude", "--state", string(state), "--limit", "60"}
	if name == "gatelatch hook" {
		args = append([]string{"hook"}, args...)
	}
	cmd := exec.Command(bin, args...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"bench","cwd":%q,"prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"pwd"},"tool_use_id":"%s_%d_%d"}`,
		dir, strings.ReplaceAll(name, " ", "_"), os.Getpid(), time.Now().UnixNano()+int64(i)))
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte(`"permissionDecision":"allow"`)) {
		return fmt.Errorf("%s answered %s", name, out)
	}
	return nil
}
