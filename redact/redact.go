// Package redact replaces secrets in text by [secret:1a2b3c4d]. It stands
// before everything that keeps or shows more than who decides has to see: rows
// beside the inputs, the trail, logs, messages. It errs towards masking.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync/atomic"
)

// key is this installation's. Without Use it is this process's.
var key atomic.Pointer[[]byte]

func init() {
	k := make([]byte, sha256.Size)
	_, _ = rand.Read(k) // never fails
	key.Store(&k)
}

// Use sets the key of the installation: with it, equal secrets have equal
// masks, and nobody who lacks it can try out what a mask stands for.
func Use(secret []byte) {
	k := append([]byte{}, secret...)
	key.Store(&k)
}

const (
	maskOpen  = "[secret:"
	maskClose = "]"
	maskLen   = len(maskOpen) + 8 + len(maskClose)
)

// Mask is what stands for a secret.
func Mask(secret string) string {
	h := hmac.New(sha256.New, *key.Load())
	h.Write([]byte(secret))
	return maskOpen + hex.EncodeToString(h.Sum(nil)[:4]) + maskClose
}

// masked reports whether a mask begins at i.
func masked(s string, i int) bool {
	if !strings.HasPrefix(s[i:], maskOpen) || len(s)-i < maskLen || s[i+maskLen-1] != maskClose[0] {
		return false
	}
	for _, c := range []byte(s[i+len(maskOpen) : i+maskLen-1]) {
		if !hexa[c] {
			return false
		}
	}
	return true
}

// Text returns s with its secrets masked. What is masked stays as it is.
func Text(s string) string {
	spans := find(s)
	if len(spans) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, f := range spans {
		b.WriteString(s[at:f.from])
		b.WriteString(Mask(s[f.from:f.to]))
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// Has reports whether Text would mask anything.
func Has(s string) bool { return len(find(s)) > 0 }

// A Secret shows only its mask, however it is printed.
type Secret string

// String implements fmt.Stringer.
func (s Secret) String() string { return Mask(string(s)) }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return s.String() }

// MarshalText implements encoding.TextMarshaler, and so JSON and slog.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
