package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/spf13/cobra"
)

func newPolicyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, explain, test and improve the rules",
		Long: `Work with the rules of policy.yaml. Nothing here needs a running gateway, except
to read what happened and to put rules in force.

  gatelatch policy check                      what is wrong or risky in the rules
  gatelatch policy explain -- Bash 'git push' what the rules say, and why
  gatelatch policy test rules_test.yaml       a table of calls with expected verdicts
  gatelatch policy suggest                    rules that would have saved questions
  gatelatch policy backtest new.yaml          what other rules would have done
  gatelatch policy apply new.yaml             put them in force`,
		Args: cobra.NoArgs,
		RunE: helpOnly,
	}
	cmd.AddCommand(newPolicyCheckCmd(), newPolicyExplainCmd(), newPolicyTestCmd(), newPolicyDiffCmd(),
		newPolicyHistoryCmd(), newPolicyBacktestCmd(), newPolicySuggestCmd(thisSystem()), newPolicyImportCmd(), newPolicySchemaCmd(),
		newPolicyShowCmd(), newPolicyApplyCmd(thisSystem()))
	return cmd
}

func newPolicySchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy.yaml, for editors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(policy.Schema)
			return err
		},
	}
}

// rulesFlags say which rules a command is about.
type rulesFlags struct {
	config string
	file   string
	state  func() (statedir.Dir, error)
}

func (f *rulesFlags) addConfig(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
}

func (f *rulesFlags) add(cmd *cobra.Command) {
	f.addConfig(cmd)
	cmd.Flags().StringVar(&f.file, "policy", "", "judge by this file instead of the rules in force")
	f.state = stateFlag(cmd)
}

func (f *rulesFlags) configDir() (string, error) {
	if f.config == "" {
		return defaultConfigDir()
	}
	return filepath.Abs(f.config)
}

// path is where the rules of the user are, whether or not they exist.
func (f *rulesFlags) path() (string, error) {
	dir, err := f.configDir()
	return filepath.Join(dir, "policy.yaml"), err
}

// load returns the rules as the gateway would have them, or those of the file
// that was named, alone.
func (f *rulesFlags) load() (*policy.File, error) {
	paths := policy.Paths{User: f.file}
	if f.file == "" {
		path, err := f.path()
		if err != nil {
			return nil, err
		}
		paths = policy.Paths{Machine: policy.MachineFile, User: path}
	} else if _, err := os.Stat(f.file); err != nil {
		return nil, err // no file would mean the built-in rules
	}
	rules, err := soundRules(paths)
	if err != nil {
		return nil, err
	}
	dir, err := f.configDir()
	if err != nil {
		return nil, err
	}
	state, err := f.state()
	if err != nil {
		return nil, err
	}
	rules.Protect(dir, string(state))
	return rules, nil
}

// soundRules refuses what the gateway would only complain about.
func soundRules(paths policy.Paths) (*policy.File, error) {
	rules := policy.OpenPaths(paths)
	if problem := rules.Problem(); problem != "" {
		return nil, withHint(errors.New(problem), `"gatelatch policy check" tells more`)
	}
	return rules, nil
}
