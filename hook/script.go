package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Limits of a script.
const (
	DefaultTimeout = 10 * time.Second
	MaxOutput      = 1 << 20
	maxReason      = 4 << 10
	drain          = time.Second // for what it left behind to let go of its output
)

// exitBlock is the exit status that blocks, with standard error as the reason.
const exitBlock = 2

// Script is a hook that runs a program, without a shell. It gets the call as
// JSON on standard input:
//
//	{"event":"before","tool":…,"input":…,"dir":…,"kind":…,
//	 "session":{"id":…,"name":…,"project":…,"mode":…}}
//
// and answers on standard output: nothing or {} for no opinion,
// {"block":true,"reason":"…"}, or {"input":{…}}, whose fields take the place of
// those of the same name. Status 2 blocks with standard error as the reason.
// Anything else, also a time-out, an unknown field or too much output, is an
// error, which blocks. As an after-hook it gets "event":"after", and "outcome"
// and "result" besides; what it prints does not count.
type Script struct {
	Path    string        // absolute
	Timeout time.Duration // 0 is DefaultTimeout
}

var (
	_ gatelatch.Hook      = Script{}
	_ gatelatch.AfterHook = Script{}
)

// Name implements gatelatch.Hook.
func (s Script) Name() string { return filepath.Base(s.Path) }

// Before implements gatelatch.Hook.
func (s Script) Before(ctx context.Context, c *gatelatch.Call, sess *gatelatch.Session) (gatelatch.HookResult, error) {
	question, err := encode("before", c, sess)
	if err != nil {
		return gatelatch.HookResult{}, err
	}
	out, reason, err := s.run(ctx, question)
	switch {
	case err != nil:
		return gatelatch.HookResult{}, err
	case reason != "":
		return gatelatch.HookResult{Block: true, Reason: reason}, nil
	}
	return decode(out, c.Input)
}

// After implements gatelatch.AfterHook. Its error, which is logged, leaves out
// what the script wrote: that may quote the call.
func (s Script) After(ctx context.Context, c *gatelatch.Call, sess *gatelatch.Session) error {
	question, err := encode("after", c, sess)
	if err != nil {
		return err
	}
	_, reason, err := s.run(ctx, question)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return errors.New(exit.String())
	case reason != "":
		return fmt.Errorf("exit status %d", exitBlock)
	}
	return err
}

// run returns what the script printed, or why it blocks.
func (s Script) run(ctx context.Context, question []byte) (out []byte, reason string, err error) {
	if !filepath.IsAbs(s.Path) {
		return nil, "", fmt.Errorf("hook %q: the path must be absolute", s.Path)
	}
	timeout := s.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, stop := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it did not answer within %s", timeout))
	defer stop()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)

	stdout := &limited{most: MaxOutput, full: func() { abort(fmt.Errorf("it printed more than %d bytes", MaxOutput)) }}
	stderr := &limited{most: maxReason}
	cmd := exec.CommandContext(ctx, s.Path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(question), stdout, stderr, drain
	ownGroup(cmd)
	err = cmd.Run()

	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		_ = killGroup(cmd) // its members may be gone by now
		return nil, "", errors.New("it left a process behind that holds its output")
	case errors.As(err, &exit) && exit.ExitCode() == exitBlock:
		return nil, blockReason(stderr.String()), nil
	case err != nil:
		return nil, "", fmt.Errorf("%w: %.200s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), "", nil
}

func blockReason(stderr string) string {
	if text := strings.TrimSpace(strings.ToValidUTF8(stderr, "\uFFFD")); text != "" {
		return text
	}
	return "blocked by a hook"
}

// limited keeps the first bytes and takes the rest without keeping it.
type limited struct {
	bytes.Buffer
	most int
	full func()
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.most - l.Len()
	if len(p) > room && l.full != nil {
		l.full()
	}
	l.Buffer.Write(p[:min(len(p), room)])
	return len(p), nil
}

// ReadFrom hides bytes.Buffer's, which knows no limit.
func (l *limited) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{l}, r)
}

type question struct {
	Event   string          `json:"event"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Dir     string          `json:"dir,omitempty"`
	Kind    gatelatch.Kind  `json:"kind"`
	Session session         `json:"session"`

	Outcome gatelatch.OutcomeKind `json:"outcome,omitempty"` // after: done or failed
	Result  *string               `json:"result,omitempty"`  // after: what came of it, if that is kept
}

type session struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Project string `json:"project,omitempty"`
	Mode    string `json:"mode,omitempty"`
}

func encode(event string, c *gatelatch.Call, s *gatelatch.Session) ([]byte, error) {
	q := question{Event: event, Tool: c.Tool, Input: c.Input, Dir: c.Dir, Kind: c.Kind}
	if s != nil {
		q.Session = session{s.ID, s.Name, s.Project, s.Mode}
	}
	if o := c.Outcome; o != nil {
		q.Outcome = o.Kind
		if o.Result != nil {
			text := strings.ToValidUTF8(string(o.Result), "\uFFFD")
			q.Result = &text
		}
	}
	raw, err := strictjson.Marshal(q)
	return append(raw, '\n'), err // a whole line: scripts read lines
}

type answer struct {
	Block  bool            `json:"block"`
	Reason string          `json:"reason"`
	Input  json.RawMessage `json:"input"`
}

func decode(out, input []byte) (res gatelatch.HookResult, err error) {
	if len(bytes.TrimSpace(out)) == 0 {
		return res, nil
	}
	var a answer
	if err := strictjson.Unmarshal(out, &a); err != nil {
		return res, fmt.Errorf("its answer: %w", err)
	}
	switch {
	case a.Block && a.Input != nil:
		return res, errors.New("its answer both blocks and replaces the input")
	case a.Block && a.Reason == "":
		a.Reason = "blocked by a hook"
	case !a.Block && a.Reason != "":
		return res, errors.New("its answer has a reason but does not block")
	}
	res = gatelatch.HookResult{Block: a.Block, Reason: a.Reason}
	if a.Input != nil {
		res.Input, err = strictjson.Merge(input, a.Input)
	}
	return res, err
}
