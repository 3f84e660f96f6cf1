package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gatelatch/gatelatch/toolset"
	"github.com/spf13/cobra"
)

func newToolsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Explain which tools agents may see",
		Args:  cobra.NoArgs,
		RunE:  helpOnly,
	}
	cmd.AddCommand(newExplainToolCmd())
	return cmd
}

func newExplainToolCmd() *cobra.Command {
	var c toolset.Context
	var tool toolset.Tool
	var config string
	var others []string
	cmd := &cobra.Command{
		Use:   "explain TOOL",
		Short: "Say which step removes a tool, and why",
		Long: `Say what each step of the section "tools" in config.yaml does with a tool. No
gateway has to run; one that does was told the same when it started.`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	f.StringVar(&c.Agent, "agent", "", "id of the agent")
	f.StringVar(&c.Provider, "provider", "", "provider of its model")
	f.StringVar(&c.Model, "model", "", "its model")
	f.StringVar(&c.Profile, "profile", "", "profile that the agent asks for")
	f.StringVar(&c.Group, "group", "", "chat group that it serves")
	f.BoolVar(&c.Sandbox, "sandbox", false, "it runs in a sandbox")
	f.BoolVar(&c.Subagent, "subagent", false, "another agent started it")
	f.BoolVar(&c.Owner, "owner", false, "the sender is the owner")
	f.StringVar(&tool.Plugin, "plugin", "", "the tool comes from this plug-in")
	f.BoolVar(&tool.OwnerOnly, "owner-only", false, "the tool calls itself owner-only")
	f.StringSliceVar(&others, "beside", nil, "other tools that are loaded")
	asJSON := f.Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if config, err = configDir(config); err != nil {
			return err
		}
		cfg, err := loadConfig(config)
		if err != nil {
			return err
		}
		tool.Name = args[0]
		all := []toolset.Tool{tool}
		for _, name := range others {
			all = append(all, toolset.Tool{Name: name})
		}
		_, trace, err := toolset.Select(all, c, &cfg.Tools)
		if err != nil {
			return err
		}
		if *asJSON {
			_, _, removed := trace.Why(tool.Name)
			return printJSON(cmd, map[string]any{"tool": tool.Name, "usable": !removed, "steps": trace})
		}
		printTrace(cmd.OutOrStdout(), tool.Name, trace)
		return nil
	}
	return cmd
}

// printTrace tells what each step did, up to the one that removed the tool.
func printTrace(out io.Writer, tool string, trace toolset.Trace) {
	last, why, removed := trace.Why(tool)
	if removed {
		fmt.Fprintf(out, "%s may not be used: %s (%s)\n\n", tool, why, last)
	} else {
		fmt.Fprintf(out, "%s may be used.\n\n", tool)
	}
	line := func(said, label, rest string) {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-8s %-30s %s", said, label, rest), " "))
	}
	for _, s := range trace {
		said := "passes"
		if removed && s.Label == last {
			said = "removed"
		}
		line(said, s.Label, s.Rule)
		for _, warning := range s.Warnings {
			line("warning", s.Label, warning)
		}
		if said == "removed" {
			break
		}
	}
}
