//go:build noweb

// Package web is left out of this build.
package web

import "io/fs"

// FS returns nil: this gateway has no page.
func FS() fs.FS { return nil }
