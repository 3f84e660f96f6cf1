// Rivals asks three engines the same questions about the same rules: this
// project's policy, cedar-go, and OPA. It is a module of its own, so that nobody
// else has to download them.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// An engine holds the rules, compiled. prepare reads a question once, as far as
// that does not depend on the rules; what it returns is measured.
type engine interface {
	prepare(question) (func() (string, error), error)
}

// A figure is what one engine takes for the question that it is slowest at: a
// set of rules is as good as its worst.
type figure struct {
	Engine string  `json:"engine"`
	Rules  int     `json:"rules"`
	Micros float64 `json:"micros"`
	Allocs int64   `json:"allocs"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(1)
	}
}

// run prints a figure a line, as JSON.
func run() error {
	dir, err := os.MkdirTemp("", "rivals")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out := json.NewEncoder(os.Stdout)
	for _, n := range []int{1000, 10000} {
		w := world{dir: dir, rules: n}
		for _, e := range []struct {
			name  string
			build func(world) (engine, error)
		}{{"gatelatch", newOurs}, {"cedar-go", newCedar}, {"opa", newOPA}} {
			eng, err := e.build(w)
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			f, err := measure(eng, w.questions())
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			f.Engine, f.Rules = e.name, n
			if err := out.Encode(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func measure(e engine, qs []question) (worst figure, err error) {
	for _, q := range qs {
		ask, err := e.prepare(q)
		if err != nil {
			return worst, err
		}
		got, err := ask()
		if err != nil || got != q.want {
			return worst, fmt.Errorf("%s: says %q, not %q (%v)", q, got, q.want, err)
		}
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
		f := figure{Micros: float64(r.T.Nanoseconds()) / float64(r.N) / 1000, Allocs: r.AllocsPerOp()}
		if f.Micros > worst.Micros {
			worst = f
		}
	}
	return worst, nil
}
