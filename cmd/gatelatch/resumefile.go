package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func isUUID(s string) bool { return uuid.MatchString(s) }

// transcriptDir returns the folder that the first line with one names.
func transcriptDir(file string) (string, error) {
	f, err := os.Open(file) //nolint:gosec // found by a pattern in the user's own folder, with a checked name
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		var l struct {
			Cwd string `json:"cwd"`
		}
		if json.Unmarshal(line, &l) == nil && filepath.IsAbs(l.Cwd) {
			return l.Cwd, nil
		}
		if err != nil {
			return "", errors.New("its file names no folder")
		}
	}
}
