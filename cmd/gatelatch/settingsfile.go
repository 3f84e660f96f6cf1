package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/spf13/cobra"
)

// settingsFile is a host's settings file as it was read, with the backup that
// an earlier install left beside it. No data (nil) means no file.
type settingsFile struct {
	path   string
	link   string // what was asked for, if it is a link to path
	mode   fs.FileMode
	shared bool // everybody on the machine must be able to read it
	data   []byte
	backup []byte
}

func readSettings(path string) (settingsFile, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return settingsFile{}, err
	}
	f := settingsFile{path: path, mode: 0o600}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		f.link = path
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return f, fmt.Errorf("follow the link: %w", err)
		}
		info, err = os.Lstat(f.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f, err
	case !info.Mode().IsRegular():
		return f, fmt.Errorf("%s is not a regular file", f.path)
	default:
		f.mode = info.Mode().Perm()
	}
	f.data, f.backup, err = f.load()
	return f, err
}

func (f settingsFile) backupPath() string { return f.path + hostconfig.BackupSuffix }

func (f settingsFile) load() (data, backup []byte, err error) {
	if data, err = readIfThere(f.path); err != nil {
		return nil, nil, err
	}
	backup, err = readIfThere(f.backupPath())
	return data, backup, err
}

func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// write puts a change in place, if the file is still what the change was made
// from: hosts write their settings too. The backup is there before it is
// needed, and goes after.
func (f settingsFile) write(c hostconfig.Change) error {
	data, _, err := f.load()
	if err != nil {
		return err
	}
	if (data == nil) != (f.data == nil) || !bytes.Equal(data, f.data) {
		return withHint(fmt.Errorf("%s was changed meanwhile; nothing was written", f.path), "run the command again")
	}
	if err := f.makeDir(); err != nil {
		return err
	}
	if c.Backup != nil {
		if err := replaceFile(f.backupPath(), c.Backup, f.mode); err != nil {
			return err
		}
	}
	if err := f.writeSettings(c.Settings); err != nil {
		return err
	}
	if c.Backup == nil && f.backup != nil {
		return os.Remove(f.backupPath())
	}
	return nil
}

// makeDir makes the folder of a shared file one that everybody can enter,
// whatever the umask says.
func (f settingsFile) makeDir() error {
	dir := filepath.Dir(f.path)
	if _, err := os.Stat(dir); !f.shared || err == nil {
		return nil
	}
	return errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)) //nolint:gosec // every user's agent reads it
}

func (f settingsFile) writeSettings(data []byte) error {
	if data == nil {
		return os.Remove(f.path)
	}
	return replaceFile(f.path, data, f.mode)
}

// writing is what install and uninstall have in common: show, ask, write.
type writing struct {
	yes    bool
	dryRun bool
	json   bool
}

func (w *writing) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&w.yes, "yes", "y", false, "write without asking")
	cmd.Flags().BoolVar(&w.dryRun, "dry-run", false, "show the change and write nothing")
	cmd.Flags().BoolVar(&w.json, "json", false, "print the result as JSON")
}

// talk is where people read; with --json, standard output is for programs.
func (w *writing) talk(cmd *cobra.Command) io.Writer {
	if w.json {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// apply shows the change and writes it. No settings are changed unseen: the
// difference is printed even if nobody is asked.
func (w *writing) apply(cmd *cobra.Command, sys system, f settingsFile, c hostconfig.Change) error {
	out := w.talk(cmd)
	if f.link != "" {
		fmt.Fprintf(out, "%s is a link; what it points to is changed: %s\n", f.link, f.path)
	}
	if agreed, err := w.agreed(cmd, sys, f.path, f.data, c.Settings); err != nil || !agreed {
		return err
	}
	return f.write(c)
}

// agreed shows a change, and reports whether to make it.
func (w *writing) agreed(cmd *cobra.Command, sys system, name string, before, after []byte) (bool, error) {
	out := w.talk(cmd)
	fmt.Fprint(out, hostconfig.Diff(name, before, after))
	switch {
	case w.dryRun:
		fmt.Fprintln(out, "Dry run: nothing was written.")
		return false, nil
	case w.yes:
		return true, nil
	}
	err := confirm(cmd, sys, out)
	return err == nil, err
}

func confirm(cmd *cobra.Command, sys system, out io.Writer) error {
	unasked := withHint(errors.New("nothing was written: there is no terminal to ask on"), "check the change above and add --yes")
	if !sys.terminal(cmd.InOrStdin()) {
		return unasked
	}
	fmt.Fprint(out, "Write this? [y/N] ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if errors.Is(err, io.EOF) && answer == "" {
		fmt.Fprintln(out)
		return unasked
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was written")
}
