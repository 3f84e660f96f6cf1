package server_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/api"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// numbers are the metrics as Prometheus reads them.
func (w *world) numbers() (text string, all map[string]*dto.MetricFamily) {
	w.t.Helper()
	res := send(w.tcp, w.as(w.request("GET", "/metrics", nil), "command"))
	if res.Code != http.StatusOK {
		w.t.Fatalf("%d: %s", res.Code, res.Body)
	}
	text = res.Body.String()
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return text, all
}

// of is the counter with these label values.
func of(f *dto.MetricFamily, values ...string) float64 {
	for _, m := range f.GetMetric() {
		var have []string
		for _, l := range m.GetLabel() {
			have = append(have, l.GetValue())
		}
		if strings.Join(have, ",") == strings.Join(values, ",") {
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}

func TestMetrics(t *testing.T) {
	w := newWorld(t)
	_, _ = w.numbers() // from here on it counts
	const canary = "canary-7f3a"
	w.propose("m-read", "pwd")
	one, two := w.propose("m-"+canary, "git push "+canary), w.propose("m-two", "git push "+canary)
	w.propose("m-waits", "git push")
	p := proposal("m-tool", "x")
	p.Calls[0].Tool = canary
	decode(t, send(w.tcp, w.as(w.request("POST", "/v1/batches", p), "agent")), http.StatusOK, &api.Batch{})
	for id, state := range map[string]string{one.Calls[0].ID: "allowed", two.Calls[0].ID: "denied"} {
		var c api.Call
		w.get("/v1/calls/"+id, &c)
		path, in := "/v1/calls/"+id+"/decision", api.Decision{State: state, Digest: c.Digest}
		decode(t, send(w.tcp, w.as(w.request("POST", path, in), "command")), http.StatusOK, &c)
		in.State = "allowed"
		in.Note = "again, differently"
		if res := send(w.tcp, w.as(w.request("POST", path, in), "command")); res.Code != http.StatusConflict {
			t.Errorf("%d", res.Code)
		}
	}
	text, got := w.numbers()
	for name, tt := range map[string]struct {
		value float64
		want  float64
	}{
		"proposed":         {of(got["gatelatch_proposals_total"]), 5},
		"allowed by rule":  {of(got["gatelatch_decisions_total"], "allowed", "rule"), 1},
		"allowed by hand":  {of(got["gatelatch_decisions_total"], "allowed", "person"), 1},
		"denied by hand":   {of(got["gatelatch_decisions_total"], "denied", "person"), 1},
		"pending":          {of(got["gatelatch_pending_calls"]), 2},
		"refused":          {of(got["gatelatch_refused_total"], "settled"), 2},
		"waited":           {float64(got["gatelatch_decide_seconds"].GetMetric()[0].GetHistogram().GetSampleCount()), 2},
		"requests refused": {of(got["gatelatch_http_requests_total"], "Decide", "409"), 2},
	} {
		if tt.value != tt.want {
			t.Errorf("%s: %v, want %v", name, tt.value, tt.want)
		}
	}
	if strings.Contains(text, canary) || strings.Contains(w.log.String(), canary) {
		t.Error("what an agent said is in the numbers or the log")
	}
	if log := w.log.String(); !strings.Contains(log, "route=Decide status=409") {
		t.Errorf("the log does not tell of requests: %s", log)
	}
}

// Who starts later finds what waits, and what happened before does not count.
func TestMetricsOfAnotherGateway(t *testing.T) {
	w := newWorld(t)
	w.propose("m1", "git push")
	if _, got := w.numbers(); of(got["gatelatch_pending_calls"]) != 1 || of(got["gatelatch_proposals_total"]) != 0 {
		t.Errorf("%v", got)
	}
}

func TestWhoReadsMetrics(t *testing.T) {
	w := newWorld(t)
	for who, want := range map[string]int{"": http.StatusUnauthorized, "agent": http.StatusForbidden, "command": http.StatusOK} {
		r := w.request("GET", "/metrics", nil)
		if who != "" {
			r = w.as(r, who)
		}
		if res := send(w.tcp, r); res.Code != want {
			t.Errorf("%q: %d", who, res.Code)
		}
	}
	probes := w.srv.Probes(host)
	for name, tt := range map[string]struct {
		path, host, site string
		want             int
	}{
		"numbers":      {"/metrics", host, "", http.StatusOK},
		"ready":        {"/readyz", host, "", http.StatusOK},
		"alive":        {"/healthz", host, "", http.StatusOK},
		"another name": {"/metrics", "evil.example", "", http.StatusMisdirectedRequest},
		"another page": {"/metrics", host, "cross-site", http.StatusForbidden},
		"the API":      {"/v1/status", host, "", http.StatusNotFound},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.path, http.NoBody)
		r.Host = tt.host
		if tt.site != "" {
			r.Header.Set("Sec-Fetch-Site", tt.site)
		}
		res := send(probes, r)
		if res.Code != tt.want || bytes.Contains(res.Body.Bytes(), []byte("pwd")) {
			t.Errorf("%s: %d, %s", name, res.Code, res.Body)
		}
	}
}
