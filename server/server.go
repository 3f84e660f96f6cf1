// Package server is the gateway's HTTP side: the API, the event stream and the
// page. Every request passes the same checks in the same order before any of
// it is looked at: see admit.
package server

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/metrics"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/gatelatch/gatelatch/push"
	"github.com/gatelatch/gatelatch/toolset"
)

// Options is what a server needs.
type Options struct {
	Gate    *gatelatch.Gate
	Auth    *auth.Auth
	Web     fs.FS  // the page; nil serves none
	URL     string // where browsers find it: http://127.0.0.1:7474
	Version string // shown in the page
	Policy  string // the file that holds the rules; "" if they lie in the store
	// Note has the rules noted that hold now, if they lie in a file; may be nil.
	Note   func(context.Context) error
	Notice func() string // something is wrong that people should see; may be nil
	// Signing is what needs a person's passkey: risky or all; "" is nothing.
	// The gate refuses what lacks it of allows and modes, the server the rest.
	Signing string
	// Isolation says how far agents are kept from the gateway; may be nil.
	Isolation func() string
	// Asked is told of who asked as an agent; may be nil. It must not wait.
	Asked func(*http.Request)
	Tools toolset.Policy
	Plugs []Plug
	Log   *slog.Logger
	// Checks are what readiness needs beside the store and the trail.
	Checks  []Check
	Metrics *metrics.Registry // nil counts nothing

	Rules Rulebook // nil: there are none to look at
	// Write puts changed rules in force, if those in force are still before.
	Write func(ctx context.Context, seat *gatelatch.Seat, c PolicyChange) (*gatelatch.Revision, error)
	Push  *push.Sender // nil: browsers hear nothing while the page is closed
	// Public is where devices other than this one find the page; "" is nowhere.
	Public string
	Notify *notify.Outbox // nil: nobody is told otherwise
}

// Server answers on three doors; what a door is for is fixed when its handler
// is made.
type Server struct {
	opt     Options
	page    *page
	tail    tail
	waiting sync.WaitGroup // for parked requests
	guests  guests
	warned  said
	looked  glance
	lobby   lobby
	wicket  wicket
	agents  chan struct{} // tokens of those whose keys are looked at
	drain   drain
	ready   readiness
	meter   *meter

	past  past
	likes likes
	chain verifier
	desk  desk
}

// A Door is one way in.
type Door struct {
	Hosts   []string   // exact Host headers
	Origins []string   // the exact Origin of each; none on a socket
	Roles   []api.Role // routes that exist here
	cookie  string     // name of a browser's half of its session
	// Peer refuses who may not come to this door at all; nil lets everybody.
	Peer func(*http.Request) error
}

// BrowserDoor is the loopback TCP listener at addr, host and port. Another name
// of the same machine is another address: somebody else may listen there.
func BrowserDoor(addr string) Door {
	return Door{
		Hosts: []string{addr}, Origins: []string{"http://" + addr}, cookie: api.CookiePrefix + addr[strings.LastIndexByte(addr, ':')+1:],
		Roles: []api.Role{api.Anybody, api.Agents, api.People, api.Readers, api.Admins, api.Commands, api.Keyed},
	}
}

// Named makes a loopback door answer at a name, too, since passkeys need one. At
// the same port nobody else may be found by it.
func (d Door) Named(name string) Door {
	host := net.JoinHostPort(name, d.Hosts[0][strings.LastIndexByte(d.Hosts[0], ':')+1:])
	d.Hosts, d.Origins = append(d.Hosts, host), append(d.Origins, "http://"+host)
	return d
}

// SecureDoor is a TCP listener with TLS, at the names of its certificate.
func SecureDoor(names []string, port string) Door {
	d := BrowserDoor(net.JoinHostPort(names[0], port))
	d.Hosts, d.Origins, d.cookie = nil, nil, "__Host-"+d.cookie
	for _, name := range names {
		host := net.JoinHostPort(name, port)
		if port == "443" {
			host = strings.TrimSuffix(host, ":443") // as browsers write it
		}
		d.Hosts, d.Origins = append(d.Hosts, host), append(d.Origins, "https://"+host)
	}
	return d
}

// Also makes the door answer at a public URL, too: that of a tunnel or proxy
// which has TLS and hands on what it gets, with its Host.
func (d Door) Also(public string) Door {
	if host, ok := strings.CutPrefix(public, "https://"); ok {
		d.Hosts, d.Origins = append(d.Hosts, host), append(d.Origins, public)
		d.Roles = append(d.Roles, api.Bearers) // a phone gets here only now
	}
	return d
}

// AgentDoor is the Unix socket on which one can only ask.
func AgentDoor() Door {
	return Door{Hosts: []string{api.SocketHost}, Roles: []api.Role{api.Agents}}
}

// ApproverDoor is the Unix socket for the person's command line.
func ApproverDoor() Door {
	return Door{Hosts: []string{api.SocketHost}, Roles: []api.Role{api.People, api.Readers, api.Admins, api.Commands, api.Keyed}}
}

// New returns a server. It fails if the page is incomplete, or the lists of
// tools can't be meant.
func New(opt Options) (*Server, error) {
	if err := opt.Tools.Check(); err != nil {
		return nil, err
	}
	if opt.Notice == nil {
		opt.Notice = func() string { return "" }
	}
	if opt.Isolation == nil {
		opt.Isolation = func() string { return "" }
	}
	s := &Server{opt: opt, lobby: lobby{most: mostConns(), from: map[netip.Addr]int{}}, wicket: newWicket(), drain: newDrain(), agents: make(chan struct{}, agentsAtOnce), tail: tail{oldies: make(chan struct{}, 1)}}
	s.meter = s.newMeter()
	s.past.spawn, s.chain.spawn, s.desk.spawn = s.waiting.Go, s.waiting.Go, s.waiting.Go
	if opt.Web != nil {
		var err error
		if s.page, err = loadPage(opt.Web); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Handler returns what answers at door d.
func (s *Server) Handler(d Door) (http.Handler, error) {
	mux := http.NewServeMux()
	have := endpoints()
	for _, r := range api.Routes {
		ep, ok := have[r.Name]
		if !ok {
			return nil, fmt.Errorf("route %s has no endpoint", r.Name)
		}
		delete(have, r.Name)
		if d.has(r.Role) {
			mux.Handle(r.Method+" "+r.Path, s.route(d, r, ep))
		}
	}
	for name := range have {
		return nil, fmt.Errorf("endpoint %s has no route", name)
	}
	for _, p := range s.opt.Plugs {
		if d.has(p.Role) {
			mux.Handle(p.Path, s.plug(d, p))
		}
	}
	if d.has(numbers.Role) {
		mux.Handle("GET /metrics", s.route(d, numbers, func(s *Server, q *request) error { s.serveMetrics(q.w, q.Request); return nil }))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.unrouted(d, w, r) })
	return s.outer(d, mux), nil
}

func (d Door) has(role api.Role) bool {
	for _, r := range d.Roles {
		if r == role {
			return true
		}
	}
	return false
}

// HTTP returns an http.Server with the limits that hold at every door. When
// ctx ends, whoever waits is told to come again.
func (s *Server) HTTP(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader - 4<<10, // to which net/http adds that much
		BaseContext:       s.drain.baseContext(ctx),
		ConnContext:       connContext,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
}
