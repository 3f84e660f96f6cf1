package server

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/metrics"
)

const (
	meterList  = 500
	meterPart  = 64
	meterPause = 50 * time.Millisecond // between parts, if there are more
	meterEvery = 5 * time.Second
)

// meter counts what the trail says, from when the gateway started on and
// whichever gateway did it: of several that share a store, look at one.
type meter struct {
	seat *gatelatch.Seat

	mu      sync.Mutex
	after   gatelatch.Seq
	begun   bool
	pending map[string]time.Time // since when each call waits

	proposals, decisions, decideTime *metrics.Family
	refused, requests                *metrics.Family // of this process
}

func (s *Server) newMeter() *meter {
	r := s.opt.Metrics
	m := &meter{
		seat:    s.opt.Gate.As(gatelatch.Actor{Kind: gatelatch.PersonActor, ID: "metrics"}), // it only reads
		pending: map[string]time.Time{},

		proposals: r.Counter("gatelatch_proposals_total", "Calls that agents proposed."),
		decisions: r.Counter("gatelatch_decisions_total", "Calls that were settled, by how and by what.", "outcome", "source"),
		decideTime: r.Histogram("gatelatch_decide_seconds", "How long calls waited that a person decided.",
			[]float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400}),
		refused:  r.Counter("gatelatch_refused_total", "Requests to this gateway that were refused, by the error's code: consumed, fenced and opened are replays.", "code"),
		requests: r.Counter("gatelatch_http_requests_total", "Requests to this gateway by route and status.", "route", "status"),
	}
	r.Info("gatelatch_build_info", "The version of this gateway.", []string{"version", "go"}, []string{s.opt.Version, runtime.Version()})
	r.Gauge("gatelatch_pending_calls", "Calls that wait for a person.", func() float64 {
		m.mu.Lock()
		defer m.mu.Unlock()
		return float64(len(m.pending))
	})
	r.Gauge("gatelatch_stream_subscribers", "Clients that follow the trail here.", func() float64 { return float64(s.tail.size()) })
	r.Gauge("gatelatch_waiting_requests", "Requests that wait here for an answer, those of subscribers included.", func() float64 { return float64(s.drain.n.Load()) })
	r.Gauge("gatelatch_connections", "Connections that are open here.", func() float64 { return float64(s.lobby.size()) })
	return m
}

// Meter keeps the numbers up until ctx ends. It takes its time: under load,
// reading the trail would cost what deciding needs.
func (s *Server) Meter(ctx context.Context) {
	for s.opt.Metrics != nil && ctx.Err() == nil {
		more, err := s.meter.part(ctx)
		if err != nil && ctx.Err() == nil {
			s.opt.Log.Warn("could not count what the trail says", "err", err)
		}
		if more {
			wait(ctx, meterPause)
		} else {
			wait(ctx, meterEvery)
		}
	}
}

// catchUp counts all that is new in the trail.
func (m *meter) catchUp(ctx context.Context) error {
	for {
		more, err := m.part(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// part counts some of what is new, and reports whether there may be more.
func (m *meter) part(ctx context.Context) (more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		if err := m.begin(ctx); err != nil {
			return false, err
		}
	}
	es, err := m.seat.Events(ctx, m.after, meterPart)
	for _, e := range es {
		m.count(e)
		m.after = e.Seq
	}
	return len(es) == meterPart, err
}

// begin notes what waits. The end of the trail comes first: what changes
// meanwhile is counted from there.
func (m *meter) begin(ctx context.Context) error {
	st, err := m.seat.Status(ctx)
	if err != nil {
		return err
	}
	for q := (gatelatch.Query{Pending: true, Limit: meterList}); ; {
		page, err := m.seat.List(ctx, q)
		if err != nil {
			return err
		}
		for _, l := range page.Calls {
			m.pending[l.ID], q.After = l.Batch.Created, l.ID
		}
		if !page.More {
			break
		}
	}
	m.after, m.begun = st.Seq, true
	return nil
}

// count takes one event. The lock is held.
func (m *meter) count(e gatelatch.Event) {
	var body struct {
		State   gatelatch.State    `json:"state"`
		Effect  gatelatch.Effect   `json:"effect"`
		Grant   string             `json:"grant"`
		Reasons []gatelatch.Reason `json:"reasons"`
	}
	switch e.Kind {
	case gatelatch.CallProposed:
		m.proposals.Inc()
		m.pending[e.Call] = e.At
		return
	case gatelatch.CallJudged, gatelatch.CallDecided, gatelatch.CallExpired, gatelatch.CallWithdrawn, gatelatch.CallRevoked, gatelatch.CallLapsed:
	default:
		return
	}
	if json.Unmarshal(e.Body, &body) != nil || e.Kind == gatelatch.CallJudged && body.Effect == gatelatch.Ask {
		return
	}
	if since, waited := m.pending[e.Call]; waited {
		if e.Kind == gatelatch.CallDecided && e.By.Kind == gatelatch.PersonActor {
			m.decideTime.Observe(e.At.Sub(since).Seconds())
		}
		delete(m.pending, e.Call)
	}
	switch {
	case e.Kind != gatelatch.CallJudged:
		m.decisions.Inc(outcome(body.State), actorSource(e.By.Kind))
	case body.Effect == gatelatch.Allow:
		m.decisions.Inc("allowed", ruleSource(body.Effect, body.Grant, body.Reasons))
	default:
		m.decisions.Inc("denied", ruleSource(body.Effect, body.Grant, body.Reasons))
	}
}

// outcome and the sources give only words that are written here.
func outcome(s gatelatch.State) string {
	known := []gatelatch.State{gatelatch.Allowed, gatelatch.Denied, gatelatch.Expired, gatelatch.Withdrawn, gatelatch.Revoked, gatelatch.Lapsed}
	if slices.Contains(known, s) {
		return string(s)
	}
	return "other"
}

func actorSource(k gatelatch.ActorKind) string {
	switch k {
	case gatelatch.PersonActor, gatelatch.AgentActor, gatelatch.HookActor, gatelatch.GatewayActor:
		return string(k)
	case gatelatch.ClockActor:
		return "expiry"
	case gatelatch.PolicyActor:
		return "rule"
	}
	return "other"
}

// ruleSource says what in policy settled a call: the first reason with its
// effect. Rules have a text, and modes have none.
func ruleSource(effect gatelatch.Effect, grant string, reasons []gatelatch.Reason) string {
	if grant != "" {
		return "grant"
	}
	for _, r := range reasons {
		switch {
		case r.Effect != effect:
			continue
		case r.Layer == "hook", r.Layer == "pause", r.Layer == "quota":
			return r.Layer
		case r.Layer == "policy":
			return "failure"
		case effect == gatelatch.Allow && r.Rule == "":
			return "mode"
		}
		break
	}
	return "rule"
}

// numbers is no route of the API: its answer is text that Prometheus describes.
var numbers = api.Route{Name: "Metrics", Method: http.MethodGet, Path: "/metrics", Role: api.Readers}

// serveMetrics writes the numbers as they are now.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if s.opt.Metrics == nil {
		refuse(w, http.StatusNotFound, "not_found", "this gateway counts nothing", "")
		return
	}
	if err := s.meter.catchUp(r.Context()); err != nil {
		s.fail(w, r, err)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
	w.Header().Set("Content-Type", metrics.ContentType)
	_ = s.opt.Metrics.Write(w)
}

// Probes answers at a listener of its own, host and port, without a key: how
// much and how well, nothing about what.
func (s *Server) Probes(addr string) http.Handler {
	d := Door{Hosts: []string{addr}}
	mux := http.NewServeMux()
	for path, fn := range map[string]http.HandlerFunc{
		"/metrics": s.serveMetrics,
		"/readyz":  func(w http.ResponseWriter, r *http.Request) { s.serveReady(w, r.Context()) },
		"/healthz": func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, struct{}{}) },
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if _, err := checkOrigin(d, r); err != nil {
				refuse(w, http.StatusForbidden, "origin", err.Error(), "")
				return
			}
			fn(w, r)
		})
	}
	return s.outer(d, mux)
}
