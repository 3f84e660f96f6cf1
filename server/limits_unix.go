//go:build unix

package server

import "syscall"

// mostConns is what the system lets this process have open, less what it needs
// beside connections. Go has raised the soft limit to the hard one.
func mostConns() int {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil {
		return maxConns
	}
	files := min(uint64(lim.Cur), maxConns+spareFiles) //nolint:unconvert // another type on some systems
	return max(64, int(files)-spareFiles)
}
