package metrics_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/metrics"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// What Prometheus itself reads is what was counted.
func TestPrometheusReadsIt(t *testing.T) {
	t.Parallel()
	r := new(metrics.Registry)
	plain := r.Counter("plain_total", "Counts from the start.")
	words := r.Counter("words_total", "With labels.", "a", "b")
	times := r.Histogram("times_seconds", "Durations.", []float64{0.1, 1}, "of")
	r.Gauge("now", "Read when asked.", func() float64 { return 2.5 })
	r.Info("build_info", "What this is.", []string{"version"}, []string{"v1"})
	plain.Add(3)
	words.Inc("x", "a \"quoted\\\nvalue\"")
	words.Inc("x", "\xff")
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		times.Observe(v, "all")
	}
	got := read(t, r)
	if len(got) != 5 || got["plain_total"].GetMetric()[0].GetCounter().GetValue() != 3 || got["now"].GetMetric()[0].GetGauge().GetValue() != 2.5 {
		t.Errorf("%v", got)
	}
	labels := map[string]bool{}
	for _, m := range got["words_total"].GetMetric() {
		labels[m.GetLabel()[1].GetValue()] = m.GetCounter().GetValue() == 1
	}
	if !labels["a \"quoted\\\nvalue\""] || !labels["?"] {
		t.Errorf("%v", labels)
	}
	h := got["times_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 4 || h.GetSampleSum() != 7.65 {
		t.Errorf("%v", h)
	}
	for i, want := range []uint64{2, 3, 4} { // a bound belongs to its bucket
		if h.GetBucket()[i].GetCumulativeCount() != want {
			t.Errorf("bucket %d: %v", i, h.GetBucket()[i])
		}
	}
}

func read(t *testing.T, r *metrics.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	got, err := p.TextToMetricFamilies(&out)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNobodyCounts(t *testing.T) {
	t.Parallel()
	var r *metrics.Registry
	r.Counter("c_total", "", "x").Inc("y")
	r.Histogram("h", "", nil).Observe(1)
	r.Gauge("g", "", func() float64 { return 1 })
	r.Info("i", "", nil, nil)
	var out strings.Builder
	if err := r.Write(&out); err != nil || out.Len() != 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A name that is taken, or a label that is missing, is a fault of ours.
func TestMistakesPanic(t *testing.T) {
	t.Parallel()
	r := new(metrics.Registry)
	c := r.Counter("c_total", "", "x")
	for name, fn := range map[string]func(){
		"twice": func() { r.Counter("c_total", "") },
		"label": func() { c.Inc() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			fn()
		}()
	}
}
