package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// settle is how old a change must be before the file counts as read: a second
// one within the clock's tick would not show.
const settle = 100 * time.Millisecond

// A source is a file of rules that is read again when it changes. Once good
// rules stay in force while the file is broken.
type source struct {
	name string // in messages
	stat func() (stamp, error)
	read func() ([]byte, stamp, error)
	tier string // the layer

	instead *layer // what holds if there is no file at first, nil for nothing

	layer   *layer // the last good one
	good    bool   // there was one, or no file at first
	seen    stamp  // of the file that layer or problem came from
	missing bool   // there was none
	fresh   bool   // seen changed only just now: look again
	problem string // why the file, as it is now, is not in force
}

// A stamp changes when a file does.
type stamp struct {
	mod   int64 // nanoseconds
	size  int64
	mode  fs.FileMode
	inode uint64
	owner uint32
}

// refresh reads the file if it changed, and reports whether it did read.
func (s *source) refresh() bool {
	now, err := s.stat()
	if !s.fresh && now == s.seen && errors.Is(err, fs.ErrNotExist) == s.missing {
		return false
	}
	_ = s.reload() // the error is kept in problem
	return true
}

// reload reads the file now.
func (s *source) reload() error {
	data, st, err := s.read()
	s.seen, s.missing = st, errors.Is(err, fs.ErrNotExist)
	s.fresh = st != (stamp{}) && time.Since(time.Unix(0, st.mod)) < settle
	var l *layer
	if err == nil {
		l, err = parse(s.name, data, s.tier)
	}
	first := !s.good && s.problem == ""
	switch {
	case err == nil:
		s.layer, s.good, s.problem = l, true, ""
	case !s.missing:
		s.problem = err.Error()
	case first:
		s.layer, s.good = s.instead, true
	case s.good && s.layer == s.instead:
		s.problem = "" // it was never in force
	default:
		s.problem = s.gone()
	}
	return err
}

func (s *source) gone() string { return s.name + " is gone" }

func look(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

func readLimited(f io.Reader, name string, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: larger than %d bytes", name, most)
	}
	return data, err
}
