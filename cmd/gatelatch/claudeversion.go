package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// minClaude is the first Claude Code that knows "onFailure". Older ones ignore
// it, and run the call when the hook cannot answer.
var minClaude = []int{2, 1, 295}

var versionPattern = regexp.MustCompile(`^(\d{1,9})\.(\d{1,9})\.(\d{1,9})`)

// checkClaude refuses a Claude Code that would fail open, and returns what it
// could not make sure of.
func checkClaude(ctx context.Context, sys system, force bool) (warnings []string, err error) {
	out, err := sys.run(ctx, "claude", "--version")
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		return []string{"claude is not on PATH, so its version was not checked; it must be " + dotted(minClaude) + " or newer"}, nil
	}
	err = judgeClaude(out, err)
	if err != nil && force {
		return []string{err.Error()}, nil
	}
	return nil, withHint(err, "update Claude Code, or use --force if calls may run unseen when the hook fails")
}

func judgeClaude(out string, err error) error {
	if err != nil {
		return fmt.Errorf("claude --version: %w", err)
	}
	version, ok := parseVersion(strings.TrimSpace(out))
	if !ok {
		return fmt.Errorf("claude --version says %.80q, which is not a version", out)
	}
	if slices.Compare(version, minClaude) < 0 {
		return fmt.Errorf("this is Claude Code %s; before %s it does not know \"onFailure\", and runs a call when its hook fails",
			dotted(version), dotted(minClaude))
	}
	return nil
}

func parseVersion(s string) ([]int, bool) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		return nil, false
	}
	var version []int
	for _, part := range m[1:] {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		version = append(version, n)
	}
	return version, true
}

func dotted(version []int) string {
	return fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
}
