package main

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/mcp"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/id"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/spf13/cobra"
)

// mcpGrace is how long a gateway that was never met may take to appear. After
// that the agent hears why nothing is allowed, and may ask again.
const mcpGrace = 2 * time.Second

func newMCPCmd() *cobra.Command {
	var session, project, listen string
	var show bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Be the permission prompt tool of a headless agent (MCP)",
		Long: `Serve MCP on stdin and stdout with one tool, approve, that asks the gateway and
waits. It outlives restarts of the gateway. Whatever goes wrong, it denies.

  claude -p --mcp-config "$(gatelatch mcp --print)" \
    --permission-prompt-tool mcp__gatelatch__approve -- "tidy up"

With --http it serves streamable HTTP at /mcp on a loopback address, for clients
that send the agent key as a bearer token; ?session=ID&project=DIR in the address
says which session asks. The gateway serves the same on the address of its page.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&session, "session", "", "id of the agent's session (default $CLAUDE_CODE_SESSION_ID, or one of its own)")
	cmd.Flags().StringVar(&project, "project", "", "project folder (default $CLAUDE_PROJECT_DIR, or the working directory)")
	cmd.Flags().StringVar(&listen, "http", "", "serve HTTP on this loopback address instead, such as 127.0.0.1:0")
	cmd.Flags().BoolVar(&show, "print", false, "print the configuration that makes an agent start this, and end")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		if show {
			return printMCPConfig(cmd, dir, session, project)
		}
		info, err := mcpSession(session, project)
		if err != nil {
			return err
		}
		explain := func(err error) string { return explainDenial(dir, err) }
		who := mcpCaller(dir, info, mcpGrace)
		if listen == "" {
			return mcp.Stdio(cmd.Context(), os.Stdin, os.Stdout, version, who, explain)
		}
		return serveMCPHTTP(cmd.Context(), listen, dir, mcp.NewHTTP(version, explain), func(r *http.Request) (mcp.Caller, error) {
			c, err := who()
			named := guestSession(r, info.Name)
			c.Session.ID, c.Session.Project = named.ID, cmp.Or(named.Project, info.Project)
			return c, err
		})
	}
	return cmd
}

// mcpCaller asks the gateway of a state directory, through its restarts. Each
// question is patient by itself.
func mcpCaller(dir statedir.Dir, info gatelatch.SessionInfo, grace time.Duration) func() (mcp.Caller, error) {
	return func() (mcp.Caller, error) {
		c, err := client.ForAgents(dir)
		return mcp.Caller{Service: &client.Patient{Client: c, Grace: grace}, Session: info}, err
	}
}

// mcpSession describes the session. The prompt tool is not told where a call
// runs, so no folder is claimed for it.
func mcpSession(session, project string) (info gatelatch.SessionInfo, err error) {
	// The absolute path of nothing is the working directory.
	project, err = filepath.Abs(cmp.Or(project, os.Getenv("CLAUDE_PROJECT_DIR")))
	host, _ := os.Hostname() // only shown
	return gatelatch.SessionInfo{
		ID: cmp.Or(session, os.Getenv("CLAUDE_CODE_SESSION_ID"), id.New("mcp")), Name: "Claude Code", Project: project, Host: host,
	}, err
}

// printMCPConfig prints what --mcp-config takes. No limit of the client's cuts
// a person short.
func printMCPConfig(cmd *cobra.Command, dir statedir.Dir, session, project string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"mcp", "--state", string(dir)}
	for _, f := range [][2]string{{"--session", session}, {"--project", project}} {
		if f[1] != "" {
			args = append(args, f[0], f[1])
		}
	}
	const aMonth = 30 * 24 * time.Hour
	raw, err := strictjson.Marshal(map[string]any{"mcpServers": map[string]any{"gatelatch": map[string]any{
		"type": "stdio", "command": self, "args": args, "timeout": aMonth.Milliseconds(),
	}}})
	if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), string(raw))
	}
	return err
}

// explainDenial is what an agent hears when there is no decision.
func explainDenial(dir statedir.Dir, err error) string {
	if client.Again(err) {
		return fmt.Sprintf("Gatelatch is not reachable, so nothing is allowed. Start it with \"gatelatch serve%s\". (%v)", stateArg(dir), err)
	}
	return "Gatelatch could not decide this, so it is denied: " + err.Error()
}
