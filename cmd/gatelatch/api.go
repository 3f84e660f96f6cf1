package main

import (
	"github.com/gatelatch/gatelatch/api/openapi"
	"github.com/spf13/cobra"
)

func newAPICmd() *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Print the description of the HTTP API (OpenAPI 3.1)",
		Long: `Print the OpenAPI 3.1 description of the HTTP API that this version speaks. A
gateway that runs serves the same at /v1/openapi.json.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(openapi.JSON)
			return err
		},
	}
}
