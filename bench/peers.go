package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peer is a public PreToolUse hook, pinned by version and sum. What it installs
// runs no scripts, and in a home of its own.
type peer struct {
	name, version, sum string
	main               string // its program, inside the package
	args               []string
	stops              string // a command that it denies, if it judges commands
}

var publicPeers = []peer{
	{
		name: "cc-safety-net", version: "2.4.5", main: "dist/bin/cc-safety-net.js", args: []string{"hook", "--claude-code"}, stops: "git reset --hard",
		sum: "sha512-NxVJYOyXsqI6+xX18nk5AiHilhgIR3thwBgDzXeEHuxKPrUhutD40tOGX3kgYDyqBwHPASyn7UOm05pAzhTsPw==",
	},
	{
		name: "tdd-guard", version: "1.7.0", main: "dist/cli/tdd-guard.js",
		sum: "sha512-XA//WKhrLkhSCkZwb4D9tDLa0F32A/XnFp9To4jxXPciEZvRxCyvJExHZZL7C/oiamWdm0UQxbQNilo/kXOImw==",
	},
}

// peers times our hook, which asks a gateway that commits and audits, beside
// those of others, which look at the command and forget it. They are there for
// scale: each does another job. One that can't be had is said and left out.
func peers(r *rig) error {
	bins, err := build(r.dir, "cmd/gatelatch", "cmd/gatelatch-hook")
	if err != nil {
		return err
	}
	g, err := newGateway(r.dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer g.stop()
	runs := []func(int) error{func(i int) error { return oneHook("gatelatch-hook", bins["gatelatch-hook"], g.state, r.dir, i) }}
	names := []string{"gatelatch-hook, a call that policy allows"}
	for _, p := range publicPeers {
		run, err := p.install(filepath.Join(r.dir, p.name))
		if err != nil {
			fmt.Printf("%s %s: peer not installable: %v\n", p.name, p.version, err)
			continue
		}
		names = append(names, p.name+" "+p.version+", the same call")
		runs = append(runs, run)
	}
	times, err := sideBySide(min(r.n, 50), runs...)
	if err != nil {
		return err
	}
	for i, s := range times {
		s.print(names[i])
		if i > 0 {
			r.most("gatelatch-hook by "+names[i]+", p50", ms(times[0].p50())/ms(s.p50()), 1, "×")
		}
	}
	return nil
}

// install fetches the peer from npm and makes sure that it works.
func (p peer) install(dir string) (func(int) error, error) {
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	cmd := exec.Command("npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", dir, p.name+"@"+p.version)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm: %w %s", err, bytes.TrimSpace(out))
	}
	var lock struct {
		Packages map[string]struct{ Integrity string }
	}
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err == nil {
		err = json.Unmarshal(raw, &lock)
	}
	if err != nil {
		return nil, err
	}
	if got := lock.Packages["node_modules/"+p.name].Integrity; got != p.sum {
		return nil, fmt.Errorf("it is not what was pinned: %q", got)
	}
	ask := func(command string) ([]byte, error) {
		cmd := exec.Command("node", append([]string{filepath.Join(dir, "node_modules", p.name, p.main)}, p.args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_PROJECT_DIR=" + home}
		cmd.Dir = home
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"bench","transcript_path":%q,"cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"t"}`,
			filepath.Join(home, "none.jsonl"), home, command))
		return cmd.Output()
	}
	if p.stops != "" {
		if out, err := ask(p.stops); err != nil || !bytes.Contains(out, []byte(`"deny"`)) {
			return nil, fmt.Errorf("it does not stop %q: %s %w", p.stops, out, err)
		}
	}
	return func(int) error {
		out, err := ask("pwd")
		if err == nil && bytes.Contains(out, []byte(`"deny"`)) {
			err = fmt.Errorf("%s denied pwd: %s", p.name, out)
		}
		return err
	}, nil
}
