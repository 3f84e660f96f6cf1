package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gatelatch/gatelatch/audit"
)

// checkpointsAtEnd is how much of a checkpoint file is checked at start.
const checkpointsAtEnd = 16 << 10

var errCheckpoint = errors.New("the checkpoints can't be used")

// lastCheckpoints reads the end of a checkpoint file. None is an empty one.
func lastCheckpoints(path string) ([]audit.Checkpoint, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw := make([]byte, min(info.Size(), checkpointsAtEnd))
	if _, err := f.ReadAt(raw, info.Size()-int64(len(raw))); err != nil {
		return nil, err
	}
	if info.Size() > checkpointsAtEnd {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	points, err := audit.ReadCheckpoints(bytes.NewReader(raw))
	if err != nil {
		err = fmt.Errorf("%w: %w", errCheckpoint, err)
	}
	return points, err
}

// appendCheckpoint writes a line that survives a crash. What a crash left of
// the line before is ended first.
func appendCheckpoint(path string, c audit.Checkpoint) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var line []byte
	if size := info.Size(); size > 0 {
		end := make([]byte, 1)
		if _, err := f.ReadAt(end, size-1); err != nil {
			return err
		}
		if end[0] != '\n' {
			line = append(line, '\n')
		}
	}
	if line, err = c.AppendLine(line); err != nil {
		return err
	}
	if _, err = f.Write(line); err != nil || info.Size() > 0 {
		return errors.Join(err, f.Sync())
	}
	// A new file's name must last as well; not every place can promise that.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = errors.Join(dir.Sync(), dir.Close())
	}
	return f.Sync()
}
