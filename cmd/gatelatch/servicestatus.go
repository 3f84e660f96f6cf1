package main

import (
	"errors"
	"fmt"

	"github.com/gatelatch/gatelatch/internal/userservice"
	"github.com/spf13/cobra"
)

type statusReport struct {
	File      string `json:"file"`
	Installed bool   `json:"installed"`
	userservice.Status
	Problem string `json:"problem,omitempty"`
}

func serviceStatusCmd(sys system) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell whether the service is installed and runs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := serviceStatus(cmd, sys)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, report)
			}
			sayStatus(cmd, report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func serviceStatus(cmd *cobra.Command, sys system) (statusReport, error) {
	m, err := sys.manager()
	if err != nil {
		return statusReport{}, err
	}
	r := statusReport{Status: userservice.Status{Enabled: "unknown", Active: "unknown"}}
	if r.File, err = m.File(); err != nil {
		return r, err
	}
	unit, err := readIfThere(r.File)
	if err != nil {
		return r, err
	}
	r.Installed = unit != nil
	status, err := m.Status(cmd.Context())
	if errors.Is(err, userservice.ErrUnavailable) {
		r.Problem = err.Error()
		return r, nil
	}
	if err == nil {
		r.Status = status
	}
	return r, err
}

func sayStatus(cmd *cobra.Command, r statusReport) {
	out := cmd.OutOrStdout()
	if !r.Installed {
		fmt.Fprintln(out, `The service is not installed; "gatelatch service install" does that.`)
		return
	}
	fmt.Fprintf(out, "%s: %s, %s\n", r.File, r.Enabled, r.Active)
	if r.Problem != "" {
		fmt.Fprintln(out, r.Problem)
	}
}
