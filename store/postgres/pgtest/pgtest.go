// Package pgtest runs a throw-away PostgreSQL for a test binary: a real one,
// with fsync on, reachable by a Unix socket only.
package pgtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// script makes a cluster and runs it until its input ends, which it also does
// when the test dies. Then nothing is left of it. Each line before that crashes
// the server and starts it again.
const script = `
trap '' INT TERM HUP
bin=$1 dir=$2
"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/initdb.log" 2>&1 || {
	cat "$dir/initdb.log" >&2; rm -rf "$dir"; exit 1
}
more=0
while [ $more = 0 ]; do
	"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c port=5499 -c max_connections=200 </dev/null &
	pid=$!
	read -r _
	more=$?
	kill -QUIT $pid
	wait $pid
done
rm -rf "$dir"
`

// A Server is a running PostgreSQL.
type Server struct {
	dir, bin string
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	log      chan struct{} // closed when the server says no more

	mu    sync.Mutex
	there map[string]bool // databases
}

// Start makes a server. Stop it.
func Start() (*Server, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(bins) == 0 {
		return nil, errors.New(`no PostgreSQL in /usr/lib/postgresql: run "make deps"`)
	}
	slices.SortFunc(bins, func(a, b string) int { return major(a) - major(b) })
	s := &Server{bin: filepath.Dir(bins[len(bins)-1]), log: make(chan struct{}), there: map[string]bool{}}
	// A socket's path is short, and the server's user must get there.
	if s.dir, err = os.MkdirTemp("/tmp", "gl-pg-"); err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

func major(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

// asUser returns how to run a command that refuses to be root.
func (s *Server) asUser() ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf(`%w: run "make deps"`, err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--init-groups"}, os.Chown(s.dir, uid, -1)
}

func (s *Server) run() error {
	args, err := s.asUser()
	if err != nil {
		return err
	}
	args = append(args, "sh", "-c", script, "sh", s.bin, s.dir)
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Dir = s.dir
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	said, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	err = s.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = said.Close()
		return err
	}
	ready := make(chan string, 1)
	go s.read(said, ready)
	if why := <-ready; why != "" {
		return errors.Join(fmt.Errorf("PostgreSQL did not start:\n%s", why), s.Stop())
	}
	return nil
}

// read follows the log, and sends "" when the server is ready, or all that it
// said if it never was.
func (s *Server) read(log io.ReadCloser, ready chan<- string) {
	defer close(s.log)
	defer func() { _ = log.Close() }()
	var all bytes.Buffer
	up := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if up {
			continue
		}
		fmt.Fprintln(&all, lines.Text())
		if up = strings.Contains(lines.Text(), "ready to accept connections"); up {
			ready <- ""
		}
	}
	if !up {
		ready <- all.String()
	}
}

// Crash ends the server like "pg_ctl stop -m immediate" and starts it again. It
// does not wait for either.
func (s *Server) Crash() error {
	_, err := io.WriteString(s.stdin, "\n")
	return err
}

// Backends returns the processes that serve a client, by what they say they do.
func (s *Server) Backends() map[int]string {
	raw, _ := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid")) // not there while the server is down
	pid, _, _ := strings.Cut(string(raw), "\n")
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%s/task/%s/children", pid, pid))
	out := map[int]string{}
	for _, child := range strings.Fields(string(children)) {
		title, _ := os.ReadFile("/proc/" + child + "/cmdline")
		// postgres: USER DATABASE [local] COMMIT
		if f := strings.SplitN(strings.TrimRight(string(title), " \x00"), " ", 5); len(f) == 5 && f[3] == "[local]" {
			n, _ := strconv.Atoi(child)
			out[n] = f[4]
		}
	}
	return out
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	_ = s.stdin.Close()
	<-s.log
	_ = s.cmd.Wait() // how a killed server ended tells nothing
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s was left behind: %w", s.dir, err)
	}
	return nil
}

// Database returns the address of the named database, which is empty the first
// time.
func (s *Server) Database(t testing.TB, name string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.there[name] {
		cmd := exec.CommandContext(t.Context(), filepath.Join(s.bin, "psql"), "-X", "-q", "-h", s.dir, "-p", "5499", "-U", "postgres",
			"-d", "postgres", "-c", fmt.Sprintf(`CREATE DATABASE "%s" TEMPLATE template0`, name))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("database %s: %v\n%s", name, err, out)
		}
		s.there[name] = true
	}
	return fmt.Sprintf("host=%s port=5499 user=postgres dbname=%s", s.dir, name)
}
