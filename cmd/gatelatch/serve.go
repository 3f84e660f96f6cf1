package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/internal/ballast"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/spf13/cobra"
)

func newServeCmd() *cobra.Command {
	var opt gatewayOptions
	var level slog.Level
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway and its page",
		Long: `Run the gateway on this machine's loopback address until it is stopped.
Everything it knows lies in the state directory: stop it, kill it, start it
again, and what waited still waits.

Rules are read from policy.yaml in the configuration directory, and again
whenever it changes. Without one, built-in rules allow reading inside the
project and ask about the rest.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&opt.config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().StringVar(&opt.listen, "listen", "", "address for the page, on loopback unless there is TLS (default "+defaultListen+")")
	cmd.Flags().StringVar(&opt.tlsCert, "tls-cert", "", "certificate, PEM; it is read again when it changes. The gateway answers to the names in it")
	cmd.Flags().StringVar(&opt.tlsKey, "tls-key", "", "key of the certificate, PEM")
	cmd.Flags().StringVar(&opt.store, "store", "", "postgres:// URL of a database that gateways share (default a file in the state directory);\nkeep a password out of it: in ~/.pgpass, or the whole URL in config.yaml")
	cmd.Flags().StringVar(&opt.public, "public-url", "", "https:// address where a tunnel or proxy of yours hands other devices on to the page")
	cmd.Flags().StringVar(&opt.checkpoints, "checkpoints", "", "file on a second place that gets signed checkpoints of the audit trail")
	cmd.Flags().BoolVar(&opt.checkpointsRequired, "checkpoints-required", false, "stop when a checkpoint can't be written")
	cmd.Flags().StringVar(&opt.metrics, "metrics-listen", "", "loopback address for /metrics, /readyz and /healthz without a key (default none)")
	cmd.Flags().TextVar(&level, "log-level", slog.LevelInfo, "what to log: `debug`, info, warn or error")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print where it listens as JSON, and log as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		restrictFiles()
		if opt.state, err = state(); err != nil {
			return err
		}
		if opt.config, err = configDir(opt.config); err != nil {
			return err
		}
		for _, path := range []*string{&opt.checkpoints, &opt.tlsCert, &opt.tlsKey} {
			if *path == "" {
				continue
			}
			if *path, err = filepath.Abs(*path); err != nil {
				return err
			}
		}
		opt.log = newLog(level, asJSON)
		slog.SetDefault(opt.log)
		defer ballast.Load()()
		g, err := startGateway(opt)
		if err != nil {
			return err
		}
		if asJSON {
			where := map[string]any{"url": g.url, "state": string(opt.state), "pid": os.Getpid()}
			if g.probes != "" {
				where["metrics"] = "http://" + g.probes + "/metrics"
			}
			err = printJSON(cmd, where)
		} else {
			fmt.Fprintf(os.Stderr, "gatelatch: serving %s, state in %s\ngatelatch: log in with \"gatelatch open%s\"\n", g.page, opt.state, stateArg(opt.state))
			g.saySilent(os.Stderr)
			g.sayUnsigned(cmd.Context(), os.Stderr)
		}
		if err != nil {
			return err
		}
		return g.wait(cmd.Context())
	}
	return cmd
}

func configDir(dir string) (string, error) {
	if dir == "" {
		return defaultConfigDir()
	}
	return filepath.Abs(dir)
}

func newLog(level slog.Level, asJSON bool) *slog.Logger { return logTo(os.Stderr, level, asJSON) }

// logTo masks secrets before anything is written.
func logTo(w io.Writer, level slog.Level, asJSON bool) *slog.Logger {
	opt := &slog.HandlerOptions{Level: level}
	if asJSON {
		return slog.New(redact.Handler(slog.NewJSONHandler(w, opt)))
	}
	return slog.New(redact.Handler(slog.NewTextHandler(w, opt)))
}

// printJSON prints v for scripts.
func printJSON(cmd *cobra.Command, v any) error {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
