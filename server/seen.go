package server

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// seen is the answer to a request as the log tells it: what was asked and how
// it went, never what was in it.
type seen struct {
	http.ResponseWriter
	began  time.Time
	status int    // 0 if it is answered later, without net/http
	who    string // id of the key
}

// Unwrap is for http.ResponseController.
func (s *seen) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (s *seen) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// note counts the request, and logs it for who debugs.
func (s *Server) note(rt api.Route, seen *seen) {
	status := "held"
	if seen.status != 0 {
		status = strconv.Itoa(seen.status)
	}
	s.meter.requests.Inc(rt.Name, status)
	if log := s.opt.Log; log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("request", "route", rt.Name, "status", status, "took", time.Since(seen.began), "who", seen.who)
	}
}
