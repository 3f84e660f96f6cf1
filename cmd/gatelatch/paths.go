package main

import (
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

// defaultConfigDir is $XDG_CONFIG_HOME/gatelatch, or ~/.config/gatelatch.
func defaultConfigDir() (string, error) {
	if s := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(s) {
		return filepath.Join(s, "gatelatch"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".config", "gatelatch"), nil
}

// stateFlag adds --state to a command and returns how to read it.
func stateFlag(cmd *cobra.Command) func() (statedir.Dir, error) {
	dir := cmd.Flags().String("state", "", "state directory (default $XDG_STATE_HOME/gatelatch)")
	return func() (statedir.Dir, error) {
		if *dir == "" {
			return statedir.Default()
		}
		abs, err := filepath.Abs(*dir)
		return statedir.Dir(abs), err
	}
}

// stateArg is the flag that a hint needs so that it works as it stands.
func stateArg(dir statedir.Dir) string {
	if d, err := statedir.Default(); err == nil && d == dir {
		return ""
	}
	return " --state " + string(dir)
}
