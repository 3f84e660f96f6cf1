// Command bench measures what users wait for and prints it beside what the
// machine itself costs, in one run: make bench.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch/internal/ballast"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// parts are what can be measured, in this order.
var parts = []struct {
	name, what string
	run        func(*rig) error
}{
	{"commits", "one request's way, beside one commit", decisions},
	{"hooks", "the hook, beside a process that says hello", hooks},
	{"click", "from a person's click to the agent going on", clicking},
	{"peers", "the hook, beside those of public peers", peers},
	{"policy", "one judgement, beside cedar-go and OPA", judging},
	{"backtest", "rules replayed over what happened", backtesting},
	{"shell", "one command line, beside its bare parse", shellJudging},
	{"sqlite", "propose and decide, beside the same rows in bare groups", sqliteRate},
	{"postgres", "propose and decide, beside the same rows written bare", postgresRate},
	{"wake", "from a decision to its waiter, one node", wakeHere},
	{"run", "from a click to the agent that gatelatch run hosts", running},
	{"nodes", "from a decision to its waiter, across two nodes", wakeAcross},
	{"api", "an agent's request that policy settles, alone and under load", apiSpeed},
	{"fanout", "one decision to all who follow the trail, some of them dead", fanOut},
	{"herd", "agents that all come at once, and decisions meanwhile", herd},
	{"slowloris", "an honest client among many that never finish a request", slowloris},
	{"overload", "a decision while agents ask for twice what can be answered", overload},
	{"polls", "memory of a request that waits", pollMemory},
	{"streams", "memory of an event stream", streamMemory},
	{"pending", "much that waits: starting after a kill, listing", manyPending},
	{"page", "the page in Chromium: first card, new card, much to scroll", pageSpeed},
}

// rig is what every part gets.
type rig struct {
	dir string // the part's own
	n   int
	board
}

func main() {
	if n, err := strconv.Atoi(os.Getenv(agentEnv)); err == nil {
		playAgent(n)
		return
	}
	if state := os.Getenv(deciderEnv); state != "" {
		if err := playDecider(statedir.Dir(state)); err != nil {
			fmt.Fprintln(os.Stderr, "bench: deciding:", err)
			os.Exit(1)
		}
		return
	}
	var names []string
	for _, p := range parts {
		names = append(names, fmt.Sprintf("%-10s%s", p.name, p.what))
	}
	n := flag.Int("n", 300, "how often each single thing is measured")
	dir := flag.String("dir", "", "`directory` on a real disk (default .run, or the user's cache)")
	only := flag.String("only", "", "run these `parts` only, as a,b:\n"+strings.Join(names, "\n"))
	cpu := flag.String("cpuprofile", "", "write a CPU profile of this process to `file`")
	mem := flag.String("memprofile", "", "write a profile of this process's allocations to `file`")
	flag.Parse()
	if err := profiled(*cpu, *mem, func() error {
		defer ballast.Load()() // as the gateway has
		return run(*dir, *only, *n)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(dir, only string, n int) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if dir, err = workDir(dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &rig{dir: dir, n: n}
	if err := r.machine(); err != nil {
		return err
	}
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) {
			continue
		}
		average, stolen, total := load()
		fmt.Printf("\n%s: %s (load average %.1f)\n", p.name, p.what, average)
		if r.dir = filepath.Join(dir, p.name); os.Mkdir(r.dir, 0o700) != nil {
			return fmt.Errorf("%s is in the way", r.dir)
		}
		if err := p.run(r); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, s, t := load(); s-stolen > 0.02*(t-total) {
			note("other machines took of this one meanwhile: measure again?", 100*(s-stolen)/(t-total), "%")
		}
		if err := os.RemoveAll(r.dir); err != nil {
			return err
		}
	}
	r.summary()
	return nil
}

func choose(only string) (chosen []string, err error) {
	if only != "" {
		chosen = strings.Split(only, ",")
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	for _, name := range chosen {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("no part is called %q: there are %s", name, strings.Join(all, ", "))
		}
	}
	if len(chosen) == 0 {
		return all, nil
	}
	return chosen, nil
}

// workDir makes a directory of this run's own. A file system in memory has no
// fsync worth the name.
func workDir(dir string) (string, error) {
	tries := []string{dir}
	if dir == "" {
		tries = []string{".run"}
		if cache, err := os.UserCacheDir(); err == nil {
			tries = append(tries, filepath.Join(cache, "gatelatch"))
		}
	}
	var errs []error
	for _, d := range tries {
		if err := os.MkdirAll(d, 0o700); err != nil {
			errs = append(errs, err)
		} else if err := onDisk(d); err != nil {
			errs = append(errs, err)
		} else if d, err = filepath.Abs(d); err == nil {
			return os.MkdirTemp(d, "bench-")
		}
	}
	return "", errors.Join(errs...)
}

// onDisk refuses a directory that lies in memory.
func onDisk(dir string) error {
	name, err := fileSystem(dir)
	if err == nil && (name == "tmpfs" || name == "ramfs") {
		err = fmt.Errorf("%s is %s, which keeps nothing: give -dir on a real disk", dir, name)
	}
	return err
}

// machine prints what the numbers below rest on.
func (r *rig) machine() error {
	name, err := fileSystem(r.dir)
	if err != nil {
		return err
	}
	s, err := bareCommits(r.dir, r.n)
	if err != nil {
		return err
	}
	fmt.Printf("%s on %s/%s, %d cores; files on %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), name)
	s.print("one fsync (append a kilobyte, wait until it is there)")
	return nil
}

func profiled(cpu, mem string, fn func() error) error {
	if cpu != "" {
		f, err := os.Create(cpu)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if err := fn(); err != nil || mem == "" {
		return err
	}
	f, err := os.Create(mem)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
