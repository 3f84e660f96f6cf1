package main

import (
	"crypto/rand"
	"errors"
	"io/fs"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/redact"
)

// ensureMaskKey makes masks and digests of this installation its own. Losing the
// file costs nothing but that old masks are not recognised, nor what was denied
// a moment ago.
func ensureMaskKey(state statedir.Dir) (salt []byte, err error) {
	err = statedir.WriteKey(state.MaskKey(), rand.Text()+rand.Text())
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return maskKey(state)
}

// useMaskKey is for commands, which may run where no gateway ever did.
func useMaskKey(state statedir.Dir) error {
	_, err := maskKey(state)
	return err
}

func maskKey(state statedir.Dir) (salt []byte, err error) {
	key, err := statedir.ReadKey(state.MaskKey())
	if err != nil {
		return nil, err
	}
	redact.Use([]byte(key))
	sum := gatelatch.SumFields("gatelatch.salts.v1", []byte(key))
	return sum[:], nil
}
