package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/audit"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/spf13/cobra"
)

func newAuditCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Export the audit trail and verify it",
		Long: `Everything that happens is an event in the audit trail. Each event holds a hash
of the one before it, so a change shows; signed checkpoints, which
"gatelatch serve --checkpoints FILE" writes to a second place, show when the
end was cut off or everything was written anew.

  gatelatch audit export trail.jsonl
  gatelatch audit verify trail.jsonl --checkpoints FILE --key KEY`,
		Args: cobra.NoArgs,
		RunE: helpOnly,
	}
	cmd.AddCommand(newAuditExportCmd(), newAuditVerifyCmd(), newAuditKeyCmd())
	return cmd
}

func newAuditExportCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the whole trail, one JSON line an event",
		Long: `Write the whole trail of the running gateway to FILE, or to the standard output:
one JSON line an event, with everything that "gatelatch audit verify" needs.`,
		Args: cobra.MaximumNArgs(1),
	}
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := peopleClient(state)
		if err != nil {
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			broken, err := exportTrail(cmd, c, cmd.OutOrStdout())
			return errors.Join(err, broken)
		}
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			err = withHint(err, "choose another name, or remove it first")
		}
		if err != nil {
			return err
		}
		broken, err := exportTrail(cmd, c, f)
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(args[0])
			return err
		}
		return broken
	}
	return cmd
}

func peopleClient(state func() (statedir.Dir, error)) (*client.Client, error) {
	dir, err := state()
	if err != nil {
		return nil, err
	}
	return client.ForPeople(dir)
}

// exportTrail writes every event, also those of a trail that is broken: it is
// evidence.
func exportTrail(cmd *cobra.Command, c *client.Client, to io.Writer) (broken, err error) {
	out := bufio.NewWriterSize(to, 1<<16)
	var line []byte
	v := audit.NewVerifier(nil)
	err = wholeTrail(cmd, c, func(x api.Event) error {
		e, err := x.Domain()
		if err != nil {
			return err
		}
		if line, err = audit.AppendLine(line[:0], e); err != nil {
			return err
		}
		if broken == nil {
			broken = v.Next(e)
		}
		_, err = out.Write(line)
		return err
	})
	return broken, errors.Join(err, out.Flush())
}

// wholeTrail calls fn for every event of the running gateway's trail.
func wholeTrail(cmd *cobra.Command, c *client.Client, fn func(api.Event) error) error {
	st, err := c.Status(cmd.Context())
	if err != nil {
		return err
	}
	show := newProgress(cmd.ErrOrStderr(), st.Seq)
	defer show.end()
	return eachEvent(cmd.Context(), c, 0, st.Seq, func(e api.Event) error {
		show.at(e.Seq)
		return fn(e)
	})
}

func newAuditKeyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the public key of this gateway's checkpoints",
		Long: `Print the key that checks this gateway's checkpoints. Keep it with those who
verify: a key that lies beside the trail can be replaced together with it.`,
		Args: cobra.NoArgs,
	}
	state := stateFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := state()
		if err != nil {
			return err
		}
		secret, err := statedir.ReadKey(dir.CheckpointKey())
		if errors.Is(err, fs.ErrNotExist) {
			return withHint(fmt.Errorf("the gateway on %s has written no checkpoints", dir), `let it write them with "gatelatch serve --checkpoints FILE"`)
		}
		if err != nil {
			return err
		}
		s, err := audit.ParseSigner(secret)
		if err != nil {
			return fmt.Errorf("%s: %w", dir.CheckpointKey(), err)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), s.Public())
		return err
	}
	return cmd
}

// progress says on a terminal how far a long reading is.
type progress struct {
	w     io.Writer // nil is silent
	total int64
	next  time.Time
	shown bool
}

func newProgress(w io.Writer, total int64) *progress {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{w: w, total: total, next: time.Now().Add(time.Second)}
		}
	}
	return &progress{}
}

func (p *progress) at(n int64) {
	if p.w == nil || n%1000 != 0 || time.Now().Before(p.next) {
		return
	}
	p.next, p.shown = time.Now().Add(200*time.Millisecond), true
	fmt.Fprintf(p.w, "\r%d of %d events", n, p.total)
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
