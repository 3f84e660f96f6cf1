package redo_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatelatch/gatelatch/internal/redo"
)

var id = redo.ID([]byte("0123456789abcdef"))

func open(t *testing.T, path string, kept redo.Seq) *redo.Log {
	t.Helper()
	l, err := redo.Open(path, id, kept)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func body(seq redo.Seq, size int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "record %d;", seq), size/8+1)[:size]
}

func read(t *testing.T, path string, id redo.ID, kept redo.Seq) (seqs []redo.Seq) {
	t.Helper()
	if err := redo.Read(path, id, kept, func(seq redo.Seq, raw []byte) {
		if !bytes.Equal(raw, body(seq, len(raw))) {
			t.Errorf("record %d is not what was written", seq)
		}
		seqs = append(seqs, seq)
	}); err != nil {
		t.Fatal(err)
	}
	return seqs
}

// Whatever is not kept elsewhere is there, in order, however often the halves
// were written again.
func TestRecordsStayUntilTheyAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	l := open(t, path, 0)
	kept, fulls, rng := redo.Seq(0), 0, rand.New(rand.NewPCG(1, 2))
	for seq := redo.Seq(1); seq <= 300; {
		err := l.Append(body(seq, 1+rng.IntN(60_000)))
		switch {
		case errors.Is(err, redo.ErrFull):
			if !l.Wants() {
				t.Fatal("full, and wants nothing")
			}
			if fulls++; fulls%2 == 0 {
				kept = l.Last()
			} else {
				kept += (l.Last() - kept + 1) / 2 // some
			}
			l.Keep(kept)
			continue
		case err != nil:
			t.Fatal(err)
		}
		if seq%30 == 0 {
			if got := read(t, path, id, kept); len(got) != int(seq-kept) || got[0] != kept+1 {
				t.Fatalf("behind %d of %d there are %d", kept, seq, len(got))
			}
		}
		seq++
	}
	if fulls == 0 {
		t.Error("it was never full")
	}
	l.Keep(3) // late news
	if got := read(t, path, redo.ID{1}, 0); got != nil {
		t.Errorf("another log's records: %v", got)
	}
	if err := l.Append(make([]byte, 2<<20)); !errors.Is(err, redo.ErrLarge) {
		t.Errorf("a large record: %v", err)
	}
}

// A crash leaves a part of the last record, or one whose middle is missing.
func TestACutRecordEndsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	l := open(t, path, 6)
	for seq := redo.Seq(7); seq <= 9; seq++ {
		if err := l.Append(body(seq, 9000)); err != nil {
			t.Fatal(err)
		}
	}
	file := redo.Names(path)[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const block = 4 << 10
	record := 4 + 8 + 9000 + 16
	for cut := 6 * block; cut < 6*block+record; cut += 97 {
		torn := bytes.Clone(whole)
		clear(torn[cut : cut+97])
		if err := os.WriteFile(file, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path, id, 6); len(got) != 2 {
			t.Fatalf("cut at %d, there are %v", cut, got)
		}
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := redo.Read(path, id, 5, func(redo.Seq, []byte) {}); !errors.Is(err, redo.ErrGap) {
		t.Errorf("behind 5 begins 7: %v", err)
	}
	l = open(t, path, 9) // and goes on where it is told
	if err := l.Append(body(10, 100)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path, id, 9); len(got) != 1 || got[0] != 10 {
		t.Errorf("behind 9 there are %v", got)
	}
}

func TestFilesAreForOneUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.db")
	open(t, path, 0)
	for _, name := range redo.Names(path) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := errors.Join(redo.Remove(path), redo.Remove(path)); err != nil {
		t.Error(err)
	}
	if got := read(t, path, id, 0); got != nil {
		t.Errorf("after its removal: %v", got)
	}
}
