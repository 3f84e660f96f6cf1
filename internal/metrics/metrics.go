// Package metrics counts, and writes the counts as Prometheus reads them.
//
// A label's values are words of ours, never text of an agent: each makes a
// series that stays for good.
package metrics

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Registry has every metric of a process. Of a nil one all metrics are nil,
// and count nothing.
type Registry struct {
	mu       sync.Mutex
	families []*Family
}

// A Family is one metric with all its labels.
type Family struct {
	name, help, kind string
	labels           []string
	bounds           []float64 // of a histogram's buckets, the last one left out
	read             func() float64

	mu     sync.Mutex
	series map[string]*series // by labels as they are written
}

type series struct {
	sum     float64 // or the value of what is no histogram
	buckets []uint64
}

// Counter adds a metric that only grows.
func (r *Registry) Counter(name, help string, labels ...string) *Family {
	return r.add(&Family{name: name, help: help, kind: "counter", labels: labels})
}

// Histogram adds a metric of durations in seconds, or of sizes.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Family {
	return r.add(&Family{name: name, help: help, kind: "histogram", labels: labels, bounds: bounds})
}

// Gauge adds a metric that is read whenever somebody looks.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.add(&Family{name: name, help: help, kind: "gauge", read: read})
}

// Info adds a metric whose labels are what counts.
func (r *Registry) Info(name, help string, labels, values []string) {
	f := r.add(&Family{name: name, help: help, kind: "gauge", labels: labels})
	f.Add(1, values...)
}

func (r *Registry) add(f *Family) *Family {
	if r == nil {
		return nil
	}
	f.series = map[string]*series{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.families, func(o *Family) bool { return o.name == f.name }) {
		panic("metrics: " + f.name + " is there twice")
	}
	r.families = append(r.families, f)
	if len(f.labels) == 0 && f.read == nil {
		f.of(nil) // it is there from the start, at zero
	}
	return f
}

// Inc counts one.
func (f *Family) Inc(values ...string) { f.Add(1, values...) }

// Add counts n.
func (f *Family) Add(n float64, values ...string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(values).sum += n
}

// Observe counts one value into its bucket.
func (f *Family) Observe(v float64, values ...string) {
	if f == nil {
		return
	}
	i, _ := slices.BinarySearch(f.bounds, v)
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.of(values)
	s.sum += v
	s.buckets[i]++
}

// of returns the series with these values. The lock is held.
func (f *Family) of(values []string) *series {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metrics: %s has %d labels", f.name, len(f.labels)))
	}
	var key strings.Builder
	for i, v := range values {
		if i > 0 {
			key.WriteByte(',')
		}
		key.WriteString(f.labels[i] + `="` + escape.Replace(strings.ToValidUTF8(v, "?")) + `"`)
	}
	s := f.series[key.String()]
	if s == nil {
		s = &series{buckets: make([]uint64, len(f.bounds)+1)}
		f.series[key.String()] = s
	}
	return s
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// ContentType is what Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Write writes all metrics.
func (r *Registry) Write(w io.Writer) error {
	var out bytes.Buffer
	if r != nil {
		r.mu.Lock()
		all := slices.Clone(r.families)
		r.mu.Unlock()
		for _, f := range all {
			f.write(&out)
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (f *Family) write(out *bytes.Buffer) {
	fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
	if f.read != nil {
		fmt.Fprintf(out, "%s %s\n", f.name, number(f.read()))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := make([]string, 0, len(f.series))
	for key := range f.series {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if f.kind == "histogram" {
			f.series[key].write(out, f.name, key, f.bounds)
		} else {
			fmt.Fprintf(out, "%s%s %s\n", f.name, braced(key), number(f.series[key].sum))
		}
	}
}

func (s *series) write(out *bytes.Buffer, name, key string, bounds []float64) {
	var count uint64
	for i, n := range s.buckets {
		count += n
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		le := `le="` + number(bound) + `"`
		if key != "" {
			le = key + "," + le
		}
		fmt.Fprintf(out, "%s_bucket{%s} %d\n", name, le, count)
	}
	fmt.Fprintf(out, "%s_sum%s %s\n%s_count%s %d\n", name, braced(key), number(s.sum), name, braced(key), count)
}

func braced(key string) string {
	if key == "" {
		return ""
	}
	return "{" + key + "}"
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
