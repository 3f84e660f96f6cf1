package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/adapter/control"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// agentEnv makes this program the agent of its own measurement.
const agentEnv = "GATELATCH_BENCH_AGENT"

// running times a person's click until an agent under "gatelatch run" has the
// answer: the real gateway, the real host, each in a process of its own.
func running(r *rig) error {
	bins, err := build(r.dir, "cmd/gatelatch")
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
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(bins["gatelatch"], "run", "--state", string(g.state), "--", self, "-p", "--output-format", "stream-json", "go")
	cmd.Env, cmd.Stderr = append(os.Environ(), fmt.Sprintf("%s=%d", agentEnv, r.n)), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	clicks, err := click(g, r.n, bufio.NewScanner(out))
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return err
	}
	commit.print("one bare SQLite commit (WAL, synchronous=FULL)")
	clicks.print("decision sent → the agent has its answer, gatelatch run")
	r.most("click → agent under gatelatch run, p50", ms(clicks.p50()), 20, "ms")
	return nil
}

// click decides what the agent asks, and reads when it had each answer.
func click(g *gateway, n int, lines *bufio.Scanner) (out sample, err error) {
	person, err := client.ForPeople(g.state)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(n)*time.Second+30*time.Second)
	defer stop()
	for range n {
		var asked api.Call
		for asked.ID == "" {
			cs, err := person.Calls(ctx, "pending", "", 1)
			if err != nil {
				return nil, err
			}
			if len(cs.Calls) > 0 {
				asked = cs.Calls[0]
			}
		}
		began := time.Now()
		if _, err := person.Decide(ctx, asked.ID, api.Decision{State: "allowed", Digest: asked.Digest}); err != nil {
			return nil, err
		}
		at, err := answeredAt(lines)
		if err != nil {
			return nil, err
		}
		out = append(out, at.Sub(began.Round(0))) // the agent has another clock, of the same machine
	}
	slices.Sort(out)
	return out, nil
}

func answeredAt(lines *bufio.Scanner) (time.Time, error) {
	for lines.Scan() {
		var m struct {
			Type, Behavior string
			At             int64
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.Type != "answered" {
			continue
		}
		if m.Behavior != "allow" {
			return time.Time{}, fmt.Errorf("the agent was answered %q", m.Behavior)
		}
		return time.Unix(0, m.At), nil
	}
	return time.Time{}, errors.New("the agent ended")
}

// playAgent asks n times and says when it was answered.
func playAgent(n int) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, control.MaxMessage)
	hear := func() (m control.Message) {
		for in.Scan() {
			if json.Unmarshal(in.Bytes(), &m) == nil {
				return m
			}
		}
		os.Exit(1)
		return m
	}
	say := func(format string, args ...any) { fmt.Printf(strings.TrimSpace(format)+"\n", args...) }
	say(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"hook_on_failure_supported":true}}}`, hear().RequestID)
	say(`{"type":"system","subtype":"init","session_id":"bench","cwd":"/","permissionMode":"default"}`)
	hear()
	for i := range n {
		say(`{"type":"control_request","request_id":"r%d","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch x%d"},"tool_use_id":"t%d"}}`, i, i, i)
		m := hear()
		at := time.Now().UnixNano()
		var res control.Result
		if m.Response != nil {
			_ = json.Unmarshal(m.Response.Response, &res) // then it is no allow
		}
		say(`{"type":"answered","behavior":%q,"at":%d}`, res.Behavior, at)
		say(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","is_error":false}]}}`, i)
	}
	say(`{"type":"result","subtype":"success"}`)
}
