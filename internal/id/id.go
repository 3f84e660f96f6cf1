// Package id makes ids and secrets.
package id

import (
	"crypto/rand"
	"encoding/base32"
)

var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// New returns kind, an underscore and 128 random bits: nobody can guess it,
// and its first characters tell it from others.
func New(kind string) string { return kind + "_" + random(16) }

// Secret returns kind, an underscore and 256 random bits.
func Secret(kind string) string { return kind + "_" + random(32) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it crashes the program instead
	return alphabet.EncodeToString(b)
}
