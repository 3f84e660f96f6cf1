package gatelatch

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
)

// Digests and links that lie in databases were made so: each field behind its
// length, however long it is.
func TestSumFieldsIsLengthsAndFields(t *testing.T) {
	for _, fields := range [][]string{{}, {""}, {"a", "b"}, {"ab", ""}, {"", "ab"}, {strings.Repeat("x", 990), "y"}, {strings.Repeat("x", 1<<20), "y"}} {
		h := sha256.New()
		var raw [][]byte
		for _, f := range append([]string{"domain"}, fields...) {
			_ = binary.Write(h, binary.BigEndian, uint64(len(f)))
			_, _ = h.Write([]byte(f))
			raw = append(raw, []byte(f))
		}
		if got, want := SumFields("domain", raw[1:]...), Sum(h.Sum(nil)); got != want {
			t.Errorf("%d fields: got %s, want %s", len(fields), got, want)
		}
	}
}
