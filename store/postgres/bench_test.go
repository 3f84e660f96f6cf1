package postgres

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// BenchmarkUpdate saves new batches of one call, each durable when it returns.
func BenchmarkUpdate(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			s := open(b, b.TempDir(), Options{})
			var names []string
			for i := range b.N {
				names = append(names, fmt.Sprint("m", i))
			}
			var failed atomic.Int32
			b.ResetTimer()
			inParallel(callers, names, func(_ int, name string) {
				if save(s, pending(name)) != nil {
					failed.Add(1)
				}
			})
			b.StopTimer()
			if failed.Load() > 0 {
				b.Errorf("%d failed", failed.Load())
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
