// Package redo is a log of records that are kept until what they say is kept
// elsewhere. It appends in place to two files of a fixed size, so that making a
// record durable is one write and one sync, and no work for the file system.
package redo

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/gatelatch/gatelatch/internal/twin"
)

// Errors of Append. After ErrFull or ErrLarge the caller keeps its record, and
// all before it, elsewhere.
var (
	ErrFull  = errors.New("redo: no room before more is kept elsewhere")
	ErrLarge = errors.New("redo: the record is too large")
	// ErrSync says that nobody knows what is on the disk.
	ErrSync = errors.New("redo: sync failed")
	// ErrGap says that records are missing between what was kept and the log.
	ErrGap = errors.New("redo: the log does not go on where the database ends")
)

// ID says what a log belongs to. Records of another are none. It is secret:
// who knows it can make records.
type ID [16]byte

// Seq numbers records, from 1 without gaps.
type Seq uint64

// A record begins with a block.
const (
	blockSize = 4 << 10
	halfSize  = 2 << 20
	mostSize  = halfSize / 2
	header    = 4 + 8 // length, number
	tagSize   = 16    // behind the record
)

// A Log is written by one goroutine. Wants and Keep are for any.
type Log struct {
	mac    cipher.AEAD
	halves [2]half
	at     int // the half that is written
	last   Seq
	kept   atomic.Uint64
	full   atomic.Uint64 // the last record of the other half
	buf    []byte        // blocks, as many as the largest record has
}

// A half is a file that is written from its start: a run of records, and
// whatever was there before.
type half struct {
	file *os.File
	used int64
	last Seq
}

// Names returns the files of the log of a database.
func Names(path string) [2]string { return [2]string{path + "-redo0", path + "-redo1"} }

// Open opens or creates the log, to go on behind a record that is kept
// elsewhere, with all before it. Its directory must be synced before the next
// one counts.
func Open(path string, id ID, kept Seq) (_ *Log, err error) {
	l := &Log{mac: id.mac(), last: kept}
	l.kept.Store(uint64(kept))
	defer func() {
		if err != nil {
			_ = l.Close()
		}
	}()
	if l.buf, err = blocks(mostSize); err != nil {
		return nil, err
	}
	for _, name := range Names(path) {
		if err := fill(name, l.buf); err != nil { // which is still empty
			return nil, err
		}
	}
	for i, name := range Names(path) {
		if l.halves[i].file, err = direct(name, l.buf); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// fill gives a file all its blocks: writing into them later changes nothing
// that the file system would have to note.
func fill(name string, zeros []byte) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || info.Size() >= halfSize {
		return err
	}
	for at := info.Size(); at < halfSize; {
		n, err := f.WriteAt(zeros[:min(halfSize-at, int64(len(zeros)))], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return f.Sync()
}

// onDisk is the room that a record of so many bytes takes.
func onDisk(n int64) int64 {
	return (header + n + tagSize + blockSize - 1) / blockSize * blockSize
}

// Last is the number of the newest record.
func (l *Log) Last() Seq { return l.last }

// Append adds a record. When it returns nil, the record is on the disk.
func (l *Log) Append(body []byte) error {
	size := onDisk(int64(len(body)))
	if size > mostSize {
		return ErrLarge
	}
	h := &l.halves[l.at]
	if h.used+size > halfSize {
		next := &l.halves[1-l.at]
		if l.Wants() {
			return ErrFull
		}
		l.full.Store(uint64(h.last))
		l.at, h = 1-l.at, next
		h.used, h.last = 0, 0
	}
	l.buf = binary.LittleEndian.AppendUint32(l.buf[:0], uint32(len(body)))
	l.buf = binary.LittleEndian.AppendUint64(l.buf, uint64(l.last+1))
	l.buf = append(l.buf, body...)
	l.buf = tag(l.mac, l.buf, l.buf)
	clear(l.buf[len(l.buf):size])
	if _, err := h.file.WriteAt(l.buf[:size], h.used); err != nil {
		return err
	}
	if twin.Is != "redo_unsynced" {
		if err := datasync(h.file); err != nil {
			return fmt.Errorf("%w: %w", ErrSync, err)
		}
	}
	l.last++
	h.used, h.last = h.used+size, l.last
	return nil
}

// Wants reports whether a half is full that could be written again if more
// were kept elsewhere.
func (l *Log) Wants() bool { return l.full.Load() > l.kept.Load() }

// Keep says that all records up to seq are durable elsewhere.
func (l *Log) Keep(seq Seq) {
	for {
		kept := l.kept.Load()
		if kept >= uint64(seq) || l.kept.CompareAndSwap(kept, uint64(seq)) {
			return
		}
	}
}

// Kept is the last record that is durable elsewhere.
func (l *Log) Kept() Seq { return Seq(l.kept.Load()) }

// Close closes the files.
func (l *Log) Close() error {
	var errs []error
	if l.buf != nil {
		errs = append(errs, release(l.buf[:mostSize]))
		l.buf = nil
	}
	for _, h := range l.halves {
		if h.file != nil {
			errs = append(errs, h.file.Close())
		}
	}
	return errors.Join(errs...)
}

// Remove deletes the files of a log whose records are all kept elsewhere.
func Remove(path string) error {
	var errs []error
	for _, name := range Names(path) {
		if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
