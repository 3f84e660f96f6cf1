package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/gatelatch/gatelatch/internal/metrics"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/tap"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/push"
	"github.com/gatelatch/gatelatch/server"
	"github.com/gatelatch/gatelatch/store/postgres"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"github.com/gatelatch/gatelatch/toolset"
	"github.com/gatelatch/gatelatch/web"
)

// stopTime is how long a graceful stop may take.
const stopTime = 5 * time.Second

// waiterGrace is how long an agent may need to come back for an answer.
const waiterGrace = 15 * time.Second

// Few enough asks are under way that a decision which waits behind all of them
// is still quick, and enough that they share a commit.
const (
	asksAtOnce   = 64
	asksQueued   = 256
	asksPatience = time.Second
)

type gatewayOptions struct {
	state  statedir.Dir
	config string // directory
	listen string
	// tlsCert and tlsKey are files; without them it listens on loopback only.
	tlsCert, tlsKey string

	store string // "" is a file in the state directory, else a postgres:// URL
	// checkpoints is where signed checkpoints of the trail go; "" is nowhere.
	checkpoints         string
	checkpointsRequired bool // no decisions without them
	// public is where other devices find the page; "" is nowhere.
	public string
	// agentSocket is where agents of other users ask; "" is beside the other.
	agentSocket string
	signing     signing // what needs a person's passkey
	// metrics is where numbers are read without a key; "" is nowhere.
	metrics string
	log     *slog.Logger
}

// gateway is everything that runs, wired together.
type gateway struct {
	opt     gatewayOptions
	lock    *os.File
	store   gatelatch.Store
	auth    *auth.Auth
	trail   *keeper
	drift   *drift
	silence *silence
	gate    *gatelatch.Gate
	tools   toolset.Policy
	tells   notify.Config
	peers   *peers
	url     string
	page    string // what links lead to
	probes  string // where numbers are read without a key
	temp    string // where the sockets lie, if that is not the state directory

	numbers *metrics.Registry
	commits *server.Commits
	server  *server.Server
	servers []*http.Server
	failed  chan error
	work    sync.WaitGroup
	stop    context.CancelFunc
}

// startGateway opens the store and listens. When it returns, the gateway
// serves and the state directory says where.
func startGateway(opt gatewayOptions) (_ *gateway, err error) {
	cfg, err := loadConfig(opt.config)
	if err != nil {
		return nil, err
	}
	if opt.listen == "" {
		opt.listen = cfg.Listen
	}
	if opt.listen == "" {
		opt.listen = defaultListen
	}
	if opt.store == "" {
		opt.store = cfg.Store
	}
	if opt.public == "" {
		opt.public = cfg.PublicURL
	}
	if opt.metrics == "" {
		opt.metrics = cfg.MetricsListen
	}
	if err := checkPublic(opt.public); err != nil {
		return nil, err
	}
	opt.tlsCert, opt.tlsKey = cmp.Or(opt.tlsCert, cfg.TLSCert), cmp.Or(opt.tlsKey, cfg.TLSKey)
	if err := checkTLS(opt); err != nil {
		return nil, err
	}
	if opt.agentSocket, err = cfg.agentSocket(); err != nil {
		return nil, err
	}
	opt.signing = cfg.signing()
	if err := cfg.checkpoints(&opt); err != nil {
		return nil, err
	}
	if err := opt.state.Prepare(); err != nil {
		return nil, err
	}
	salt, err := ensureMaskKey(opt.state)
	if err != nil {
		return nil, err
	}
	// Not the caller's context: when that ends, stopping is orderly.
	ctx, stop := context.WithCancel(context.Background())
	g := &gateway{opt: opt, failed: make(chan error, 4), stop: stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if g.lock, err = filelock.Lock(opt.state.Lock()); err != nil {
		return nil, alreadyRuns(opt.state, err)
	}
	if g.store, err = openStore(ctx, opt); err != nil {
		return nil, err
	}
	if g.trail, err = newKeeper(ctx, opt, g.store); err != nil {
		return nil, err
	}
	g.auth = auth.New(g.store, personName())
	if err := g.auth.EnsureFiles(ctx, opt.state); err != nil {
		return nil, err
	}
	rules := openRules(opt)
	g.numbers = new(metrics.Registry)
	g.commits = server.NewCommits(g.store, g.numbers)
	gate := gatelatch.New(g.commits, rules.judge(), cfg.hooks()...)
	gate.Quota, gate.MaxInput = cfg.Quota.quota(), cfg.Limits.input()
	gate.TellAfter(opt.log, cfg.afterHooks()...)
	gate.LimitAsks(asksAtOnce, asksQueued, asksPatience)
	gate.Signs = opt.signing.must()
	if err := gate.NoteSigning(ctx, string(opt.signing)); err != nil {
		return nil, err
	}
	gate.Binder, gate.Salt, gate.Grace = policy.NewBinder(), salt, waiterGrace
	g.gate, g.tools, g.tells = gate, cfg.Tools, cfg.Notify
	if g.peers, err = newPeers(cfg, g.work.Go); err != nil {
		return nil, err
	}
	g.drift = &drift{dir: opt.state, note: gate.Note}
	g.silence = &silence{store: g.store, note: gate.NoteUnseen}
	if err := rules.begin(ctx, gate); err != nil {
		return nil, err
	}
	if err := g.trail.write(ctx); err != nil && opt.checkpointsRequired {
		return nil, err
	}
	if p := rules.Problem(); p != "" {
		opt.log.Warn("the rules can't be read", "problem", p)
	}
	g.work.Go(func() { gate.Run(ctx) })
	g.work.Go(func() { g.upkeep(ctx, gate, rules) })
	g.work.Go(func() { g.silence.run(ctx, opt.log) })
	g.work.Go(func() {
		if err := g.trail.run(ctx, opt.checkpointsRequired); err != nil {
			g.failed <- err
		}
	})
	if err := g.listen(ctx, gate, rules); err != nil {
		return nil, err
	}
	return g, nil
}

// alreadyRuns says which gateway has the state directory.
func alreadyRuns(state statedir.Dir, err error) error {
	if !errors.Is(err, filelock.ErrLocked) {
		return err
	}
	where := ""
	if old, e := state.Gateway(); e == nil {
		where = fmt.Sprintf(" (process %d, %s)", old.PID, old.URL)
	}
	return withHint(fmt.Errorf("a gateway already runs on %s%s", state, where),
		`use it with "gatelatch open`+stateArg(state)+`", or give this one another --state`)
}

func openStore(ctx context.Context, opt gatewayOptions) (gatelatch.Store, error) {
	if err := checkStore(opt.store); err != nil {
		return nil, err
	}
	if opt.store != "" {
		s, err := postgres.Open(ctx, opt.store, postgres.Options{})
		if err != nil {
			return nil, err // not s: a nil store in an interface is not nil
		}
		return s, nil
	}
	fatal := func(err error) {
		opt.log.Error("the disk may have lost a commit; stopping", "err", err)
		os.Exit(1)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", "-redo0", "-redo1"} { // which the store would follow, were they links
		if err := statedir.CheckFile(opt.state.Database() + suffix); err != nil {
			return nil, err
		}
	}
	s, err := sqlite.Open(ctx, opt.state.Database(), sqlite.Options{Fatal: fatal})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkStore refuses what is neither "" nor the URL of a PostgreSQL.
func checkStore(store string) error {
	if store == "" || strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://") {
		return nil
	}
	return withHint(errors.New("the store is none that this gatelatch knows"),
		"leave it out for a file in the state directory, or give postgres://USER@HOST/DATABASE")
}

// personName goes into the trail, where all is UTF-8.
func personName() string {
	if u, err := user.Current(); err == nil {
		if u.Name != "" && u.Name != u.Username {
			return strings.ToValidUTF8(u.Name, "?")
		}
		return u.Username
	}
	return "you"
}

func (g *gateway) listen(ctx context.Context, gate *gatelatch.Gate, rules *rules) error {
	tcp, err := listenFront(g.opt)
	if err != nil {
		return err
	}
	g.url, g.page, g.opt.public = tcp.url, tcp.page, tcp.public
	foreign, err := g.tells.ForeignClient()
	if err != nil {
		return err
	}
	messages, err := push.Open(filepath.Join(string(g.opt.state), "push.json"), foreign.Transport)
	if err != nil {
		return err
	}
	box, err := g.outbox()
	if err != nil {
		return err
	}
	srv, err := server.New(server.Options{
		Gate: gate, Auth: g.auth, Web: web.FS(), URL: g.page, Version: version, Policy: rules.path(), Note: func(ctx context.Context) error { return rules.follow(ctx, gate) },
		Signing: string(g.opt.signing), Isolation: g.isolation, Asked: g.peers.asked,
		Notice: joinProblems(rules.Problem, g.drift.Problem, g.silence.Problem, g.trail.Problem),
		Tools:  g.tools, Plugs: plugs(g.opt.log, gate.InputLimit()), Log: g.opt.log, Rules: rules.File, Write: rules.write, Push: messages, Public: g.opt.public, Notify: box,
		Metrics: g.numbers, Checks: []server.Check{{Name: "store", Problem: g.commits.Problem}, {Name: "rules", Problem: rules.Problem}, {Name: "checkpoints", Problem: g.trail.Problem}},
	})
	if err != nil {
		return err
	}
	g.server = srv
	sockets, err := g.socketDir()
	if err != nil {
		return err
	}
	where := statedir.Gateway{PID: os.Getpid(), URL: g.url,
		AgentSocket: cmp.Or(g.opt.agentSocket, filepath.Join(sockets, "agent.sock")), ApproverSocket: filepath.Join(sockets, "approver.sock")}
	agents, people := server.AgentDoor(), server.ApproverDoor()
	agents.Peer, people.Peer = g.peers.mayAsk, g.peers.mayDecide
	for _, l := range []struct {
		door server.Door
		open func() (net.Listener, error)
		meet func(context.Context, net.Conn) context.Context
	}{
		{tcp.door, func() (net.Listener, error) { return tcp, nil }, nil},
		{tcp.door, func() (net.Listener, error) { return tcp.twin, nil }, nil},
		{agents, func() (net.Listener, error) { return listenAgents(where.AgentSocket, g.peers.agents) }, g.peers.context()},
		{people, func() (net.Listener, error) { return listenSocket(where.ApproverSocket) }, g.peers.context()},
	} {
		ln, err := l.open()
		if err != nil {
			return err
		}
		if ln == nil { // there is no twin
			continue
		}
		h, err := srv.Handler(l.door)
		if err != nil {
			return err
		}
		s := srv.HTTP(ctx, tap.Handler(h))
		if counted := s.ConnContext; l.meet != nil {
			s.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return l.meet(counted(ctx, c), server.Below(c)) }
		}
		g.serve(s, srv.Limit(ln, l.door))
	}
	if err := g.listenProbes(ctx, srv); err != nil {
		return err
	}
	box.Looking = srv.Looking
	g.work.Go(func() { srv.Push(ctx) })
	g.work.Go(func() { box.Run(ctx) })
	g.work.Go(func() { srv.Meter(ctx) })
	return g.opt.state.Announce(where)
}

// listenProbes opens the listener that only counts, if there is to be one.
func (g *gateway) listenProbes(ctx context.Context, srv *server.Server) error {
	if g.opt.metrics == "" {
		return nil
	}
	ln, err := listenLoopback(g.opt.metrics)
	if err != nil {
		return err
	}
	g.probes = ln.Addr().String()
	g.serve(srv.HTTP(ctx, srv.Probes(g.probes)), srv.Limit(ln, server.Door{}))
	return nil
}

func (g *gateway) serve(s *http.Server, ln net.Listener) {
	g.servers = append(g.servers, s)
	g.work.Go(func() {
		if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			g.failed <- err
		}
	})
}

// wait serves until ctx ends or a listener fails, then stops in order.
func (g *gateway) wait(ctx context.Context) error {
	var err error
	select {
	case <-ctx.Done():
	case err = <-g.failed:
	}
	return errors.Join(err, g.close())
}

// shutdown lets nobody in any more, and returns the servers that still answer
// somebody when ctx ends.
func (g *gateway) shutdown(ctx context.Context) (busy []*http.Server) {
	errs := make([]error, len(g.servers))
	var all sync.WaitGroup
	for i, s := range g.servers {
		all.Go(func() { errs[i] = s.Shutdown(ctx) })
	}
	all.Wait()
	for i, s := range g.servers {
		if errs[i] != nil {
			busy = append(busy, s)
		}
	}
	return busy
}

// close tells waiters to come again, finishes what is being committed and
// closes the store last.
func (g *gateway) close() error {
	ctx, stop := context.WithTimeout(context.Background(), stopTime)
	defer stop()
	var errs []error
	soon, enough := context.WithTimeout(ctx, stopTime/2)
	defer enough()
	if g.server != nil {
		_ = g.server.Drain(soon)
	}
	g.shutdown(soon)
	g.stop() // of what is left, too, nobody waits any longer
	for _, s := range g.shutdown(ctx) {
		errs = append(errs, s.Close())
	}
	if g.server != nil {
		_ = g.server.Wait(ctx)
	}
	g.work.Wait()
	if g.gate != nil {
		g.gate.WaitAfter(ctx)
	}
	if g.temp != "" {
		errs = append(errs, os.RemoveAll(g.temp))
	}
	if g.store != nil {
		if len(g.servers) > 0 {
			errs = append(errs, g.auth.Flush(ctx, true))
			_ = g.opt.state.Retire()
			errs = append(errs, g.trail.end(g.opt.checkpointsRequired))
		}
		errs = append(errs, g.store.Close())
	}
	if g.lock != nil {
		errs = append(errs, g.lock.Close())
	}
	return errors.Join(errs...)
}
