package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/redact"
)

const (
	bodyTime     = 30 * time.Second
	unwantedTime = time.Second

	usualBody = 16 << 10 // what is taken at its word

	tooLarge = "the body is larger than the gateway takes"
)

// maxBody is what a route takes. Who has shown no key says little.
func (s *Server) maxBody(rt api.Route) int64 {
	if rt.Role == api.Anybody || rt.Role == api.Bearers {
		return anybodyBody
	}
	return api.BodyFor(s.opt.Gate.InputLimit())
}

// request is one request after all checks.
type request struct {
	*http.Request
	w     http.ResponseWriter
	door  Door
	route api.Route
	most  int64 // bytes of its body
	key   *gatelatch.Key
	who   gatelatch.Actor
	seat  *gatelatch.Seat
	// signed is the body that a page signed for; nil is any.
	signed *gatelatch.Sum
	// passkey is what a person's passkey said to the request; nil is nothing.
	passkey *gatelatch.Signature
}

// endpoint answers a request, or returns the error that answers it.
type endpoint func(s *Server, q *request) error

// get is an endpoint without a body.
func get[Out any](fn func(s *Server, q *request) (Out, error)) endpoint {
	return func(s *Server, q *request) error {
		out, err := fn(s, q)
		if err == nil {
			answer(q.w, http.StatusOK, out)
		}
		return err
	}
}

// post is an endpoint with a JSON body, read strictly.
func post[In, Out any](fn func(s *Server, q *request, in In) (Out, error)) endpoint {
	return func(s *Server, q *request) error {
		raw, err := readBody(q)
		if err != nil {
			return err
		}
		in, err := parse[In](raw)
		if err == nil {
			err = s.sign(q, raw, in)
		}
		if err != nil {
			return err
		}
		out, err := fn(s, q, in)
		if err == nil {
			answer(q.w, http.StatusOK, out)
		}
		return err
	}
}

func bodyOf[In any](q *request) (in In, err error) {
	raw, err := readBody(q)
	if err != nil {
		return in, err
	}
	return parse[In](raw)
}

func parse[In any](raw []byte) (in In, err error) {
	if err := strictjson.Unmarshal(raw, &in); err != nil {
		return in, invalid(err)
	}
	return in, nil
}

// readBody reads the body in the time that the door gave it, and ends that. The
// server has no ReadTimeout: that would also end the requests that wait.
func readBody(q *request) ([]byte, error) {
	var buf bytes.Buffer
	if q.ContentLength > 0 {
		buf.Grow(int(min(q.ContentLength, usualBody)) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(q.w, q.Body, q.most))
	raw := buf.Bytes()
	_ = http.NewResponseController(q.w).SetReadDeadline(time.Time{})
	guestOf(q.Request).served()
	if err == nil && q.signed != nil && gatelatch.SumOf(raw) != *q.signed {
		err = fmt.Errorf("the body is not what the page signed: %w", gatelatch.ErrForbidden)
	}
	return raw, err
}

func (s *Server) run(ep endpoint, q *request) {
	if err := ep(s, q); err != nil {
		s.fail(q.w, q.Request, err)
	}
}

// fail answers with an error. What the domain does not know is logged, without
// the request's body, and not told.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		refuse(w, http.StatusRequestEntityTooLarge, api.CodeTooLarge, tooLarge, "")
		return
	case errors.Is(err, auth.ErrGuessing):
		tooMany(w, err)
		return
	case errors.Is(err, auth.ErrNobody):
		nobody(w)
		return
	case r.Context().Err() != nil, errors.Is(err, context.Canceled):
		stopping(w)
		return
	}
	p := api.FromError(err)
	s.meter.refused.Inc(p.Code)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	if p.Status == http.StatusInternalServerError || errors.Is(err, gatelatch.ErrUnavailable) {
		s.opt.Log.Error("request failed", "route", r.Pattern, "err", err)
	}
	write(w, p.Status, api.ProblemType, p)
}

// refuse answers what was not let in. The connection ends: nobody waits for
// the rest of a body that is not wanted.
func refuse(w http.ResponseWriter, status int, code, message, hint string) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(unwantedTime))
	write(w, status, api.ProblemType, api.NewProblem(status, code, message, hint))
}

// names gives an attempt the name in the header Idempotency-Key, if its body
// has none. Two names could be two attempts.
func (q *request) names(in *string, field string) error {
	keys := q.Header.Values(api.IdempotencyHeader)
	if len(keys) == 0 {
		return nil
	}
	key := strings.Trim(keys[0], `"`) // the draft standard quotes it, most clients do not
	if len(keys) > 1 || key == "" || *in != "" && *in != key {
		return invalid(fmt.Errorf("the header %s is one name, that of %q if the body has it", api.IdempotencyHeader, field))
	}
	*in = key
	return nil
}

func invalid(err error) error { return fmt.Errorf("%w: %w", gatelatch.ErrInvalid, err) }

func answer(w http.ResponseWriter, status int, v any) { write(w, status, "application/json", v) }

// write writes JSON as it is: HTML escapes would change an input's bytes. A
// client that does not read is cut off.
func write(w http.ResponseWriter, status int, mediaType string, v any) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
	raw, err := strictjson.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	if status >= http.StatusBadRequest { // an error may quote what it is about
		raw = redact.JSON(raw)
	}
	raw = append(raw, '\n')
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) //nolint:gosec // JSON, by its type, and nobody may sniff another
}
