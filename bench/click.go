package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// clicking times what an agent waits after a person's click: the decision's
// request, two commits, and the hook that wakes, answers and ends.
func clicking(r *rig) error {
	bins, err := build(r.dir, "cmd/gatelatch", "cmd/gatelatch-hook")
	if err != nil {
		return err
	}
	commit, err := sqliteCommits(r.dir, r.n)
	if err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer g.stop()
	people, err := client.ForPeople(g.state)
	if err != nil {
		return err
	}
	var s sample
	for i := range r.n {
		took, err := oneClick(people, bins["gatelatch-hook"], r.dir, i)
		if err != nil {
			return err
		}
		s = append(s, took)
	}
	slices.Sort(s)
	commit.print("one bare SQLite commit (WAL, synchronous=FULL)")
	s.print("a person decides → the hook has answered and ended")
	r.most("a click → the agent goes on, p50", ms(s.p50()), 20, "ms")
	return nil
}

// oneClick lets a hook wait for a person and decides.
func oneClick(people *client.Client, bin, dir string, i int) (time.Duration, error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, bin, "claude", "--state", string(people.State()), "--limit", "60")
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"click","cwd":%q,"prompt_id":"p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push %d"},"tool_use_id":"click_%d"}`, dir, i, i))
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	c, err := onlyPending(ctx, people)
	if err != nil {
		return 0, errors.Join(err, cmd.Wait())
	}
	begin := time.Now()
	_, err = people.Decide(ctx, c.ID, api.Decision{State: "allowed", Digest: c.Digest})
	err = errors.Join(err, cmd.Wait())
	took := time.Since(begin)
	if err == nil && !bytes.Contains(out.Bytes(), []byte(`"permissionDecision":"allow"`)) {
		err = fmt.Errorf("the hook answered %s", out.String())
	}
	return took, err
}

// onlyPending waits for the one call that waits, and for its hook to do so.
func onlyPending(ctx context.Context, people *client.Client) (api.Call, error) {
	for {
		list, err := people.Calls(ctx, "pending", "", 1)
		if err != nil || ctx.Err() != nil {
			return api.Call{}, errors.Join(err, ctx.Err())
		}
		time.Sleep(5 * time.Millisecond)
		if len(list.Calls) > 0 {
			return list.Calls[0], nil
		}
	}
}
