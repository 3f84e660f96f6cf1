// Command bench measures what users wait for and prints it beside what the
// machine itself costs, in one run: make bench.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	n := flag.Int("n", 300, "how often each thing is measured")
	flag.Parse()
	if err := run(*n); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(n int) error {
	dir, err := os.MkdirTemp("", "gatelatch-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	commit, err := bareCommits(dir, n)
	if err != nil {
		return err
	}
	commit.print("one bare commit (append, fsync)")
	sql, err := sqliteCommits(dir, n)
	if err != nil {
		return err
	}
	sql.print("one bare SQLite commit (WAL, synchronous=FULL)")
	if err := decisions(dir, n, sql); err != nil {
		return err
	}
	return hooks(dir, n, sql)
}

// sample is a list of durations.
type sample []time.Duration

// measure runs fn n times after a few that do not count.
func measure(n int, fn func(i int) error) (sample, error) {
	out, err := sideBySide(n, fn)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// sideBySide measures several things in turn.
func sideBySide(n int, fns ...func(i int) error) ([]sample, error) {
	const warm = 10
	out := make([]sample, len(fns))
	for i := range n + warm {
		for k, fn := range fns {
			start := time.Now()
			if err := fn(i); err != nil {
				return nil, err
			}
			if i >= warm {
				out[k] = append(out[k], time.Since(start))
			}
		}
	}
	for _, s := range out {
		slices.Sort(s)
	}
	return out, nil
}

func (s sample) at(q float64) time.Duration { return s[min(len(s)-1, int(q*float64(len(s))))] }
func (s sample) p50() time.Duration         { return s.at(0.50) }

func (s sample) print(what string) {
	fmt.Printf("%-58s p50 %8.3f ms   p99 %8.3f ms\n", what, ms(s.p50()), ms(s.at(0.99)))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
