package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// board prints results and counts those over their limit.
type board struct{ limits, overs int }

// most prints a value that should be at most limit.
func (b *board) most(what string, got, limit float64, unit string) {
	b.line(what, "at most", got, limit, got/limit-1, unit)
}

// least prints a value that should be at least limit.
func (b *board) least(what string, got, limit float64, unit string) {
	b.line(what, "at least", got, limit, limit/got-1, unit)
}

func (b *board) line(what, bound string, got, limit, over float64, unit string) {
	b.limits++
	verdict := "within"
	if over > 0 {
		b.overs++
		verdict = fmt.Sprintf("OVER by %.0f %%", 100*over)
	}
	fmt.Printf("%-58s %8.2f %-4s %8s %8.2f   %s\n", what, got, unit, bound, limit, verdict)
}

func (b *board) summary() {
	fmt.Printf("\n%d of %d limits are exceeded\n", b.overs, b.limits)
}

// note prints a value that has no limit of its own.
func note(what string, got float64, unit string) { fmt.Printf("%-58s %8.2f %s\n", what, got, unit) }

// sample is a list of durations, sorted.
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
func (s sample) p99() time.Duration         { return s.at(0.99) }

func (s sample) print(what string) {
	fmt.Printf("%-58s p50 %8.3f ms   p99 %8.3f ms\n", what, ms(s.p50()), ms(s.p99()))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// inParallel runs fn for 0 to n-1 in that many goroutines, and returns the
// first error. After one, no more are begun.
func inParallel(workers, n int, fn func(i int) error) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var next int
	var failed error
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && failed == nil
	}
	for range min(workers, n) {
		all.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := fn(i); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return failed
}
