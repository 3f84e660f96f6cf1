package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
)

// typical is what agents run all day.
var typical = []string{
	"ls -la src", "pwd", "git status --short", "git diff --stat", "git log --oneline -10", "cat README.md", "head -50 go.mod",
	"grep -rn 'func main' cmd --include='*.go'", "rg -n deprecated internal", "find . -name '*_test.go' -not -path './vendor/*'", "sed -n '1,80p' main.go",
	"wc -l src/*.ts", "cat package.json | jq .scripts", "cd web && npm run build", "npm test", "go build ./...", "go test ./... 2>&1 | tail -20",
	"cargo check", "python3 -m pytest -q", "make lint", "docker ps", "kubectl get pods -n prod", "gh pr list", "curl -s https://example.com",
	"mkdir -p out && cp a.txt out/", "rm -rf build", "git add -A && git commit -m 'fix: x'", "git push origin main", "echo \"$HOME\"",
	"for f in a b c; do wc -l \"$f\"; done", "if [ -f x ]; then cat x; fi", "ps aux | grep node | head", "du -sh . | sort -h", "which go && go version",
	"export FOO=1; env | sort", "tar -tzf a.tgz | head", "diff <(sort a) <(sort b)", "awk '{print $1}' log | sort | uniq -c", "date +%s", "true",
}

// shellJudging compares judging a command with parsing it. What the disk says is
// left out, as it is for the parser.
func shellJudging(r *rig) error {
	set, session := policy.Default(), &gatelatch.Session{Project: "/srv/project"}
	var parse, judge []time.Duration
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for _, command := range typical {
		c, err := bashCall(command)
		if err != nil {
			return err
		}
		if _, err := parser.Parse(strings.NewReader(command), ""); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		runtime.GC()
		parse = append(parse, each(300, func() { _, _ = parser.Parse(strings.NewReader(command), "") })...)
		judge = append(judge, each(300, func() { set.JudgeFacts(set.ReadAsWritten(c, session), nil) })...)
	}
	note("parsing a typical command, bare", micros(at(parse, 0.5)), "µs, median")
	note("judging it, JSON and all", micros(at(judge, 0.5)), "µs, median")
	r.most("judging by parsing", float64(at(judge, 0.5))/float64(at(parse, 0.5)), 3, "×")
	r.most("judging, 99 of 100", micros(at(judge, 0.99)), 100, "µs")
	long, err := bashCall(strings.Repeat("ls src/x;", 1000))
	if err != nil {
		return err
	}
	times := each(20, func() { set.JudgeFacts(set.ReadAsWritten(long, session), nil) })
	r.most("a line of 1,000 commands", micros(at(times, 0.5))/1000, 10, "ms")
	return nil
}

func bashCall(command string) (*gatelatch.Call, error) {
	input, err := strictjson.Marshal(map[string]string{"command": command})
	return &gatelatch.Call{Kind: gatelatch.Permission, Tool: "Bash", Input: input, Dir: "/srv/project"}, err
}

// each measures n runs.
func each(n int, fn func()) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		start := time.Now()
		fn()
		out[i] = time.Since(start)
	}
	return out
}

// at returns the time that a share of all stays below.
func at(times []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
