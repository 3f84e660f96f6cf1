package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy"
)

// askTime bounds each question to the gateway.
const askTime = 5 * time.Second

func (d *doctor) checkState() {
	err := d.state.Check()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("state", "%s: no gateway has run here yet", d.state)
	case err != nil:
		d.fail("state", "chmod -R go= "+string(d.state), "%v", err)
		return
	default:
		d.ok("state", "%s is for you alone", d.state)
	}
	if name := badFileSystem(nearest(string(d.state))); name != "" {
		d.warn("state", "use a directory on a local disk: --state DIR", "%s lies on %s, where a commit may not last or a lock not hold", d.state, name)
	}
	for _, key := range []string{d.state.AgentKey(), d.state.ApproverKey()} {
		switch _, err := statedir.ReadKey(key); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			d.fail("keys", "chmod 600 "+key, "%v", err)
		default:
			d.ok("keys", "%s is for you alone", key)
		}
	}
}

// nearest is the path, or the closest directory above it that is there.
func nearest(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || filepath.Dir(path) == path {
			return path
		}
		path = filepath.Dir(path)
	}
}

func (d *doctor) checkRules() {
	cfg, err := loadConfig(d.config)
	if err != nil {
		fix := hintOf(err)
		if fix == "" {
			fix = "mend " + filepath.Join(d.config, "config.yaml")
		}
		d.fail("config", fix, "%v; the gateway does not start", err)
	} else if cfg.Store != "" {
		return // the rules lie in the database, and the gateway tells about them
	}
	file := filepath.Join(d.config, "policy.yaml")
	rules := policy.OpenPaths(policy.Paths{Machine: policy.MachineFile, User: file})
	if p := rules.Problem(); p != "" {
		d.fail("rules", `mend it; "gatelatch policy check" tells more`, "%s", strings.ReplaceAll(p, "\n", "; "))
		return
	}
	if _, err := os.Stat(file); err != nil {
		d.ok("rules", "the built-in ones: reading in the project is allowed, the rest is asked about")
		return
	}
	d.ok("rules", "%s is in force", file)
}

func (d *doctor) checkGateway(ctx context.Context) {
	where, err := d.state.Gateway()
	if errors.Is(err, statedir.ErrNoGateway) {
		d.noGateway("none runs")
		return
	}
	if err != nil {
		d.fail("gateway", "start the gateway anew", "what it announced can't be read: %v", err)
		return
	}
	// A key is sent to whoever listens there.
	for _, socket := range []string{where.AgentSocket, where.ApproverSocket} {
		if cfg, err := loadConfig(d.config); err == nil && cfg.AgentSocket == socket {
			continue // it is for others, too; who they are is checked there
		}
		if err := statedir.CheckSocket(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.fail("gateway", "stop the gateway, see who owns "+filepath.Dir(socket)+", and start it again", "%v", err)
			return
		}
	}
	d.askGateway(ctx, where)
}

func (d *doctor) askGateway(ctx context.Context, where statedir.Gateway) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	agent, err := client.ForAgents(d.state)
	if err == nil {
		_, err = agent.Batch(ctx, "bat_doctor")
	}
	if client.Again(err) {
		d.noGateway("the last one ended without saying so")
		return
	}
	if !errors.Is(err, gatelatch.ErrNotFound) {
		d.fail("gateway", "start it anew", "%s does not answer agents as it should: %v", where.URL, err)
		return
	}
	var status api.Status
	person, err := client.ForPeople(d.state)
	if err == nil {
		status, err = person.Status(ctx)
	}
	switch {
	case err != nil:
		d.fail("gateway", "start it anew", "%s does not answer people: %v", where.URL, err)
	case status.Paused != nil:
		d.warn("gateway", "gatelatch unpause", "%s is paused: everything is denied", where.URL)
	case status.Version != version:
		d.warn("gateway", "start it anew", "%s is version %s, and this is %s", where.URL, status.Version, version)
	default:
		d.ok("gateway", "%s answers agents and people", where.URL)
	}
	switch {
	case err != nil:
	case status.Isolation == signed:
		d.ok("isolation", "signed: agents run as other users, and a passkey signs what is allowed")
	case status.Isolation == separated:
		d.ok("isolation", "separated: agents run as other users, and reach neither keys nor rules")
	default:
		d.ok("isolation", "advisory: agents run as your own user and could read your keys; docs/access.md tells how to separate them")
	}
	if err == nil {
		d.checkSigning(ctx, person)
	}
	if status.Notice != "" {
		d.warn("gateway", "see above, and the page", "it says: %s", status.Notice)
	}
}

// noGateway is bad only where nothing starts one.
func (d *doctor) noGateway(why string) {
	starts := false
	for _, s := range d.effective() {
		starts = starts || slices.ContainsFunc(s.Ours, func(o hostconfig.Found) bool { return o.Event == "PreToolUse" && o.Arg("--start") != "" })
	}
	switch {
	case starts:
		d.ok("gateway", "%s; the hook starts one when a call comes", why)
	case len(d.effective()) > 0:
		d.fail("gateway", "gatelatch serve, or once and for all: gatelatch service install", "%s, so every call is blocked", why)
	default:
		d.warn("gateway", "gatelatch serve, or once and for all: gatelatch service install", "%s", why)
	}
}

// checkDrift compares the settings with what was written into them.
func (d *doctor) checkDrift(ctx context.Context) {
	watch := &drift{dir: d.state, note: func(context.Context, gatelatch.EventKind, any) error { return nil }}
	if err := watch.check(ctx); err != nil {
		d.warn("drift", "make "+d.state.Hosts()+" readable", "%v", err)
		return
	}
	if p := watch.Problem(); p != "" {
		d.fail("drift", "gatelatch install claude", "%s", p)
		return
	}
	d.ok("drift", "the settings are as they were written")
}
