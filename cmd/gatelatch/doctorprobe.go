package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/hostprobe"
)

// probedCase is one thing that the real agent was put through.
type probedCase = hostprobe.Result

// probe runs the real agent. Whatever keeps it from running is a failure: a
// probe that saw nothing must not look like one that saw nothing wrong.
func (d *doctor) probe(ctx context.Context) {
	opt, err := d.probeOptions()
	if err == nil {
		defer os.RemoveAll(opt.Dir)
		d.probed, err = hostprobe.Run(ctx, opt)
	}
	if err != nil {
		fix := hintOf(err)
		if fix == "" {
			fix = "mend that, and probe again"
		}
		d.fail("probe", fix, "nothing was probed: %v", err)
		return
	}
	defer func(failed int) { d.remember(d.count(isBad) == failed) }(d.count(isBad))
	for _, r := range d.probed {
		switch {
		case r.OK:
			d.ok("probe", "%s, %s: %s: %s", r.Channel, r.Case, r.Why, r.Got)
		case r.Case == "control":
			d.fail("probe", "run claude -p by hand and see what it says", "nothing was probed: the agent does nothing even without a gate: %s", r.Got)
		case r.Unknown:
			d.fail("probe", "gatelatch doctor --probe --channel "+r.Channel+" --only '"+r.Case+"', when the machine is less busy", "%s, %s: %s: %s", r.Channel, r.Case, r.Why, r.Got)
		default:
			d.fail("probe", "treat this gate as advice only, and report it with the version of Claude Code", "%s, %s: %s: %s, but should be: %s", r.Channel, r.Case, r.Why, r.Got, r.Want)
		}
	}
}

func (d *doctor) probeOptions() (opt hostprobe.Options, err error) {
	if d.sys.goos == "windows" {
		return opt, errors.New("the probe needs a Unix")
	}
	if opt.Claude, err = exec.LookPath("claude"); err != nil {
		return opt, withHint(err, "put claude on PATH")
	}
	if opt.Claude, err = filepath.Abs(opt.Claude); err != nil {
		return opt, err
	}
	if opt.Gatelatch, err = d.sys.program(); err != nil {
		return opt, err
	}
	hook, err := d.probedHook(opt.Gatelatch)
	if err != nil {
		return opt, err
	}
	opt.Only = d.only
	if slices.ContainsFunc(d.settings, settingsOf.managed) {
		opt.Managed = filepath.Dir(d.sys.managed)
	}
	for _, name := range d.channels {
		switch name {
		case "hooks":
			opt.Channels = append(opt.Channels, hostprobe.Hooks(hook))
		case "run":
			opt.Channels = append(opt.Channels, hostprobe.Hosted())
		case "http":
			opt.Channels = append(opt.Channels, hostprobe.HTTPHooks())
		case "mcp":
			opt.Channels = append(opt.Channels, hostprobe.PromptTool(opt.Gatelatch))
		default:
			return opt, withHint(fmt.Errorf("there is no channel %q", name), "the channels are: "+strings.Join(allChannels, ", "))
		}
	}
	opt.Dir, err = os.MkdirTemp("", "glp-")
	return opt, err
}

// probedHook is the hook that is installed, or else the one that would be.
func (d *doctor) probedHook(program string) (hostconfig.Hook, error) {
	for _, s := range d.effective() {
		if i := slices.IndexFunc(s.Ours, func(o hostconfig.Found) bool { return o.Event == "PreToolUse" }); i >= 0 {
			return hostconfig.Hook{Command: s.Ours[i].Command, Args: s.Ours[i].Args}, nil
		}
	}
	path, err := installOptions{}.hookPath(d.sys, program)
	return hostconfig.Hook{Command: path}, err
}

// probedWith is what the last whole probe was about. Agents change almost daily,
// and what held with one release need not hold with the next.
type probedWith struct {
	Claude    string `json:"claude"`
	Gatelatch string `json:"gatelatch"`
	OK        bool   `json:"ok"`
}

func (d *doctor) probeFile() string { return filepath.Join(d.state.Hosts(), "probe.json") }

func (d *doctor) remember(ok bool) {
	if len(d.only) > 0 || len(d.channels) < len(allChannels) || d.state.Check() != nil {
		return
	}
	raw, err := json.Marshal(probedWith{d.claude, version, ok})
	if err == nil {
		err = replaceFile(d.probeFile(), append(raw, '\n'), 0o600)
	}
	if err != nil {
		d.warn("probe", "make "+d.state.Hosts()+" writable", "its result was not kept: %v", err)
	}
}

// checkProbed tells whether a probe was made with what is installed now.
func (d *doctor) checkProbed() {
	const fix = "gatelatch doctor --probe"
	var last probedWith
	raw, err := readIfThere(d.probeFile())
	switch {
	case err != nil || raw != nil && json.Unmarshal(raw, &last) != nil:
		d.warn("probe", fix, "what the last one found can't be read")
	case raw == nil:
		d.ok("probe", "none was made yet; %s tells what Claude Code really does", fix)
	case last.Claude != d.claude || last.Gatelatch != version:
		d.warn("probe", fix, "the last one was with Claude Code %s and gatelatch %s", last.Claude, last.Gatelatch)
	case !last.OK:
		d.fail("probe", fix, "the last one saw a call run unasked, or saw nothing")
	default:
		d.ok("probe", "the last one, with these versions, found nothing wrong")
	}
}
