package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/redact"
	"github.com/spf13/cobra"
)

func newDoctorCmd() *cobra.Command { return doctorCmd(thisSystem()) }

func doctorCmd(sys system) *cobra.Command {
	var config string
	var channels, only []string
	var asJSON, probe bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that agents really ask before each call",
		Long: `Check the agent, its settings, the hooks in them, the gateway and its files.
Each check is a line, with what to do about it below. Nothing is changed.

With --probe, Claude Code itself is run in a scratch directory, with a model
that plays a script and a gateway of its own, against an approver that allows,
denies, is slow, dies, is missing or talks nonsense; what really ran is told.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().BoolVar(&probe, "probe", false, "run Claude Code in a scratch directory and see what it does")
	cmd.Flags().StringSliceVar(&channels, "channel", allChannels, "with --probe: the ways in which the agent asks")
	cmd.Flags().StringSliceVar(&only, "only", nil, "with --probe: these cases only, such as deny,killed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d := &doctor{sys: sys, channels: channels, only: only}
		var err error
		if d.state, err = state(); err != nil {
			return err
		}
		if d.config, err = configDir(config); err != nil {
			return err
		}
		if d.project, err = os.Getwd(); err != nil {
			return err
		}
		if !asJSON {
			d.out = cmd.OutOrStdout()
		}
		d.examine(cmd.Context())
		if probe {
			d.probe(cmd.Context())
		} else {
			d.checkProbed()
		}
		if asJSON {
			if err := printJSON(cmd, d.report()); err != nil {
				return err
			}
		}
		return d.verdict()
	}
	return cmd
}

// allChannels are the ways in which Claude Code can be made to ask.
var allChannels = []string{"hooks", "http", "run", "mcp"}

// condition is how a check ended.
type condition string

const (
	isOK    condition = "ok"
	isWrong condition = "warn" // works, but not as well as it could
	isBad   condition = "fail" // calls run unasked, or none can run
)

type finding struct {
	Check string    `json:"check"`
	State condition `json:"state"`
	Text  string    `json:"text"`
	Fix   string    `json:"fix,omitempty"`
}

type doctorReport struct {
	OK     bool         `json:"ok"`
	Checks []finding    `json:"checks"`
	Probe  []probedCase `json:"probe,omitempty"`
}

// doctor looks at everything between an agent and a decision.
type doctor struct {
	sys     system
	state   statedir.Dir
	config  string
	project string
	out     io.Writer // where findings go as they come; nil is nowhere

	channels, only []string // of the probe

	claude   string // its version, "" if there is none to be had
	settings []settingsOf
	findings []finding
	probed   []probedCase
}

func (d *doctor) examine(ctx context.Context) {
	d.checkProgram()
	d.checkVersion(ctx)
	d.checkSettings()
	d.checkHooks(ctx)
	d.checkState()
	d.checkRules()
	d.checkGateway(ctx)
	d.checkNotify(ctx)
	d.checkDrift(ctx)
}

func (d *doctor) ok(check, format string, args ...any) {
	d.add(finding{Check: check, State: isOK, Text: fmt.Sprintf(format, args...)})
}

func (d *doctor) warn(check, fix, format string, args ...any) {
	d.add(finding{Check: check, State: isWrong, Text: fmt.Sprintf(format, args...), Fix: fix})
}

func (d *doctor) fail(check, fix, format string, args ...any) {
	d.add(finding{Check: check, State: isBad, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// add notes a finding. What it quotes from files is another's word, and perhaps
// a secret.
func (d *doctor) add(f finding) {
	f.Text, f.Fix = hostconfig.Visible(redact.Text(f.Text)), hostconfig.Visible(redact.Text(f.Fix))
	d.findings = append(d.findings, f)
	if d.out == nil {
		return
	}
	fmt.Fprintf(d.out, "%-4s  %-9s  %s\n", f.State, f.Check, f.Text)
	if f.Fix != "" {
		fmt.Fprintf(d.out, "      fix: %s\n", f.Fix)
	}
}

func (d *doctor) count(c condition) (n int) {
	for _, f := range d.findings {
		if f.State == c {
			n++
		}
	}
	return n
}

func (d *doctor) report() doctorReport {
	return doctorReport{OK: d.count(isBad) == 0, Checks: d.findings, Probe: d.probed}
}

func (d *doctor) verdict() error {
	if n := d.count(isBad); n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(d.findings))
	}
	return nil
}
