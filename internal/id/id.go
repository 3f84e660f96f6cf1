// Package id makes ids and secrets.
package id

import (
	"crypto/rand"
	"encoding/base32"
	"time"
)

var alphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// New returns kind, an underscore, four characters of the time and 108 random
// bits: nobody can guess it. Ids of one moment begin alike, so that a database
// keeps them on the same pages.
func New(kind string) string { return kind + "_" + at(time.Now()) }

// moment is short enough for few ids and long enough for its count, of 20 bits,
// to last most of a day. Then it begins anew.
const moment = time.Second / 16

func at(now time.Time) string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails: it crashes the program instead
	n := now.UnixNano() / int64(moment)
	b[0], b[1], b[2] = byte(n>>12), byte(n>>4), byte(n<<4)|b[2]&0xf
	return alphabet.EncodeToString(b)
}

// Code returns kind, an underscore and 128 random bits: a secret for a moment, as
// short as it may be.
func Code(kind string) string { return kind + "_" + random(16) }

// Secret returns kind, an underscore and 256 random bits.
func Secret(kind string) string { return kind + "_" + random(32) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // as above
	return alphabet.EncodeToString(b)
}
