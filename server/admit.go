package server

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/fault"
)

// base is the context of what outlives its request. It ends when the gateway
// begins to stop.
func (q *request) base() context.Context {
	if ctx, ok := q.Context().Value(baseKey{}).(context.Context); ok {
		return ctx
	}
	return context.WithoutCancel(q.Context())
}

const csp = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types gatelatch"

// always are headers of every answer. Nobody changes the values.
var always = http.Header{
	"Content-Security-Policy":      {csp},
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cache-Control":                {"no-store"},
}

func securityHeaders(h http.Header) { maps.Copy(h, always) }

// outer is what every request at a door meets first: headers on every answer,
// a panic that answers, the Host, and the routes.
func (s *Server) outer(d Door, mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		securityHeaders(w.Header())
		// Whatever is refused below, and a body that nobody reads, has an end.
		ctl := http.NewResponseController(w)
		_ = ctl.SetReadDeadline(time.Now().Add(bodyTime))
		_ = ctl.SetWriteDeadline(time.Now().Add(bodyTime))
		defer guestOf(r).rests()
		defer s.recovered(w, r)
		if d.Peer != nil {
			if err := d.Peer(r); err != nil {
				refuse(w, http.StatusForbidden, api.CodePeer, err.Error(), "people decide in a shell of their own, or in the page")
				return
			}
		}
		// An absolute-form target replaces the Host header: not ours either way.
		if r.URL.Host != "" || !slices.Contains(d.Hosts, r.Host) {
			refuse(w, http.StatusMisdirectedRequest, api.CodeHost, "this is not the address of the gateway",
				"open the link that \"gatelatch open\" prints")
			return
		}
		if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
			s.unrouted(d, w, r) // the routes would send it elsewhere
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// recovered answers after a panic. It is deferred.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		fault.Log(s.opt.Log, "a request of "+r.Pattern, p)
		refuse(w, http.StatusInternalServerError, api.CodeInternal, "internal error", "the gateway's log says more")
	}
}

// unrouted answers what is not the API: the page, or that there is nothing.
func (s *Server) unrouted(d Door, w http.ResponseWriter, r *http.Request) {
	switch {
	case methodsOf(d, r.URL.Path) != "":
		w.Header().Set("Allow", methodsOf(d, r.URL.Path))
		refuse(w, http.StatusMethodNotAllowed, api.CodeMethod, r.Method+" is not a method of "+r.URL.Path, "")
	case s.page != nil && len(d.Origins) > 0 && !strings.HasPrefix(r.URL.Path, "/v1/"):
		s.page.serve(d, w, r)
	default:
		refuse(w, http.StatusNotFound, "not_found", "there is nothing here", "")
	}
}

// methodsOf lists the methods a path has at this door.
func methodsOf(d Door, path string) string {
	var out []string
	mux := http.NewServeMux()
	for _, r := range api.Routes {
		if d.has(r.Role) {
			mux.Handle(r.Method+" "+r.Path, http.NotFoundHandler())
		}
	}
	for _, m := range []string{http.MethodGet, http.MethodPost} {
		req := &http.Request{Method: m, URL: &url.URL{Path: path}}
		if _, pattern := mux.Handler(req); pattern != "" {
			out = append(out, m)
		}
	}
	return strings.Join(out, ", ")
}

// route runs the checks of one route in order: method and path are known,
// then origin, then who, then whether they may.
func (s *Server) route(d Door, rt api.Route, ep endpoint) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &seen{ResponseWriter: w, began: time.Now()}
		w = seen
		defer s.note(rt, seen)
		if r.Method != rt.Method { // the mux takes HEAD for GET
			w.Header().Set("Allow", rt.Method)
			refuse(w, http.StatusMethodNotAllowed, api.CodeMethod, r.Method+" is not a method of "+r.URL.Path, "")
			return
		}
		guestOf(r).speaks(rt.Role == api.Agents)
		bare, err := checkOrigin(d, r)
		if err != nil {
			refuse(w, http.StatusForbidden, api.CodeOrigin, err.Error(), "")
			return
		}
		if err := checkBody(rt, r); err != nil {
			refuse(w, http.StatusUnsupportedMediaType, api.CodeMediaType, err.Error(), "")
			return
		}
		if r.ContentLength > s.maxBody(rt) {
			refuse(w, http.StatusRequestEntityTooLarge, api.CodeTooLarge, tooLarge, "")
			return
		}
		if s.shut(w, r, rt) {
			return
		}
		q := &request{Request: r, w: w, door: d, route: rt, most: s.maxBody(rt)}
		if rt.Role == api.Anybody {
			if bare && rt.In != nil {
				refuse(w, http.StatusForbidden, api.CodeOrigin, "this is for the page", "")
				return
			}
		} else if rt.Role == api.Bearers {
			if !bare {
				refuse(w, http.StatusForbidden, api.CodeOrigin, "this is for programs", "")
				return
			}
		} else if !s.enter(q, bare) {
			return
		} else {
			seen.who = q.key.ID
		}
		if rt.In == nil { // it may wait for long, and has no body to wait for
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			guestOf(r).served()
		}
		s.run(ep, q)
	})
}

// enter finds out who asks and whether the route is for them.
func (s *Server) enter(q *request, bare bool) bool {
	shown, err := s.verify(q)
	key := shown.Key
	switch {
	case err != nil:
		s.fail(q.w, q.Request, err)
		return false
	case !may(q.route, key) && key.Kind == gatelatch.AskKey:
		s.fail(q.w, q.Request, gatelatch.ErrForbidden)
		return false
	case !may(q.route, key):
		refuse(q.w, http.StatusForbidden, "forbidden", gatelatch.ErrForbidden.Error(), "this needs another role than "+string(key.Role())+", or a key instead of a browser")
		return false
	case bare && q.Method != http.MethodGet && key.Kind == gatelatch.BrowserKey:
		refuse(q.w, http.StatusForbidden, api.CodeOrigin, "a browser says where a request comes from", "")
		return false
	}
	if s.opt.Asked != nil && key.Kind == gatelatch.AskKey && (q.route.Name == "" || q.route.Name == "Propose") {
		s.opt.Asked(q.Request)
	}
	q.key, q.who, q.signed = key, key.Actor(), shown.Body
	q.seat = s.opt.Gate.As(q.who)
	return true
}

// agentsAtOnce is how many agents' keys are looked at together: a crowd of
// them must not take every reader of the store from people.
const agentsAtOnce = 4

func (s *Server) verify(q *request) (auth.Shown, error) {
	if q.route.Role == api.Agents {
		select {
		case s.agents <- struct{}{}:
			defer func() { <-s.agents }()
		case <-q.Context().Done():
			return auth.Shown{}, q.Context().Err()
		}
	}
	return s.opt.Auth.Verify(q.Context(), auth.Request{Method: q.Method, Target: q.URL.RequestURI(), Header: q.Header, Cookies: q.sessions(), From: from(q.Request)})
}

// may is the whole of authorisation. What a key may do is on the server's
// record of it; no role that asks has anything else.
func may(rt api.Route, k *gatelatch.Key) bool {
	role := k.Role()
	reads := role == gatelatch.AuditorRole || role == gatelatch.ApproverRole || role == gatelatch.AdminRole
	switch rt.Role {
	case api.Agents:
		return role == gatelatch.AgentRole
	case api.Readers:
		return reads
	case api.People:
		return reads && (role != gatelatch.AuditorRole || rt.Method == http.MethodGet)
	case api.Admins:
		return role == gatelatch.AdminRole
	case api.Commands:
		return role == gatelatch.AdminRole && k.Kind == gatelatch.DecideKey
	case api.Keyed:
		return reads && k.Kind == gatelatch.DecideKey
	case api.Anybody, api.Nobody, api.Bearers:
	}
	return false
}

// from is who is at the other end, as far as that can be told without a key: a
// user of this machine, an address, or a network where everybody has many.
func from(r *http.Request) string {
	if who, ok := r.Context().Value(peerKey{}).(string); ok {
		return who
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is6() && !addr.IsLoopback() {
		const network = 64
		return netip.PrefixFrom(addr, network).Masked().String()
	}
	return addr.String()
}

type peerKey struct{}

// WithPeer notes who is at the other end of a connection that has no address.
func WithPeer(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, peerKey{}, who)
}

// nobody answers who shows no key that lets in.
func nobody(w http.ResponseWriter) {
	refuse(w, http.StatusUnauthorized, api.CodeUnauthenticated, "no valid key or session", `log in with "gatelatch login"`)
}

// tooMany answers who guesses.
func tooMany(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "60")
	refuse(w, http.StatusTooManyRequests, api.CodeTooMany, err.Error(), "wait a minute; who is logged in is not held up")
}

// checkOrigin refuses requests that another page made. bare means that the
// request has no Origin, as those of programs and same-origin GETs.
func checkOrigin(d Door, r *http.Request) (bare bool, err error) {
	if site := r.Header.Values("Sec-Fetch-Site"); len(site) > 1 || len(site) == 1 && site[0] != "same-origin" {
		return false, errors.New("this request comes from another site")
	}
	switch origin := r.Header.Values("Origin"); {
	case len(origin) == 0:
		return true, nil
	case len(origin) > 1, origin[0] != d.origin(r.Host):
		return false, errors.New("this request comes from another origin")
	}
	return false, nil
}

// origin is what pages at a host of this door have; "-" is nobody's.
func (d Door) origin(host string) string {
	if i := slices.Index(d.Hosts, host); i >= 0 && i < len(d.Origins) {
		return d.Origins[i]
	}
	return "-"
}

// checkBody refuses what is not declared as exactly JSON: nothing is sniffed.
func checkBody(rt api.Route, r *http.Request) error {
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return errors.New("bodies are not compressed")
	}
	if rt.In == nil {
		return nil
	}
	if ct := r.Header.Values("Content-Type"); len(ct) != 1 || ct[0] != "application/json" {
		return errors.New("the body must be application/json")
	}
	return nil
}

// sessions are the cookies that may be the browser's half of a session. A page
// on another port can add one of the same name, so there may be several.
func (q *request) sessions() (values []string) {
	for _, c := range q.Cookies() {
		if c.Name == q.door.cookie && len(values) < maxCookies {
			values = append(values, c.Value)
		}
	}
	return values
}

const maxCookies = 8
