package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gatelatch/gatelatch/internal/backup"
	"github.com/gatelatch/gatelatch/internal/filelock"
	"github.com/gatelatch/gatelatch/store/postgres"
	"github.com/gatelatch/gatelatch/store/sqlite"
	"github.com/spf13/cobra"
)

func newBackupCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Copy everything the gateway keeps, while it runs",
		Long: `Copy everything the gateway keeps into one file, as it was at one moment. The
gateway may run meanwhile. Without FILE the copy lies in the current directory,
named after the time.

The file holds what agents did and asked for, so it is for your eyes only; of
keys it has hashes alone.`,
		Args: cobra.MaximumNArgs(1),
	}
	where := storeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		restrictFiles()
		opt, err := where()
		if err != nil {
			return err
		}
		file := "gatelatch-" + time.Now().Format("20060102-150405") + ".backup"
		if len(args) > 0 {
			file = args[0]
		}
		// Not made if missing: a copy belongs where it was meant to, or nowhere.
		if _, err := os.Stat(filepath.Dir(file)); err != nil {
			return err
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return withHint(fmt.Errorf("%s is a directory", file), "name a file in it")
		}
		m := newMeter(cmd.ErrOrStderr(), "copied")
		err = replaceFileBy(file, 0o600, func(w io.Writer) error { return copyStore(cmd.Context(), opt, m.over(w)) })
		m.end()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", file, m)
		return err
	}
	return cmd
}

// storeFlags adds what says which store is meant, as serve has it.
func storeFlags(cmd *cobra.Command) func() (gatewayOptions, error) {
	var opt gatewayOptions
	state := stateFlag(cmd)
	cmd.Flags().StringVar(&opt.config, "config", "", "configuration directory (default $XDG_CONFIG_HOME/gatelatch)")
	cmd.Flags().StringVar(&opt.store, "store", "", "postgres:// URL of the database (default what config.yaml says, or the file in the state directory)")
	return func() (_ gatewayOptions, err error) {
		if opt.state, err = state(); err != nil {
			return opt, err
		}
		if opt.config, err = configDir(opt.config); err != nil {
			return opt, err
		}
		if opt.store == "" {
			cfg, err := loadConfig(opt.config)
			if err != nil {
				return opt, err
			}
			opt.store = cfg.Store
		}
		opt.log = newLog(slog.LevelInfo, false)
		return opt, nil
	}
}

func copyStore(ctx context.Context, opt gatewayOptions, w io.Writer) error {
	if opt.store != "" {
		if err := checkStore(opt.store); err != nil {
			return err
		}
		return postgres.BackupDatabase(ctx, opt.store, w)
	}
	err := sqlite.BackupFile(ctx, opt.state.Database(), w)
	if errors.Is(err, fs.ErrNotExist) {
		err = withHint(fmt.Errorf("no gateway has kept anything in %s", opt.state), "name its state directory with --state, or its database with --store")
	}
	return err
}

func newRestoreCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Read a copy into an empty store",
		Long: `Read a copy that "gatelatch backup" wrote into an empty store, of whichever
kind: so one moves from a file to PostgreSQL, or back. The gateway must not run.

A copy is old, so nothing in it comes back to life: what waited is withdrawn and
has to be asked again, allows have lapsed, what was begun is unknown, everything
remembered is revoked, and browsers log in again. Keys of agents and of the
command line stay good.`,
		Args: cobra.ExactArgs(1),
	}
	where := storeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		restrictFiles()
		opt, err := where()
		if err != nil {
			return err
		}
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		m := newMeter(cmd.ErrOrStderr(), "read")
		err = restoreStore(cmd.Context(), opt, io.TeeReader(f, m.over(io.Discard)))
		m.end()
		if err != nil {
			return err
		}
		serve := "gatelatch serve" + stateArg(opt.state)
		if cmd.Flags().Changed("store") {
			serve += " --store URL" // which may hold a password
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored %s; start the gateway with %q\n", m, serve)
		return err
	}
	return cmd
}

func restoreStore(ctx context.Context, opt gatewayOptions, r io.Reader) (err error) {
	if err := opt.state.Prepare(); err != nil {
		return err
	}
	lock, err := filelock.Lock(opt.state.Lock())
	if errors.Is(err, filelock.ErrLocked) {
		return withHint(fmt.Errorf("a gateway runs on %s", opt.state), "stop it, or restore into another --state")
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	s, err := openStore(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	to, ok := s.(interface {
		Restore(ctx context.Context, r io.Reader) error
	})
	if !ok {
		return fmt.Errorf("%T can't be restored", s)
	}
	err = to.Restore(ctx, r)
	if errors.Is(err, backup.ErrNotEmpty) {
		hint := "move " + opt.state.Database() + " out of the way, or restore into another --state"
		if opt.store != "" {
			hint = "restore into a new database; nothing in this one was changed"
		}
		err = withHint(err, hint)
	}
	return err
}

// meter counts what goes by, and shows it on a terminal.
type meter struct {
	to    io.Writer // nil shows nothing
	what  string
	bytes int64
	lines int64
	shown time.Time
}

func newMeter(to io.Writer, what string) *meter {
	if f, ok := to.(*os.File); !ok || !isTerminal(f) {
		to = nil
	}
	return &meter{to: to, what: what, shown: time.Now()}
}

func (m *meter) over(w io.Writer) io.Writer { return io.MultiWriter(w, m) }

func (m *meter) Write(p []byte) (int, error) {
	m.bytes += int64(len(p))
	m.lines += int64(bytes.Count(p, []byte{'\n'}))
	if m.to != nil && time.Since(m.shown) > time.Second/5 {
		m.shown = time.Now()
		fmt.Fprintf(m.to, "\r%s %s", m.what, m)
	}
	return len(p), nil
}

func (m *meter) end() {
	if m.to != nil {
		fmt.Fprint(m.to, "\r\x1b[K")
	}
}

// String leaves out the first line and the last, which are no rows.
func (m *meter) String() string {
	size, unit := float64(m.bytes)/1e3, "kB"
	if size >= 1e3 {
		size, unit = size/1e3, "MB"
	}
	return fmt.Sprintf("%d rows, %.1f %s", max(0, m.lines-2), size, unit)
}
