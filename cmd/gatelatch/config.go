package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/hook"
	"github.com/gatelatch/gatelatch/notify"
	"github.com/gatelatch/gatelatch/toolset"
	"go.yaml.in/yaml/v3"
)

const defaultListen = "127.0.0.1:7474"

// config is config.yaml. Flags win over it, it wins over the defaults.
type config struct {
	Listen string `yaml:"listen"`
	// TLSCert and TLSKey let it listen on other addresses than loopback.
	TLSCert string `yaml:"tls_cert"`
	TLSKey  string `yaml:"tls_key"`

	Store string `yaml:"store"`
	// PublicURL is where other devices find the page; see docs/page.md.
	PublicURL string `yaml:"public_url"`
	// MetricsListen is where numbers are read without a key; see docs/operations.md.
	MetricsListen string       `yaml:"metrics_listen"`
	Hooks         []hookConfig `yaml:"hooks"`
	// AgentUsers may ask at the agents' socket, beside our own user; AgentSocket
	// is where they find it. See docs/access.md.
	AgentUsers  []string `yaml:"agent_users"`
	AgentSocket string   `yaml:"agent_socket"`
	// Signing says what needs a person's passkey; see docs/access.md.
	Signing string `yaml:"signing" enum:"off,risky,all"`
	// Tools says which tools agents may see; see docs/tools.md.
	Tools toolset.Policy `yaml:"tools"`
	// Checkpoints is a file on a second place; see docs/audit.md.
	Checkpoints         string `yaml:"checkpoints"`
	CheckpointsRequired bool   `yaml:"checkpoints_required"`
	// Notify says who is told of calls that wait; see docs/notify.md.
	Notify notify.Config `yaml:"notify"`
	// Quota is how much agents may ask; see docs/secrets.md.
	Quota quotaConfig `yaml:"quota"`
	// Limits is how large things may be; see docs/operations.md.
	Limits limitsConfig `yaml:"limits"`
}

type hookConfig struct {
	Path    string        `yaml:"path"`
	Timeout time.Duration `yaml:"timeout"`
	On      string        `yaml:"on" enum:"before,after"` // before is the default
}

// loadConfig reads config.yaml. Without one the defaults hold; one that can't
// be read stops the gateway, because a hook that is not run would let calls by.
func loadConfig(dir string) (config, error) {
	var c config
	path := filepath.Join(dir, "config.yaml")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := onlyOursToWrite(path); err != nil {
		return c, err
	}
	if bad := misfits(raw); len(bad) > 0 {
		return c, withHint(fmt.Errorf("%s: line %d: %s %s", path, bad[0].Line, bad[0].Path, bad[0].What), bad[0].Hint)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) { // an empty file says nothing
		return c, fmt.Errorf("%s: %w", path, err)
	}
	for i, h := range c.Hooks {
		line := keyLine(raw, "hooks", strconv.Itoa(i))
		if !filepath.IsAbs(h.Path) {
			return c, fmt.Errorf("%s: line %d: hook %q needs an absolute path", path, line, h.Path)
		}
		if _, err := os.Stat(h.Path); err != nil {
			return c, fmt.Errorf("%s: line %d: hook: %w", path, line, err)
		}
	}
	if err := c.Limits.check(); err != nil {
		return c, fmt.Errorf("%s: line %d: %w", path, keyLine(raw, "limits", "input_mib"), err)
	}
	if err := c.Notify.Check(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	if err := checkToolsConfig(raw, &c.Tools); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// checkpoints puts what the configuration says about them into opt.
func (c config) checkpoints(opt *gatewayOptions) error {
	if opt.checkpoints == "" {
		opt.checkpoints = c.Checkpoints
	}
	opt.checkpointsRequired = opt.checkpointsRequired || c.CheckpointsRequired
	switch {
	case opt.checkpoints == "" && opt.checkpointsRequired:
		return withHint(errors.New("checkpoints are required, but have no file"), "name one with --checkpoints, on a second place")
	case opt.checkpoints != "" && !filepath.IsAbs(opt.checkpoints):
		return fmt.Errorf("checkpoints: %q needs an absolute path", opt.checkpoints)
	}
	return nil
}

// onlyOursToWrite refuses a file that others can change or replace: it names
// programs.
func onlyOursToWrite(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		switch mode := info.Mode(); {
		case runtime.GOOS == "windows":
		case mode.Perm()&0o022 != 0 && (p == path || mode&os.ModeSticky == 0):
			return withHint(fmt.Errorf("%s can be written by others", p), "chmod go-w "+p)
		case ofSomebodyElse(info):
			return withHint(fmt.Errorf("%s belongs to somebody else", p), "have your own configuration, or take it over with chown")
		}
	}
	return nil
}

func (c config) hooks() (out []gatelatch.Hook) {
	for _, h := range c.Hooks {
		if h.On != "after" {
			out = append(out, hook.Script{Path: h.Path, Timeout: h.Timeout})
		}
	}
	return out
}

func (c config) afterHooks() (out []gatelatch.AfterHook) {
	for _, h := range c.Hooks {
		if h.On == "after" {
			out = append(out, hook.Script{Path: h.Path, Timeout: h.Timeout})
		}
	}
	return out
}
