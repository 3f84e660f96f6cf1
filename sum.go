package gatelatch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// A Sum is a SHA-256 hash, written as hex.
type Sum [sha256.Size]byte

// SumOf hashes b.
func SumOf(b []byte) Sum { return sha256.Sum256(b) }

// String returns the hash in hex.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(b []byte) error {
	*s = Sum{}
	if len(b) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("a digest is %d hex digits, got %d characters", hex.EncodedLen(len(s)), len(b))
	}
	if _, err := hex.Decode(s[:], b); err != nil {
		*s = Sum{}
		return fmt.Errorf("a digest is hex: %w", err)
	}
	return nil
}

// SumFields hashes a domain name and fields so that no two lists of fields
// give the same bytes: each is preceded by its length.
func SumFields(domain string, fields ...[]byte) Sum {
	size := 8 + len(domain)
	for _, f := range fields {
		size += 8 + len(f)
	}
	var room [1 << 10]byte // what is small allocates nothing
	b := appendField(slices.Grow(room[:0], size), domain)
	for _, f := range fields {
		b = appendField(b, f)
	}
	return sha256.Sum256(b)
}

func appendField[T string | []byte](to []byte, f T) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(f))), f...)
}
