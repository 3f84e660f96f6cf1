package linear

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/e2e/output"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

const nodes = 3

// patience bounds waits for processes; a test that works never gets near it.
const patience = 40 * time.Second

// cluster is three gateways on one database. They share the agent's key; each
// has its own person, who may ask any of them.
type cluster struct {
	t      *testing.T
	server *pgtest.Server
	dsn    string // past the proxies
	nodes  [nodes]*node
	people [nodes]string // ids of their keys

	agents [nodes]*client.Client        // by node
	asks   [nodes][nodes]*client.Client // by person and node
}

func newCluster(t *testing.T, server *pgtest.Server, name string) *cluster {
	t.Helper()
	c := &cluster{t: t, server: server, dsn: server.Database(t, name)}
	socket := must(pgx.ParseConfig(c.dsn))(t)
	dir := tempDir(t)
	agent := id.Secret("gka")
	var keys [nodes]string
	for i := range c.nodes {
		keys[i] = id.Secret("gkd")
		c.nodes[i] = newNode(t, filepath.Join(dir, fmt.Sprint(i)), newProxy(t, fmt.Sprintf("%s/.s.PGSQL.%d", socket.Host, socket.Port)), name, fmt.Sprint("node", i))
		writeKeys(t, c.nodes[i].state, agent, keys[i])
	}
	for _, n := range c.nodes { // all at once, on an empty database
		n.launch()
	}
	for _, n := range c.nodes {
		n.awaitReady()
	}
	for i, n := range c.nodes {
		c.agents[i] = must(client.ForAgents(n.state))(t)
		for p, key := range keys {
			// A person's client finds the gateway of another through its announcement.
			view := statedir.Dir(filepath.Join(dir, fmt.Sprintf("%d-at-%d", p, i)))
			check(t, os.Mkdir(string(view), 0o700))
			check(t, os.Symlink(n.state.Run(), view.Run()))
			writeKeys(t, view, agent, key)
			c.asks[p][i] = must(client.ForPeople(view))(t)
		}
	}
	for p := range keys {
		c.people[p] = must(c.asks[p][0].Status(t.Context()))(t).You.ID
	}
	return c
}

func writeKeys(t *testing.T, dir statedir.Dir, agent, person string) {
	t.Helper()
	check(t, statedir.WriteKey(dir.AgentKey(), agent))
	check(t, statedir.WriteKey(dir.ApproverKey(), person))
}

// query runs a statement past the proxies and returns its first number.
func (c *cluster) query(ctx context.Context, sql string, args ...any) (n int, err error) {
	conn, err := pgx.Connect(ctx, c.dsn)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	err = conn.QueryRow(ctx, sql, args...).Scan(&n)
	return n, err
}

// node is one gateway, a process.
type node struct {
	t     *testing.T
	name  string // of its connections to the database
	state statedir.Dir
	home  string
	proxy *proxy
	store string
	log   output.Buffer

	cmd    *exec.Cmd
	exited chan struct{}
}

func newNode(t *testing.T, dir string, p *proxy, database, name string) *node {
	t.Helper()
	n := &node{t: t, name: name, state: statedir.Dir(filepath.Join(dir, "state")), home: filepath.Join(dir, "home"), proxy: p}
	n.store = fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable&application_name=%s", p.ln.Addr(), database, name)
	check(t, os.MkdirAll(n.home, 0o700))
	check(t, n.state.Prepare())
	check(t, os.WriteFile(filepath.Join(n.home, "config.yaml"), []byte("quota: {asks_per_minute: 0, pending: 0, ask_again_after: 0s}\n"), 0o600)) // it asks without end
	t.Cleanup(func() {
		n.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, n.log.String())
		}
	})
	return n
}

func (n *node) launch() {
	n.t.Helper()
	n.cmd = exec.Command(must(product())(n.t), "serve", "--state", string(n.state), "--config", n.home, "--listen", "127.0.0.1:0", "--store", n.store)
	n.cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + n.home, "LANG=C.UTF-8"}
	n.cmd.Dir, n.cmd.Stdout, n.cmd.Stderr = n.home, &n.log, &n.log
	check(n.t, n.cmd.Start())
	cmd, exited := n.cmd, make(chan struct{})
	n.exited = exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // how it ended is in ProcessState
	}()
}

// awaitReady returns once the gateway listens.
func (n *node) awaitReady() {
	n.t.Helper()
	ctx, stop := context.WithTimeout(n.t.Context(), patience)
	defer stop()
	for {
		if g, err := n.state.Gateway(); err == nil && g.PID == n.cmd.Process.Pid {
			return
		}
		select {
		case <-n.exited:
			n.t.Fatalf("%s ended instead of listening: %v\n%s", n.name, n.cmd.ProcessState, n.log.String())
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			n.t.Fatalf("%s does not listen\n%s", n.name, n.log.String())
		}
	}
}

// kill is kill -9, of a stopped gateway too.
func (n *node) kill() {
	if n.cmd != nil {
		n.signal(syscall.SIGKILL)
		<-n.exited
	}
}

func (n *node) signal(s syscall.Signal) {
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Error(err)
	}
}

// tempDir is like t.TempDir with a short name: a socket's path has 107 bytes.
func tempDir(t *testing.T) string {
	t.Helper()
	dir := must(os.MkdirTemp("", "gl-"))(t) //nolint:usetesting // t.TempDir puts the test's whole name into the path
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return v
	}
}
