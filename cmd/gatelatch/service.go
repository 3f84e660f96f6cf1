package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatelatch/gatelatch/internal/userservice"
	"github.com/spf13/cobra"
)

func newServiceCmd() *cobra.Command { return serviceCmd(thisSystem()) }

func serviceCmd(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Keep the gateway running as a service of yours",
		Args:  cobra.NoArgs,
		RunE:  helpOnly,
	}
	cmd.AddCommand(serviceInstallCmd(sys), serviceUninstallCmd(sys), serviceStatusCmd(sys))
	return cmd
}

func (s system) manager() (userservice.Manager, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return userservice.Manager{}, err
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	return userservice.Manager{GOOS: s.goos, Home: home, ConfigHome: config, UID: os.Getuid(), Run: s.run}, nil
}

type serviceOptions struct {
	gateway  userservice.Gateway
	print    bool
	noEnable bool
	json     bool
}

type serviceReport struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Enabled bool   `json:"enabled"`
	Next    string `json:"next,omitempty"`
}

func serviceInstallCmd(sys system) *cobra.Command {
	var opt serviceOptions
	var config string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Start the gateway now and at each login",
		Long: `Write a systemd user unit, or on macOS a launchd agent, and start it. The paths
of the state and the configuration are written into it, because a service does
not have the environment of your shell.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().BoolVar(&opt.print, "print", false, "print the unit and do nothing")
	cmd.Flags().BoolVar(&opt.noEnable, "no-enable", false, "write the unit and do not start it")
	cmd.Flags().BoolVar(&opt.json, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		opt.gateway.State = string(dir)
		if opt.gateway.Config, err = configDir(config); err != nil {
			return err
		}
		if opt.gateway.Program, err = sys.program(); err != nil {
			return err
		}
		return installService(cmd, sys, opt)
	}
	return cmd
}

func installService(cmd *cobra.Command, sys system, opt serviceOptions) error {
	m, err := sys.manager()
	if err != nil {
		return err
	}
	file, err := m.File()
	if err != nil {
		return err
	}
	unit, err := m.Unit(opt.gateway)
	if err != nil {
		return err
	}
	if opt.print {
		fmt.Fprint(cmd.OutOrStdout(), unit)
		return nil
	}
	changed, replaced, err := writeUnit(file, unit)
	if err != nil {
		return err
	}
	report := serviceReport{File: file, Changed: changed, Enabled: !opt.noEnable}
	if opt.noEnable {
		report.Next = m.Later()
	} else if err := m.Enable(cmd.Context(), replaced); err != nil {
		return withHint(fmt.Errorf("%s is in place but was not started: %w", file, err), "run later: "+m.Later())
	}
	if opt.json {
		return printJSON(cmd, report)
	}
	sayService(cmd, report)
	return nil
}

func sayService(cmd *cobra.Command, r serviceReport) {
	out := cmd.OutOrStdout()
	if r.Changed {
		fmt.Fprintf(out, "Wrote %s.\n", r.File)
	} else {
		fmt.Fprintf(out, "%s is as it should be.\n", r.File)
	}
	if r.Enabled {
		fmt.Fprintln(out, "The gateway runs, now and at each login.")
		return
	}
	fmt.Fprintln(out, "To start it: "+r.Next)
}

// writeUnit tells whether the file changed, and whether another of ours was
// there before. Somebody else's is left alone.
func writeUnit(file, unit string) (changed, replaced bool, err error) {
	old, err := readIfThere(file)
	switch {
	case err != nil:
		return false, false, err
	case string(old) == unit:
		return false, false, nil
	case old != nil && !strings.Contains(string(old), userservice.Marker):
		return false, false, withHint(fmt.Errorf("%s was not written by gatelatch", file), "move it away and try again")
	}
	return true, old != nil, replaceFile(file, []byte(unit), 0o600)
}

func serviceUninstallCmd(sys system) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service and remove it; the state stays",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := sys.manager()
			if err != nil {
				return err
			}
			return uninstallService(cmd, m, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func uninstallService(cmd *cobra.Command, m userservice.Manager, asJSON bool) error {
	file, err := m.File()
	if err != nil {
		return err
	}
	removed, err := removeService(cmd.Context(), m, file)
	if errors.Is(err, userservice.ErrUnavailable) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %v; a gateway that still runs goes on until it is stopped\n", err)
		err = nil
	}
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(cmd, map[string]any{"file": file, "changed": removed})
	case removed:
		fmt.Fprintf(cmd.OutOrStdout(), "Removed %s.\n", file)
	default:
		fmt.Fprintln(cmd.OutOrStdout(), "The service is not installed.")
	}
	return nil
}

func removeService(ctx context.Context, m userservice.Manager, file string) (removed bool, err error) {
	unit, err := readIfThere(file)
	if err != nil || unit == nil {
		return false, err
	}
	if !strings.Contains(string(unit), userservice.Marker) {
		return false, withHint(fmt.Errorf("%s was not written by gatelatch", file), "remove it yourself if you mean it")
	}
	unavailable := m.Disable(ctx)
	if unavailable != nil && !errors.Is(unavailable, userservice.ErrUnavailable) {
		return false, unavailable
	}
	if err := os.Remove(file); err != nil {
		return false, err
	}
	if unavailable != nil {
		return true, unavailable
	}
	return true, m.Forget(ctx)
}
