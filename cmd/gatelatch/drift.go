package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// installed is what was written into a host's settings. An agent that takes it
// out is no longer asked about, so the gateway looks whether it is still there.
type installed struct {
	File string          `json:"file"`
	Hook hostconfig.Hook `json:"hook"`
}

// recordFile is where it is noted for a settings file.
func recordFile(dir statedir.Dir, file string) string {
	sum := gatelatch.SumOf([]byte(file))
	return filepath.Join(dir.Hosts(), "claude-"+sum.String()[:16]+".json")
}

func (i installed) save(dir statedir.Dir) error {
	if err := errors.Join(dir.Prepare(), os.MkdirAll(dir.Hosts(), 0o700)); err != nil {
		return err
	}
	raw, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return os.WriteFile(recordFile(dir, i.File), append(raw, '\n'), 0o600)
}

func forgetInstalled(dir statedir.Dir, file string) error {
	err := os.Remove(recordFile(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// drift watches the settings of hosts.
type drift struct {
	dir  statedir.Dir
	note func(context.Context, gatelatch.EventKind, any) error

	mu    sync.Mutex
	wrong map[string]string // file to what is wrong with it
}

// check looks at every settings file, and notes in the trail what changed since
// it looked last.
func (d *drift) check(ctx context.Context) error {
	names, err := filepath.Glob(filepath.Join(d.dir.Hosts(), "claude-*.json"))
	if err != nil {
		return err
	}
	now := map[string]string{}
	for _, name := range names {
		var i installed
		raw, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || json.Unmarshal(raw, &i) != nil {
			now[name] = "what was installed can't be read"
			continue
		}
		settings, err := readIfThere(i.File)
		problem := hostconfig.ClaudeDrift(settings, i.Hook)
		if err != nil {
			problem = err.Error()
		}
		if problem != "" {
			now[i.File] = problem
		}
	}
	return d.tell(ctx, now)
}

func (d *drift) tell(ctx context.Context, now map[string]string) (err error) {
	d.mu.Lock()
	before := d.wrong
	d.wrong = now
	d.mu.Unlock()
	type told struct {
		File    string `json:"file"`
		Problem string `json:"problem,omitempty"`
	}
	for file, problem := range now {
		if before[file] != problem {
			err = errors.Join(err, d.note(ctx, gatelatch.HostDrifted, told{file, problem}))
		}
	}
	for file := range before {
		if now[file] == "" {
			err = errors.Join(err, d.note(ctx, gatelatch.HostMended, told{File: file}))
		}
	}
	return err
}

// Problem is a notice for people, "" if all is as it was installed.
func (d *drift) Problem() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for file, problem := range d.wrong {
		out = append(out, fmt.Sprintf("an agent may no longer ask: %s: %s; mend it with gatelatch install claude", file, problem))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
