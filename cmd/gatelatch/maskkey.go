package main

import (
	"crypto/rand"
	"errors"
	"io/fs"

	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/redact"
)

// ensureMaskKey makes masks of this installation its own. Losing the file
// costs nothing but that old masks are not recognised.
func ensureMaskKey(state statedir.Dir) error {
	err := statedir.WriteKey(state.MaskKey(), rand.Text()+rand.Text())
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return useMaskKey(state)
}

// useMaskKey is for commands, which may run where no gateway ever did.
func useMaskKey(state statedir.Dir) error {
	key, err := statedir.ReadKey(state.MaskKey())
	if err == nil {
		redact.Use([]byte(key))
	}
	return err
}
