package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch/adapter/control"
)

// child is the agent's process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte   // of its stdout, closed at the end
	ended chan struct{} // it has exited
	bad   error         // why lines ended, if not with the agent
	shut  sync.Once
}

// start starts the agent. The thread that does is kept until the agent ends:
// it is the one whose death the kernel watches.
func start(program string, args []string, stderr io.Writer) (*child, error) {
	cmd := exec.Command(program, args...) //nolint:gosec // which program it is, the user says
	separate(cmd)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_SIMPLE=") }) // --bare by another name
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin, lines: make(chan []byte), ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.read(stdout)
		_ = cmd.Wait() // how it ended is in ProcessState
		close(c.ended)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	return c, nil
}

// read passes lines on. One that is too long ends the agent: it can't be known
// what it asked for.
func (c *child) read(stdout io.Reader) {
	defer close(c.lines)
	sc := bufio.NewScanner(stdout)
	sc.Buffer(nil, control.MaxMessage)
	for sc.Scan() {
		c.lines <- slices.Clone(sc.Bytes())
	}
	if err := sc.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
		c.bad = fmt.Errorf("the agent's output can't be read: %w", err)
		c.kill()
	}
}

func (c *child) write(line []byte) error {
	_, err := c.stdin.Write(append(slices.Clone(line), '\n'))
	return err
}

// hangUp ends the agent's input; it ends when it is done.
func (c *child) hangUp() { c.shut.Do(func() { _ = c.stdin.Close() }) }

func (c *child) kill() { endGroup(c.cmd.Process) }

// endTime is how long an agent has to end when it is asked to.
const endTime = 5 * time.Second

// end asks the agent to end, and sees to it.
func (c *child) end(sig os.Signal) {
	if c.cmd.Process.Signal(sig) != nil {
		c.kill()
		return
	}
	go func() {
		t := time.NewTimer(endTime)
		defer t.Stop()
		select {
		case <-c.ended:
		case <-t.C:
			c.kill()
		}
	}()
}
