package gatelatch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
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
	h := sha256.New()
	writeField(h, []byte(domain))
	for _, f := range fields {
		writeField(h, f)
	}
	return Sum(h.Sum(nil))
}

func writeField(h hash.Hash, f []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(f)))
	h.Write(n[:])
	h.Write(f)
}
