// Package statedir knows what lies where in the state directory. The hook, the
// command line and the gateway find each other through it.
package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is an absolute path of a state directory.
type Dir string

// Database is the store's file.
func (d Dir) Database() string { return filepath.Join(string(d), "gatelatch.db") }

// AgentKey is the file with the key that can only ask.
func (d Dir) AgentKey() string { return filepath.Join(string(d), "agent.key") }

// ApproverKey is the file with the key of the person's command line.
func (d Dir) ApproverKey() string { return filepath.Join(string(d), "approver.key") }

// CheckpointKey is the file with the key that signs checkpoints of the trail.
func (d Dir) CheckpointKey() string { return filepath.Join(string(d), "checkpoint.key") }

// MaskKey is the file with the key that masks of secrets are made with.
func (d Dir) MaskKey() string { return filepath.Join(string(d), "mask.key") }

// Hosts holds what was written into the settings of agents.
func (d Dir) Hosts() string { return filepath.Join(string(d), "hosts") }

// Run holds what is there only while a gateway runs.
func (d Dir) Run() string { return filepath.Join(string(d), "run") }

// Lock is held by the gateway that runs here.
func (d Dir) Lock() string { return filepath.Join(d.Run(), "lock") }

// Log is where a gateway that was started on demand writes.
func (d Dir) Log() string { return filepath.Join(string(d), "gateway.log") }

func (d Dir) gateway() string { return filepath.Join(d.Run(), "gateway.json") }

// Default is $XDG_STATE_HOME/gatelatch, or ~/.local/state/gatelatch.
func Default() (Dir, error) {
	if s := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(s) {
		return Dir(filepath.Join(s, "gatelatch")), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return Dir(filepath.Join(home, ".local", "state", "gatelatch")), nil
}

// Prepare makes the directory and refuses one that others could reach into.
func (d Dir) Prepare() error {
	if !filepath.IsAbs(string(d)) {
		return fmt.Errorf("%s: the state directory needs an absolute path", d)
	}
	for _, p := range []string{string(d), d.Run()} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return err
		}
		if err := private(p, fs.ModeDir); err != nil {
			return err
		}
	}
	return nil
}

// Check tells what Prepare would refuse, and makes nothing.
func (d Dir) Check() error {
	for _, p := range []string{string(d), d.Run()} {
		if err := private(p, fs.ModeDir); err != nil {
			return err
		}
	}
	return nil
}

// CheckSocket refuses a socket on which somebody else could listen.
func CheckSocket(path string) error {
	return errors.Join(private(filepath.Dir(path), fs.ModeDir), private(path, fs.ModeSocket))
}

// private checks that path is of the given type, ours, and for us alone.
func private(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != kind:
		return fmt.Errorf("%s is a %s, refusing to use it", path, describe(info.Mode()))
	}
	return checkOwner(path, info)
}

func describe(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "directory"
	case m.IsRegular():
		return "file"
	}
	return "special file"
}

// A Gateway says where a running gateway listens.
type Gateway struct {
	PID            int    `json:"pid"`
	URL            string `json:"url"`             // for browsers
	AgentSocket    string `json:"agent_socket"`    // can only ask
	ApproverSocket string `json:"approver_socket"` // everything else
}

// ErrNoGateway means that none has been started here.
var ErrNoGateway = errors.New("no gateway runs")

// Gateway reads where the gateway listens. The file of one that was killed is
// still there: only connecting tells.
func (d Dir) Gateway() (Gateway, error) {
	var g Gateway
	raw, err := readPlain(d.gateway(), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return g, ErrNoGateway
	}
	if err != nil {
		return g, err
	}
	err = json.Unmarshal(raw, &g)
	return g, err
}

// Announce says where the gateway listens, in one step.
func (d Dir) Announce(g Gateway) error {
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return writeKey(d.gateway(), string(raw), os.Rename)
}

// Retire takes the announcement back.
func (d Dir) Retire() error { return os.Remove(d.gateway()) }

// ReadKey reads a key file and refuses one that others can read.
func ReadKey(path string) (string, error) {
	if err := private(path, 0); err != nil { // which says what is wrong
		return "", err
	}
	raw, err := readPlain(path, checkOwner)
	return strings.TrimSpace(string(raw)), err
}

// readPlain reads a file that is no link, and that check accepts as it is open.
func readPlain(path string, check func(string, fs.FileInfo) error) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if check != nil {
		info, err := f.Stat()
		if err == nil {
			err = check(path, info)
		}
		if err != nil {
			return nil, err
		}
	}
	return io.ReadAll(f)
}

// CheckFile refuses a link, whatever else is no file, and one that others can
// read; there may be none.
func CheckFile(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is a %s, refusing to use it", path, describe(info.Mode()))
	case err == nil:
		return checkOwner(path, info)
	}
	return err
}

// WriteKey creates a key file for us alone, in one step: who is killed leaves
// no half of it. It never overwrites one.
func WriteKey(path, key string) error { return writeKey(path, key, os.Link) }

// ReplaceKey does the same over a key file that is there.
func ReplaceKey(path, key string) error { return writeKey(path, key, os.Rename) }

func writeKey(path, key string, place func(tmp, path string) error) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|noFollow, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }()
	_, err = f.WriteString(key + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return place(tmp, path)
}
