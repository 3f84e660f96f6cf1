package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gatelatch/gatelatch/internal/shape"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

func newConfigCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check config.yaml, and describe it for editors",
		Args:  cobra.NoArgs,
		RunE:  helpOnly,
	}
	cmd.AddCommand(newConfigCheckCmd(), newConfigSchemaCmd())
	return cmd
}

func newConfigCheckCmd() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong in config.yaml, by its lines",
		Long: `Read config.yaml as the gateway would and report everything in it that would keep the
gateway from starting. Nothing is started and nothing is changed. The exit code is 1 if
there are errors.`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&dir, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := configDir(dir)
		if err != nil {
			return err
		}
		found, err := checkConfig(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !asJSON:
			fmt.Fprintf(cmd.ErrOrStderr(), "There is no %s: the defaults hold.\n", filepath.Join(dir, "config.yaml"))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if asJSON {
			err = printJSON(cmd, map[string][]review.Finding{"findings": found})
		} else {
			printFindings(cmd.OutOrStdout(), found)
			err = nil
		}
		if err != nil {
			return err
		}
		return verdictOf(found, false)
	}
	return cmd
}

func newConfigSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of config.yaml, for editors",
		Long: `Print the JSON Schema of config.yaml. With it an editor completes and checks the file:

  gatelatch config schema > ~/.config/gatelatch/config.schema.json

and, as the first line of config.yaml,

  # yaml-language-server: $schema=config.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printJSON(cmd, configSchema()) },
	}
}

func configSchema() map[string]any {
	s := shape.Schema(reflect.TypeFor[config](), configSays)
	s["title"] = "Gatelatch's config.yaml"
	return s
}

// configSays describes keys for editors.
var configSays = map[string]string{
	"listen":               "Address of the page, host and port; the default is " + defaultListen,
	"tls_cert":             "Certificate in PEM, absolute path; with it the gateway may listen beyond loopback, at the names in it",
	"tls_key":              "Key of the certificate in PEM, absolute path; others must not read it",
	"store":                "postgres:// URL of a database that gateways share; without it a file in the state directory",
	"public_url":           "https:// address where a tunnel or proxy hands other devices on to the page",
	"metrics_listen":       "Loopback address for /metrics, /readyz and /healthz without a key",
	"hooks":                "Scripts that see each call before the rules do, or after it ran",
	"hooks.path":           "Absolute path of the script",
	"hooks.timeout":        "How long it may take, such as 5s",
	"hooks.on":             "before, which is the default, or after",
	"agent_users":          "Users whose agents may ask, beside the gateway's own; needs agent_socket",
	"agent_socket":         "Absolute path of the socket where they ask",
	"signing":              "Which allows need a person's passkey: off, which is the default, risky or all; see docs/access.md",
	"tools":                "Which tools agents may see; see docs/tools.md",
	"notify":               "Who is told of calls that wait, and when; see docs/notify.md",
	"notify.channels":      "Ways to reach people, by name: desktop, webhook, ntfy, email or command",
	"notify.rules":         "Who is told of which calls; the first that fits holds, and without any everybody is told at once",
	"notify.page_delay":    "How much later channels are told while somebody looks at the page, such as 30s",
	"notify.reach":         "Addresses of this machine that messages may go to, such as 127.0.0.1/32",
	"limits":               "How large things may be; see docs/operations.md",
	"limits.input_mib":     "How many MiB the input of a call may have, 1 to 8; those of a batch have twice that",
	"checkpoints":          "Absolute path of a file on a second place that gets signed checkpoints of the audit trail",
	"checkpoints_required": "Stop when a checkpoint can't be written",
}

// misfits lists what in a config.yaml has no place in it. What is no YAML is
// left to who decodes it.
func misfits(raw []byte) []shape.Misfit {
	var doc yaml.Node
	if yaml.Unmarshal(raw, &doc) != nil {
		return nil
	}
	return shape.Check(&doc, reflect.TypeFor[config]())
}

// checkConfig lists what would keep a gateway from starting.
func checkConfig(dir string) ([]review.Finding, error) {
	file := filepath.Join(dir, "config.yaml")
	found := []review.Finding{}
	raw, err := os.ReadFile(file)
	if err != nil {
		return found, err
	}
	add := func(line int, code, message, hint string) {
		found = append(found, review.Finding{Severity: review.Error, Code: code, File: file, Line: line, Message: redact.Text(message), Hint: redact.Text(hint)})
	}
	for _, m := range misfits(raw) {
		add(m.Line, "misfit", strings.TrimSpace(m.Path+" "+m.What), m.Hint)
	}
	if len(found) > 0 {
		return found, nil
	}
	cfg, err := loadConfig(dir)
	if err != nil {
		line, message := lineOf(strings.TrimPrefix(err.Error(), file+": "))
		add(line, "invalid", message, hintOf(err))
		return found, nil
	}
	for key, err := range cfg.start() {
		if err != nil {
			add(keyLine(raw, key), "invalid", strings.TrimPrefix(err.Error(), "--public-url "), hintOf(err))
		}
	}
	return found, nil
}

// start does the checks that a start does beyond reading the file, each by the
// key that it is about.
func (c config) start() func(yield func(key string, err error) bool) {
	return func(yield func(string, error) bool) {
		_, socket := c.agentSocket()
		_ = yield("public_url", checkPublic(c.PublicURL)) &&
			yield("store", checkStore(c.Store)) &&
			yield("checkpoints", c.checkpoints(&gatewayOptions{})) &&
			yield("metrics_listen", checkAddress(c.MetricsListen)) &&
			yield("agent_socket", socket) &&
			yield("tls_cert", checkTLS(gatewayOptions{tlsCert: c.TLSCert, tlsKey: c.TLSKey})) &&
			yield("listen", checkAddress(c.Listen))
	}
}

func checkAddress(listen string) error {
	if listen == "" {
		return nil
	}
	_, _, err := net.SplitHostPort(listen)
	return withHint(err, "give host and port, such as "+defaultListen)
}

var atLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// lineOf takes the line from the front of an error. One without is about the
// whole file.
func lineOf(message string) (int, string) {
	m := atLine.FindStringSubmatch(message)
	if m == nil {
		return 1, message
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 1, message
	}
	return n, message[len(m[0]):]
}

// keyLine is where the value at a path stands, 1 if there is none.
func keyLine(raw []byte, path ...string) int {
	var doc yaml.Node
	if yaml.Unmarshal(raw, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	n := doc.Content[0]
	for _, name := range path {
		if n = child(n, name); n == nil {
			return 1
		}
	}
	return n.Line
}
