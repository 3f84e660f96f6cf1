package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/spf13/cobra"
)

// The scopes of Claude Code's settings, the strongest first.
const (
	scopeManaged = "managed"
	scopeLocal   = "local"
	scopeProject = "project"
	scopeUser    = "user"
)

var scopes = []string{scopeManaged, scopeLocal, scopeProject, scopeUser}

// claudePlace says which of Claude Code's settings files is meant.
type claudePlace struct {
	settings string
	scope    string
}

func (p *claudePlace) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.scope, "scope", scopeUser, `whose settings:
user     yours, $CLAUDE_CONFIG_DIR/settings.json or ~/.claude/settings.json
local    yours in this project, ./.claude/settings.local.json
project  everybody's in this project, ./.claude/settings.json
managed  everybody's on this machine; no other hooks run then
`)
	cmd.Flags().StringVar(&p.settings, "settings", "", "settings file, by its path")
	cmd.MarkFlagsMutuallyExclusive("settings", "scope")
}

func (p *claudePlace) managed() bool { return p.settings == "" && p.scope == scopeManaged }

func (p *claudePlace) path(sys system) (string, error) {
	if p.settings != "" {
		return p.settings, nil
	}
	if !slices.Contains(scopes, p.scope) {
		return "", withHint(fmt.Errorf("unknown scope %q", p.scope), "the scopes are: "+strings.Join(scopes, ", "))
	}
	return claudeFile(sys, p.scope, "")
}

// claudeFile is the settings file of a scope; project is a folder.
func claudeFile(sys system, scope, project string) (string, error) {
	switch scope {
	case scopeManaged:
		return sys.managed, nil
	case scopeLocal:
		return filepath.Join(project, ".claude", "settings.local.json"), nil
	case scopeProject:
		return filepath.Join(project, ".claude", "settings.json"), nil
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".claude", "settings.json"), err
}

// plan reads the file and works out its change; errors name the file.
func (p *claudePlace) plan(sys system, change func(settingsFile) (hostconfig.Change, error)) (settingsFile, hostconfig.Change, error) {
	path, err := p.path(sys)
	if err != nil {
		return settingsFile{}, hostconfig.Change{}, err
	}
	file, err := readSettings(path)
	if err != nil {
		return file, hostconfig.Change{}, err
	}
	if file.shared = p.managed(); file.shared && file.data == nil {
		file.mode = 0o644
	}
	c, err := change(file)
	if err != nil {
		return file, c, withHint(fmt.Errorf("%s: %w", file.path, err), "nothing was written; mend the file and try again")
	}
	return file, c, nil
}

// whose refuses to guess the state directory of managed settings: under sudo
// the default would be root's, which no agent can reach.
func (p *claudePlace) whose(cmd *cobra.Command) error {
	name := os.Getenv("SUDO_USER")
	if !p.managed() || name == "" || cmd.Flags().Changed("state") {
		return nil
	}
	dir := "DIR"
	if u, err := user.Lookup(name); err == nil {
		dir = filepath.Join(u.HomeDir, ".local", "state", "gatelatch")
	}
	return withHint(errors.New("whose gateway is to be asked?"), "name its state directory: --state "+dir)
}

// asRoot says how to write managed settings, if that is what went wrong.
func (p *claudePlace) asRoot(err error) error {
	if p.managed() && errors.Is(err, fs.ErrPermission) {
		return withHint(err, "managed settings are root's: run this with sudo, and with --state DIR for whose gateway is to be asked")
	}
	return err
}

// warnings tell what the choice of the file brings along.
func (p *claudePlace) warnings(hook hostconfig.Hook) (out []string) {
	switch {
	case p.settings == "" && p.scope == scopeProject:
		out = append(out, "whoever checks this file out has every call blocked, unless "+hook.Command+" is there too; --scope local is for you alone")
	case p.managed():
		if who := replaceableBy(hook.Command); who != "" {
			out = append(out, hook.Command+" "+who+", and an agent that replaces it is no longer gated; install gatelatch as root, into /usr/local/bin")
		}
	}
	return out
}
