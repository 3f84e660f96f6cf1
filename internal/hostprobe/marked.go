package hostprobe

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch/client"
)

// marked is a script that leaves its process id beside itself, and becomes the
// program.
func marked(program string) string {
	return "#!/bin/sh\necho $$ > \"$0.pid\"\nexec '" + strings.ReplaceAll(program, "'", `'\''`) + "' \"$@\"\n"
}

// killMarked kills the marked program once a call waits.
func killMarked(ctx context.Context, s *Stage) error {
	if _, _, err := s.waiting(ctx); err != nil {
		return err
	}
	var wait client.Backoff
	for {
		raw, err := os.ReadFile(s.Hook + ".pid")
		if err == nil {
			return kill(strings.TrimSpace(string(raw)))
		}
		if wait.Wait(ctx) != nil {
			return err
		}
	}
}

func kill(pid string) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	p, err := os.FindProcess(n)
	if err != nil {
		return err
	}
	return p.Kill()
}
