package sqlite

import (
	"os"
	"runtime"
	"syscall"
)

// giveWay lets threads run that wait for this one's processor. The kernel would
// keep them waiting for a millisecond or more.
func giveWay() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

// startWriting begins to write what a file got, so that the disk has little to
// do when it is synced: a sync of the redo log would have to wait behind that.
func startWriting(f *os.File) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), 0, 0, write)
}

// stepBack makes the calling goroutine, to its end, one that others go before.
// Its thread ends with it: nobody may go back to the front. The first thread of
// a process can't end, and stays where it is.
func stepBack() {
	const back = 10
	runtime.LockOSThread()
	if syscall.Gettid() == syscall.Getpid() {
		runtime.UnlockOSThread()
		return
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), back)
}
