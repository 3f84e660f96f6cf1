package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/e2e/output"
)

// peerModules finds the clients that others wrote.
var peerModules = sync.OnceValues(func() (string, error) { return fetched("GATELATCH_PEERS", "peers.sh") })

// peer is a process of testdata/peers, which speaks lines of JSON with the test.
type peer struct {
	t     *testing.T
	stdin io.WriteCloser
	lines chan map[string]any
	log   *output.Buffer
}

func startPeer(t *testing.T, script string, args ...string) *peer {
	t.Helper()
	modules := need(t, peerModules)
	file, err := filepath.Abs(filepath.Join("testdata", "peers", script))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{file}, args...)...)
	cmd.Env, cmd.Dir = cleanEnv(tempDir(t), "NODE_PATH="+modules), tempDir(t)
	p := &peer{t: t, lines: make(chan map[string]any, 1000), log: new(output.Buffer)}
	cmd.Stderr = p.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for sc := bufio.NewScanner(stdout); sc.Scan(); {
			var line map[string]any
			if err := json.Unmarshal(sc.Bytes(), &line); err != nil {
				line = map[string]any{"garbage": sc.Text()}
			}
			p.lines <- line
		}
	}()
	t.Cleanup(func() {
		p.stdin.Close()
		done := make(chan struct{})
		go func() { defer close(done); <-read; _ = cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-done
			t.Errorf("%s did not end", script)
		}
		if t.Failed() {
			t.Logf("%s: %s", script, p.log)
		}
	})
	return p
}

// says sends one line.
func (p *peer) says(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatalf("%v\n%s", err, p.log)
	}
}

// hears returns the next line that fits, and passes over others.
func (p *peer) hears(what string, fits func(map[string]any) bool) map[string]any {
	p.t.Helper()
	end := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the peer ended before %s\n%s", what, p.log)
			}
			if fits(line) {
				return line
			}
		case <-end:
			p.t.Fatalf("waited in vain for %s\n%s", what, p.log)
		}
	}
}

// answer is what became of a call.
func (p *peer) answer(id string) map[string]any {
	p.t.Helper()
	return p.hears("the answer to "+id, func(m map[string]any) bool { return m["id"] == id && m["accepted"] == nil })
}

// event waits for something that happened to the connection.
func (p *peer) event(name string) {
	p.t.Helper()
	p.hears(name, func(m map[string]any) bool { return m["event"] == name })
}
