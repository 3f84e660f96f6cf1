package hookcmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// hosted reports whether the agent that asks is a child of "gatelatch run",
// which is then its gate: the same call must not be asked about twice. Which
// processes are whose is the kernel's word, not the environment's.
func hosted() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getppid()))
	if err != nil {
		return false
	}
	// pid (name) state ppid …: the name may hold anything but ends with the last ")".
	var state string
	var host int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &host); err != nil {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", host))
	if err != nil || exe != own && exe != filepath.Join(filepath.Dir(own), "gatelatch") {
		return false
	}
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", host))
	words := bytes.Split(args, []byte{0})
	return err == nil && len(words) > 1 && string(words[1]) == "run"
}
