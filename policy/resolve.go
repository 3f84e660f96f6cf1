package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxLinks is what Linux follows in one path.
const maxLinks = 40

// resolve follows an absolute path as the system would, one element after the
// other: links are followed, ".." is the parent of where that led. What does
// not exist yet is kept as it is. The result has forward slashes. Each element
// takes one of left, if that is given: whoever makes the links decides how many
// there are.
func resolve(name string, left *int) (string, error) {
	resolved, _, err := follow(name, left)
	return resolved, err
}

// follow also returns what the path is called on the way: each name under
// which a link was found, the links before it followed.
func follow(name string, left *int) (resolved string, names []string, err error) {
	return followBy(link, name, left)
}

func followBy(link func(string) (string, error), name string, left *int) (resolved string, names []string, err error) {
	volume := filepath.VolumeName(name)
	at, rest := "/", elements(name[len(volume):])
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0]) // at is clean: ".." is its parent
		rest = rest[1:]
		if left != nil {
			if *left--; *left < 0 {
				return "", names, fmt.Errorf("%s: too much to resolve", name)
			}
		}
		target, err := link(volume + next)
		switch {
		case err != nil:
			return "", names, err
		case target == "":
			at = next
			continue
		}
		names = append(names, filepath.ToSlash(volume)+path.Join(next, path.Join(rest...)))
		if links++; links > maxLinks {
			return "", names, fmt.Errorf("%s: too many links", name)
		}
		if filepath.IsAbs(target) {
			volume, at = filepath.VolumeName(target), "/"
			target = target[len(volume):]
		}
		rest = append(elements(target), rest...)
	}
	return filepath.ToSlash(volume) + at, names, nil
}

// link returns where a link points to, "" if there is none.
func link(name string) (string, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	return os.Readlink(name)
}

func elements(name string) []string {
	return strings.FieldsFunc(filepath.ToSlash(name), func(r rune) bool { return r == '/' })
}
