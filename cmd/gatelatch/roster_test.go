package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// fakeTable is a table of processes for a test, by number.
type fakeTable map[int]struct {
	parent int
	start  uint64
	words  string
}

func (t fakeTable) look(pid int) (process, int, error) {
	p, ok := t[pid]
	if !ok {
		return process{}, 0, os.ErrNotExist
	}
	return process{pid, p.start}, p.parent, nil
}

func (t fakeTable) args(pid int) ([]string, error) { return strings.Fields(t[pid].words), nil }

func TestAgentsDescendantsDoNotDecide(t *testing.T) {
	t.Parallel()
	procs := fakeTable{
		1: {0, 1, "/sbin/init"}, 2: {1, 2, "systemd --user"}, 3: {2, 3, "tmux"},
		10: {3, 10, "-bash"},                        // where the person works
		20: {10, 20, "claude"},                      // the agent they started there
		21: {20, 21, "/bin/sh -c gatelatch-hook …"}, // its hook
		22: {21, 22, "/opt/gatelatch-hook claude --state /s"},
		23: {20, 23, "bash -c ./x"}, 24: {23, 24, "./x"}, 25: {24, 25, "gatelatch allow cal_1"}, // its tool
		30: {10, 30, "gatelatch allow cal_1"}, // the person
		40: {3, 40, "zsh"}, 41: {40, 41, "gatelatch allow cal_1"},
		50: {2, 50, "gatelatch serve"},
		60: {10, 60, "gatelatch run -- claude"}, 61: {60, 61, "claude"}, 62: {61, 62, "gatelatch allow cal_1"},
		70: {10, 70, "gatelatch hook claude"}, // typed by the person
		80: {10, 80, "codex"}, 81: {80, 81, "gatelatch mcp --state /s"}, 82: {80, 82, "gatelatch deny cal_1"},
		90: {10, 90, "gatelatch mcp --http 127.0.0.1:0"},
		95: {99, 95, "gatelatch allow cal_1"}, // 99 belongs to another user, and is hidden
		96: {2, 96, "gatelatch hook claude"},  // left behind by its parents
	}
	for name, tt := range map[string]struct {
		asked   []int
		decides map[int]bool
	}{
		"nobody asked":             {nil, map[int]bool{25: true, 30: true, 41: true, 62: true, 95: true}},
		"a hook":                   {[]int{22}, map[int]bool{25: false, 24: false, 30: true, 41: true, 62: true, 20: false}},
		"gatelatch run":            {[]int{60}, map[int]bool{62: false, 30: true, 25: true}},
		"a hook that was typed":    {[]int{70}, map[int]bool{30: true, 25: true}},
		"a tool on stdin":          {[]int{81}, map[int]bool{82: false, 30: true}},
		"a tool on an address":     {[]int{90}, map[int]bool{30: true}},
		"a program of its own":     {[]int{24}, map[int]bool{25: false, 30: true}},
		"who started the gateway":  {[]int{2, 96}, map[int]bool{30: true, 41: true}},
		"one that is gone already": {[]int{77}, map[int]bool{30: true, 77: false, 0: false}},
	} {
		r := &roster{table: procs, self: 50}
		for _, pid := range tt.asked {
			r.note(pid)
		}
		for pid, may := range tt.decides {
			if err := r.refuse(pid); (err == nil) != may {
				t.Errorf("%s asked, %d %s: %v", name, pid, procs[pid].words, err)
			}
		}
	}
	// A number that is used again is another process.
	r := &roster{table: procs, self: 50}
	r.note(22)
	reborn := procs[20]
	reborn.start = 999
	procs[20] = reborn
	if err := r.refuse(25); err != nil {
		t.Errorf("below a process that took the number of an agent: %v", err)
	}
}

// The real table knows this process, and what it starts.
func TestProcessTable(t *testing.T) {
	t.Parallel()
	if processes == nil {
		t.Fatal("this system has no table of processes")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	r := &roster{table: processes, self: 1}
	r.note(os.Getpid())
	if err := r.refuse(cmd.Process.Pid); !errors.Is(err, errDescends) {
		t.Errorf("a child of who asked: %v", err)
	}
	if err := r.refuse(os.Getppid()); err != nil {
		t.Errorf("who started us: %v", err)
	}
	r.self = os.Getpid()
	if err := r.refuse(cmd.Process.Pid); err != nil {
		t.Errorf("a child of the gateway's own process: %v", err)
	}
}

func TestUserIDs(t *testing.T) {
	t.Parallel()
	if ids, err := userIDs([]string{"0", "root", "4711"}); err != nil || len(ids) != 3 || ids[1] != 0 || ids[2] != 4711 {
		t.Errorf("%v, %v", ids, err)
	}
	for _, bad := range []string{"", "-1", "no such user"} {
		if ids, err := userIDs([]string{bad}); err == nil {
			t.Errorf("%q is %v", bad, ids)
		}
	}
}
