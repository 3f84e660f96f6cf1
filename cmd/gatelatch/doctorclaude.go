package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
)

func (d *doctor) checkProgram() {
	program, err := d.sys.program()
	if err != nil {
		d.fail("program", "install gatelatch anew", "%v", err)
		return
	}
	found, err := exec.LookPath("gatelatch")
	if err == nil {
		found, err = filepath.EvalSymlinks(found)
	}
	switch {
	case err != nil:
		d.warn("program", "add "+filepath.Dir(program)+" to PATH", "gatelatch %s is not on PATH", version)
	case found != program:
		d.warn("program", "put "+filepath.Dir(program)+" first on PATH, or remove the other", "this is %s, but PATH has %s", program, found)
	default:
		d.ok("program", "gatelatch %s at %s", version, program)
	}
}

func (d *doctor) checkVersion(ctx context.Context) {
	out, err := d.sys.run(ctx, "claude", "--version")
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		d.warn("claude", "put claude on PATH, "+dotted(minClaude)+" or newer", "claude is not on PATH, so its version is not known")
		return
	}
	if err := judgeClaude(out, err); err != nil {
		d.fail("claude", "update Claude Code: claude update", "%v", err)
		return
	}
	d.claude = strings.TrimSpace(out)
	d.ok("claude", "Claude Code %s, and a hook that fails blocks since %s", d.claude, dotted(minClaude))
}

// settingsOf is one settings file that Claude Code reads here.
type settingsOf struct {
	scope, path string
	hostconfig.Facts
}

func (s settingsOf) managed() bool { return s.scope == scopeManaged }

func (s settingsOf) fix() string {
	if s.managed() {
		return "sudo gatelatch install claude --scope managed --state DIR"
	}
	return "gatelatch install claude --scope " + s.scope
}

// checkSettings reads the files of every scope.
func (d *doctor) checkSettings() {
	for _, scope := range scopes {
		path, err := claudeFile(d.sys, scope, d.project)
		if err != nil {
			d.fail("settings", "set HOME", "%v", err)
			continue
		}
		paths := []string{path}
		if scope == scopeManaged {
			// The pattern is ours, so that it can't be bad.
			more, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "managed-settings.d", "*.json"))
			paths = append(paths, more...)
		}
		for _, p := range paths {
			d.readSettings(scope, p)
		}
	}
	// In a home directory that is a project, too, both are one file.
	d.settings = slices.CompactFunc(d.settings, func(a, b settingsOf) bool { return a.path == b.path })
}

func (d *doctor) readSettings(scope, path string) {
	data, err := readIfThere(path)
	if err != nil {
		d.fail("settings", "make it readable", "%v", err)
		return
	}
	if data == nil {
		return
	}
	facts, err := hostconfig.ClaudeFacts(data)
	if err != nil {
		d.fail("settings", "mend "+path, "%s: %v: Claude Code skips the whole file", path, err)
		return
	}
	for _, p := range facts.Problems {
		d.fail("settings", "mend "+path, "%s: %s: Claude Code skips the whole file", path, p)
	}
	d.settings = append(d.settings, settingsOf{scope, path, facts})
}

// checkHooks tells whether a call can get by, as the settings stand.
func (d *doctor) checkHooks(ctx context.Context) {
	gates := d.effective()
	if len(gates) == 0 {
		d.noGate()
	}
	for _, s := range gates {
		d.checkGate(s)
	}
	if len(gates) > 1 {
		d.warn("hooks", "gatelatch uninstall claude --scope "+gates[len(gates)-1].scope, "%s and %s both have the hooks: each call is asked about twice", gates[0].path, gates[1].path)
	}
	d.checkPrograms(ctx, gates)
	for _, s := range d.settings {
		d.checkAround(s, len(gates) > 0)
	}
}

// effective are the files whose hooks Claude Code runs, and that hold calls back.
func (d *doctor) effective() (out []settingsOf) {
	only, disabled := false, false
	for _, s := range d.settings {
		only = only || s.managed() && s.Only
		disabled = disabled || s.Disabled
	}
	for _, s := range d.settings {
		if s.Has("PreToolUse") && (s.managed() && !s.Disabled || !s.managed() && !only && !disabled) {
			out = append(out, s)
		}
	}
	return out
}

// noGate says why nothing is asked: the most likely reason first.
func (d *doctor) noGate() {
	for _, s := range d.settings {
		switch {
		case s.Disabled:
			d.fail("hooks", `remove "disableAllHooks" from `+s.path, `%s: "disableAllHooks" is set, so that Claude Code runs no hook of ours`, s.path)
			return
		case s.managed() && s.Only:
			d.fail("hooks", s.fix(), `%s: "allowManagedHooksOnly" shuts our hooks out: they are not among the managed ones`, s.path)
			return
		}
	}
	d.fail("hooks", "gatelatch install claude", "no settings that Claude Code reads here ask the gateway before a call")
}

func (d *doctor) checkGate(s settingsOf) {
	good := true
	for _, o := range s.Ours {
		if len(o.Gaps) == 0 {
			continue
		}
		good = false
		text := fmt.Sprintf("%s: %s: %s", s.path, o.Event, strings.Join(o.Gaps, "; "))
		if o.Event == "PreToolUse" {
			d.fail("hooks", s.fix(), "%s", text)
		} else {
			d.warn("hooks", s.fix(), "%s", text)
		}
	}
	if missing := s.Missing(); len(missing) > 0 {
		good = false
		d.warn("hooks", s.fix(), "%s: has no hook for %s", s.path, strings.Join(missing, ", "))
	}
	switch {
	case !good:
	case s.managed() && s.Only:
		d.ok("hooks", "%s: every call is asked about, in every mode", s.path)
	default:
		d.ok("hooks", "%s: every call is asked about, unless claude is started with --bare or --safe-mode (--scope managed holds there, too)", s.path)
	}
}

// checkAround looks for what stands beside our hooks.
func (d *doctor) checkAround(s settingsOf, gated bool) {
	if len(s.Others) > 0 {
		d.warn("hooks", "look whether they return updatedInput", "%s: others have hooks on %s, too, which can replace the input that was decided on", s.path, strings.Join(s.Others, " and "))
	}
	if s.Mode == "bypassPermissions" || s.Mode == "auto" || s.Mode == "acceptEdits" {
		text := "only the hook holds calls back"
		if !gated {
			text = "nothing holds calls back"
		}
		d.warn("modes", `remove "permissions.defaultMode" from `+s.path, "%s: sessions start in the mode %s, in which Claude Code asks less itself: %s", s.path, s.Mode, text)
	}
	if s.Ask+s.Deny > 0 {
		d.ok("rules", "%s: %d rules of Claude Code ask and %d deny, also what was allowed here", s.path, s.Ask, s.Deny)
	}
	if s.Disabled && gated {
		d.warn("hooks", `remove "disableAllHooks" from `+s.path, `%s: "disableAllHooks" is set; the managed hooks still run`, s.path)
	}
}

// checkPrograms looks at what the hooks run.
func (d *doctor) checkPrograms(ctx context.Context, gates []settingsOf) {
	seen := map[string]bool{}
	for _, s := range gates {
		for _, o := range s.Ours {
			key := strings.Join([]string{s.path, o.Command, o.Arg("--state"), o.Arg("--start")}, "\x00")
			if seen[key] {
				continue
			}
			seen[key] = true
			d.checkHookProgram(ctx, s, o)
		}
	}
}

func (d *doctor) checkHookProgram(ctx context.Context, s settingsOf, o hostconfig.Found) {
	if state := o.Arg("--state"); state != string(d.state) {
		d.warn("hook", "gatelatch doctor --state "+state, "%s: the hook asks the gateway of %s, which is not looked at here", s.path, state)
	}
	for _, program := range []string{o.Command, o.Arg("--start")} {
		if program == "" {
			continue
		}
		if err := isProgram(d.sys, program); err != nil {
			d.fail("hook", s.fix(), "%v; every call is blocked", err)
			return
		}
		if who := replaceableBy(program); s.managed() && who != "" {
			d.warn("hook", "install gatelatch as root, into /usr/local/bin, then "+s.fix(), "%s %s", program, who)
		}
	}
	out, err := d.sys.run(ctx, o.Command, "--version")
	switch said := strings.TrimSpace(out); {
	case err != nil:
		d.fail("hook", s.fix(), "%s does not run: %v", o.Command, err)
	case !strings.HasSuffix(said, " version "+version):
		d.warn("hook", "install both programs together, then "+s.fix(), "%s says %.80q, and this is %s", o.Command, said, version)
	default:
		d.ok("hook", "%s runs, and is of this version", o.Command)
	}
}

// isProgram refuses what the host could not run.
func isProgram(sys system, path string) error {
	info, err := os.Stat(path)
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("%s is not an absolute path", path)
	case err != nil:
		return err
	case !info.Mode().IsRegular() || sys.goos != "windows" && info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not a program", path)
	}
	return nil
}
