package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// niceness counts the threads of this process by it.
func niceness(t *testing.T) map[string]int {
	t.Helper()
	const nice = 16 // behind the name
	tasks, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, task := range tasks {
		raw, err := os.ReadFile(task)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		out[strings.Fields(rest)[nice]]++
	}
	return out
}

// Who steps back takes no other goroutine with it.
func TestAThreadThatStepsBackEnds(t *testing.T) {
	var during map[string]int
	var tid int
	done := make(chan struct{})
	go func() {
		defer close(done)
		stepBack()
		during, tid = niceness(t), syscall.Gettid()
	}()
	<-done
	if during["10"] != 1 {
		t.Fatalf("threads by niceness: %v", during)
	}
	for syscall.Tgkill(syscall.Getpid(), tid, 0) == nil { // it ends after its goroutine
		giveWay()
	}
	if after := niceness(t); after["10"] != 0 {
		t.Errorf("threads by niceness: %v", after)
	}
}
