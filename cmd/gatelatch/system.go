package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// system is what installing asks of the machine; tests give it another.
type system struct {
	goos       string
	managed    string // Claude Code's settings for the whole machine
	executable func() (string, error)
	terminal   func(io.Reader) bool
	run        func(ctx context.Context, name string, args ...string) (string, error)
}

func thisSystem() system {
	return system{goos: runtime.GOOS, managed: managedSettings(runtime.GOOS), executable: os.Executable, terminal: isTerminal, run: runProgram}
}

// program returns the running gatelatch, by a path that no link can redirect.
func (s system) program() (string, error) {
	path, err := s.executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return filepath.EvalSymlinks(path)
}

// isTerminal also holds for /dev/null; who asks must bear the end of input.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const runTimeout = 30 * time.Second

func runProgram(ctx context.Context, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, runTimeout)
	defer stop()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s did not end: %w", name, ctx.Err())
	}
	return string(out), err
}

func replaceFile(path string, data []byte, mode os.FileMode) error {
	return replaceFileBy(path, mode, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// replaceFileBy writes a file in one step: a crash leaves the old one or the new
// one. It makes the directory if need be.
func replaceFileBy(path string, mode os.FileMode, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".gatelatch-*")
	if err != nil {
		return err
	}
	err = write(f)
	err = errors.Join(err, chmod(f, mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	syncDir(dir)
	return nil
}

// chmod does nothing on Windows, where files have no such mode.
func chmod(f *os.File, mode os.FileMode) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return f.Chmod(mode)
}

// syncDir makes a rename last. Not every file system can; the rename is done.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
