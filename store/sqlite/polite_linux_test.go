package sqlite

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Who steps back takes no other goroutine with it, and not the whole process.
func TestAThreadThatStepsBackEnds(t *testing.T) {
	type place struct{ tid, nice int }
	over := make(chan struct{})
	defer close(over)
	for stepped := 0; stepped < 3; {
		at := make(chan place)
		go func() {
			stepBack()
			nice, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
			p := place{syscall.Gettid(), 20 - nice} // as the kernel counts
			if p.tid == syscall.Getpid() {
				runtime.LockOSThread() // so that the next gets another
				defer runtime.UnlockOSThread()
				at <- p
				<-over
				return
			}
			at <- p
		}()
		switch p := <-at; {
		case p.tid == syscall.Getpid():
			if p.nice != 0 {
				t.Fatalf("the first thread has niceness %d", p.nice)
			}
		case p.nice != 10:
			t.Fatalf("a thread has niceness %d", p.nice)
		default:
			for !ended(p.tid) {
				giveWay()
			}
			stepped++
		}
	}
}

func ended(tid int) bool {
	_, err := os.Stat(fmt.Sprint("/proc/self/task/", tid))
	return errors.Is(err, os.ErrNotExist)
}
