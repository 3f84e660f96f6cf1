package main

import (
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// SEC-52: the gateway leaves no memory for others of its user to read.
func TestMemoryIsNotForOthers(t *testing.T) {
	defer keepUmask()()
	restrictFiles()
	dumpable, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_DUMPABLE, 0, 0)
	var core syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &core); err != nil || errno != 0 || dumpable != 0 || core.Cur != 0 {
		t.Errorf("dumpable %d, core %d, %v %v", dumpable, core.Cur, errno, err)
	}
}

// SEC-52: what the store would follow is refused.
func TestLinkedDatabaseIsRefused(t *testing.T) {
	for _, name := range []string{"gatelatch.db", "gatelatch.db-wal", "gatelatch.db-shm", "gatelatch.db-redo0", "gatelatch.db-redo1"} {
		opt := gatewayOptions{state: statedir.Dir(t.TempDir() + "/state"), listen: "127.0.0.1:0", config: t.TempDir(), log: slog.New(slog.DiscardHandler)}
		if err := opt.state.Prepare(); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/null", string(opt.state)+"/"+name); err != nil {
			t.Fatal(err)
		}
		g, err := startGateway(opt)
		if err == nil {
			_ = g.close()
		}
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s may be a link: %v", name, err)
		}
	}
}
