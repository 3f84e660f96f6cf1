package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// process is one process for as long as it lives: a number is used again, with
// another start.
type process struct {
	pid   int
	start uint64
}

// table tells about processes that run; nil where the system does not.
type table interface {
	// look returns a process with its parent's number, 0 for none.
	look(pid int) (p process, parent int, err error)
	args(pid int) ([]string, error)
}

const (
	maxAgents   = 1024
	maxAncestry = 256
)

// roster knows the processes of agents: those that asked, or whose hook did.
// What they start may not decide. One that leaves its parents behind before it
// decides is not seen; separate users keep that apart, too.
type roster struct {
	table table
	self  int // the gateway

	mu     sync.Mutex
	agents map[process]bool
}

// note remembers who asked as an agent.
func (r *roster) note(pid int) {
	if r.table == nil {
		return
	}
	agent, err := r.agentOf(pid)
	if err != nil {
		return // it is gone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.agents) >= maxAgents {
		for p := range r.agents {
			if now, _, err := r.table.look(p.pid); err != nil || now != p {
				delete(r.agents, p)
			}
		}
	}
	if r.agents == nil {
		r.agents = map[process]bool{}
	}
	r.agents[agent] = true
}

// agentOf is who asks itself or, if that is only the hook or tool of an agent,
// who started it. A shell that a person types into is no agent.
func (r *roster) agentOf(pid int) (process, error) {
	asks, parent, err := r.table.look(pid)
	if err != nil {
		return asks, err
	}
	words, err := r.table.args(pid)
	if err != nil || !startedByAgent(words) {
		return asks, err
	}
	for range maxAncestry {
		if parent <= 1 {
			return asks, nil
		}
		p, above, err := r.table.look(parent)
		if err != nil {
			return asks, nil //nolint:nilerr // then it is the one that is known
		}
		words, err := r.table.args(parent)
		switch {
		case err != nil, isShell(words) && !runsScript(words):
			return asks, nil //nolint:nilerr // as above
		case isShell(words):
			parent = above
			continue
		}
		return p, nil
	}
	return asks, nil
}

// startedByAgent reports whether these are the words of what an agent's
// settings start: gatelatch-hook, gatelatch hook and gatelatch mcp.
func startedByAgent(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch name := path.Base(words[0]); {
	case name == "gatelatch-hook":
		return true
	case name != "gatelatch" || len(words) < 2: //nolint:mnd // the program and what it is to do
		return false
	}
	return words[1] == "hook" || words[1] == "mcp" && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--http") })
}

func isShell(words []string) bool {
	return len(words) > 0 && slices.Contains([]string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "nu", "tcsh", "csh", "pwsh"}, strings.TrimPrefix(path.Base(words[0]), "-"))
}

// runsScript reports whether a shell was started for one command.
func runsScript(words []string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c")
	})
}

var errDescends = errors.New("an agent started this command, and agents don't decide")

// refuse returns why the process may not act as a person: an agent is among
// those it descends from, or that can't be told. Who started the gateway is no
// agent, whatever it asks.
func (r *roster) refuse(pid int) error {
	if r.table == nil {
		return nil
	}
	line, err := r.ancestry(pid)
	if err != nil {
		return fmt.Errorf("can't tell who started this command: %w", err)
	}
	ours, err := r.ancestry(r.self)
	if err != nil {
		return fmt.Errorf("can't tell who started the gateway: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range line {
		if r.agents[p] && !slices.Contains(ours, p) {
			return errDescends
		}
	}
	return nil
}

// ancestry is a process and all that it descends from, as far as they can be
// seen: those of other users may be hidden, and are no agents of ours.
func (r *roster) ancestry(pid int) (line []process, err error) {
	for range maxAncestry {
		if pid == 0 && len(line) > 0 {
			return line, nil
		}
		p, parent, err := r.table.look(pid)
		if err != nil && len(line) > 0 {
			// Or it has just died, and the process has another parent now.
			last, again, e := r.table.look(line[len(line)-1].pid)
			switch {
			case e != nil || last != line[len(line)-1]:
				return nil, err
			case again == pid:
				return line, nil
			}
			pid = again
			continue
		}
		if err != nil {
			return nil, err
		}
		line, pid = append(line, p), parent
	}
	return nil, errors.New("there are too many above it")
}
