package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newAuditVerifyCmd() *cobra.Command {
	var files, keys []string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check that nothing in the trail was changed",
		Long: `Check an export ("-" reads it from the standard input), or without FILE the
trail of the running gateway. Checking an export needs no gateway.

Where passkeys signed, each signature is checked by the public key that was
enrolled in the trail itself, and by what the event says.

The chain alone shows what was changed, moved or taken out. Only checkpoints
from a second place show that the end was cut off, or that the whole trail was
written anew. It ends with status 1 if anything is wrong.`,
		Args: cobra.MaximumNArgs(1),
	}
	state := stateFlag(cmd)
	cmd.Flags().StringArrayVar(&files, "checkpoints", nil, "file of checkpoints that the trail must contain (may be repeated)")
	cmd.Flags().StringArrayVar(&keys, "key", nil, `who may have signed them: a public key, or a file with one (may be repeated; see "gatelatch audit key")`)
	asJSON := cmd.Flags().Bool("json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		points, err := loadCheckpoints(files, keys)
		if err != nil {
			return err
		}
		var report audit.Report
		var broken error
		if len(args) > 0 {
			report, broken, err = verifyFile(args[0], cmd.InOrStdin(), points)
		} else {
			report, broken, err = verifyGateway(cmd, state, points)
		}
		if err != nil {
			return err
		}
		if broken == nil && report.Events == 0 {
			broken = errors.New("the trail is empty, so it proves nothing")
		}
		problem := ""
		if broken != nil {
			problem = broken.Error()
		}
		return errors.Join(printReport(cmd, report, problem, *asJSON), broken)
	}
	return cmd
}

func verifyFile(path string, stdin io.Reader, points []audit.Checkpoint) (_ audit.Report, broken, err error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return audit.Report{}, nil, err
		}
		defer f.Close()
		in = f
	}
	report, broken := audit.Verify(in, points)
	return report, broken, nil
}

func verifyGateway(cmd *cobra.Command, state func() (statedir.Dir, error), points []audit.Checkpoint) (_ audit.Report, broken, err error) {
	c, err := peopleClient(state)
	if err != nil {
		return audit.Report{}, nil, err
	}
	v := audit.NewVerifier(points)
	err = wholeTrail(cmd, c, func(x api.Event) error {
		e, err := x.Domain()
		if err == nil {
			broken = v.Next(e)
			err = broken
		}
		return err
	})
	switch {
	case broken != nil:
		return v.Report(), broken, nil
	case err != nil:
		return audit.Report{}, nil, err
	}
	return v.Report(), v.End(), nil
}

// loadCheckpoints reads checkpoint files. A signature of nobody in particular
// proves nothing, so the keys must be named.
func loadCheckpoints(files, keys []string) (out []audit.Checkpoint, err error) {
	if (len(files) == 0) != (len(keys) == 0) {
		return nil, withHint(errors.New("--checkpoints and --key go together"), `"gatelatch audit key" prints the key, where the gateway runs`)
	}
	var trusted []audit.PublicKey
	for _, k := range keys {
		key, err := readPublicKey(k)
		if err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
		trusted = append(trusted, key)
	}
	for _, path := range files {
		points, err := readCheckpointFile(path, trusted)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(points) == 0 {
			return nil, fmt.Errorf("%s holds no checkpoint, so it proves nothing", path)
		}
		out = append(out, points...)
	}
	return out, nil
}

func readCheckpointFile(path string, trusted []audit.PublicKey) ([]audit.Checkpoint, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return audit.ReadCheckpoints(f, trusted...)
}

func readPublicKey(text string) (audit.PublicKey, error) {
	if k, err := audit.ParsePublicKey(text); err == nil {
		return k, nil
	}
	raw, err := os.ReadFile(text)
	if err != nil {
		return audit.PublicKey{}, err
	}
	k, err := audit.ParsePublicKey(string(raw))
	if err != nil {
		err = fmt.Errorf("%s: %w", text, err)
	}
	return k, err
}

func printReport(cmd *cobra.Command, r audit.Report, problem string, asJSON bool) error {
	if asJSON {
		return printJSON(cmd, struct {
			OK      bool   `json:"ok"`
			Problem string `json:"problem,omitempty"`
			audit.Report
		}{problem == "", problem, r})
	}
	w := cmd.OutOrStdout()
	word := "whole"
	if problem != "" {
		word = "good before it breaks"
	}
	fmt.Fprintf(w, "events       %d, %s\n", r.Events, word)
	if r.Events > 0 {
		fmt.Fprintf(w, "first        %s\nlast         %s\nhead         %d %s\n", r.First.Format(time.RFC3339Nano), r.Last.Format(time.RFC3339Nano), r.Seq, r.Link)
	}
	if r.Signatures > 0 {
		fmt.Fprintf(w, "signatures   %d of passkeys, all good\n", r.Signatures)
	}
	switch {
	case problem != "":
	case r.Checkpoints == 0:
		fmt.Fprintln(w, "checkpoints  none given: a trail that was cut short or written anew would look whole")
	default:
		fmt.Fprintf(w, "checkpoints  %d, the last at event %d; %d events came after it\n", r.Checkpoints, r.Vouched, r.Seq-r.Vouched)
	}
	return nil
}
