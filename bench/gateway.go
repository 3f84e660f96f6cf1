package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/auth"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/store/sqlite"
)

// build builds commands as they are released.
func build(dir string, pkgs ...string) (map[string]string, error) {
	bins := map[string]string{}
	for _, pkg := range pkgs {
		name := filepath.Base(pkg)
		bins[name] = filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", bins[name], "github.com/gatelatch/gatelatch/"+pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return bins, nil
}

// gateway is the real one, in a process of its own.
type gateway struct {
	state statedir.Dir
	bin   string
	args  []string
	cmd   *exec.Cmd
}

// newGateway starts a gateway with its state in dir.
func newGateway(dir, bin string) (*gateway, error) {
	g := &gateway{state: stateIn(dir), bin: bin}
	g.args = []string{"serve", "--json", "--listen", "127.0.0.1:0", "--state", string(g.state), "--config", filepath.Join(dir, "config")}
	config := filepath.Join(dir, "config", "config.yaml")
	err := os.MkdirAll(filepath.Dir(config), 0o700)
	if err == nil { // one client asks for many
		err = os.WriteFile(config, []byte("quota: {asks_per_minute: 0, pending: 0, ask_again_after: 0s}\n"), 0o600)
	}
	if err == nil {
		err = g.start()
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// gateway builds the gateway and starts it, with its ways in.
func (r *rig) gateway() (*gateway, doors, error) {
	bins, err := build(r.dir, "cmd/gatelatch")
	if err != nil {
		return nil, doors{}, err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return nil, doors{}, err
	}
	d, err := g.doors()
	if err != nil {
		g.stop()
	}
	return g, d, err
}

func stateIn(dir string) statedir.Dir { return statedir.Dir(filepath.Join(dir, "state")) }

func (g *gateway) start() error {
	g.cmd = exec.Command(g.bin, g.args...)
	g.cmd.Stderr = os.Stderr
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := g.cmd.Start(); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints once it serves
		g.kill()
		return fmt.Errorf("the gateway did not start: %w", err)
	}
	return nil
}

func (g *gateway) stop() { _ = g.cmd.Process.Signal(os.Interrupt); _ = g.cmd.Wait() }
func (g *gateway) kill() { _ = g.cmd.Process.Kill(); _ = g.cmd.Wait() }

// doors are the ways in, with what opens them.
type doors struct {
	agentSocket, agentKey, personAddr, personKey string
}

func (g *gateway) doors() (d doors, err error) {
	where, err := g.state.Gateway()
	if err != nil {
		return d, err
	}
	at, err := url.Parse(where.URL)
	if err != nil {
		return d, err
	}
	d.agentSocket, d.personAddr = where.AgentSocket, at.Host
	var errs [2]error
	d.agentKey, errs[0] = statedir.ReadKey(g.state.AgentKey())
	d.personKey, errs[1] = statedir.ReadKey(g.state.ApproverKey())
	return d, errors.Join(errs[:]...)
}

// rest waits until the gateway has nothing more to do.
func (g *gateway) rest() error {
	const quiet = 500 * time.Millisecond
	last := int64(-1)
	for {
		now, err := cpuTicks(g.cmd.Process.Pid)
		if err != nil {
			return err
		}
		if now-last <= 1 { // a beat now and then does not count
			return nil
		}
		last = now
		time.Sleep(quiet)
	}
}

// waitingCalls lets n calls wait in the store of the gateway in dir, which does
// not run yet.
func waitingCalls(ctx context.Context, dir string, n int) (calls []*gatelatch.Call, batches []string, err error) {
	f, err := fill(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	calls, batches = make([]*gatelatch.Call, n), make([]string, n)
	err = inParallel(clients, n, func(i int) (err error) { calls[i], batches[i], err = f.propose(ctx, i); return err })
	return calls, batches, errors.Join(err, f.Close())
}

// filled is a store that a gateway will use, opened before it does.
type filled struct {
	*sqlite.Store
	node
}

// fill opens the store of the gateway in dir, with the keys that it will have.
func fill(ctx context.Context, dir string) (f filled, err error) {
	state := stateIn(dir)
	if err := state.Prepare(); err != nil {
		return f, err
	}
	if f.Store, err = sqlite.Open(ctx, state.Database(), sqlite.Options{}); err != nil {
		return f, err
	}
	if err := auth.New(f.Store, "bench").EnsureFiles(ctx, state); err != nil {
		return f, errors.Join(err, f.Close())
	}
	gate := gatelatch.New(f.Store, policy.Default())
	seat := func(file string) (*gatelatch.Seat, error) {
		secret, err := statedir.ReadKey(file)
		if err != nil {
			return nil, err
		}
		var k *gatelatch.Key
		err = f.View(ctx, func(r gatelatch.Reader) (err error) {
			k, err = r.KeyByHash(gatelatch.SumOf([]byte(secret)))
			return err
		})
		if err != nil {
			return nil, err
		}
		return gate.As(k.Actor()), nil
	}
	f.project = dir
	var errs [2]error
	f.agent, errs[0] = seat(state.AgentKey())
	f.person, errs[1] = seat(state.ApproverKey())
	return f, errors.Join(errs[:]...)
}
