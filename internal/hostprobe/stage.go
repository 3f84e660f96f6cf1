package hostprobe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// Stage is the scratch world of one case: nothing of the user's own is in it.
type Stage struct {
	Home    string
	Managed string // a folder that stands in for that of managed settings
	Project string
	State   statedir.Dir
	Hook    string // another hook than the installed one, "" for that

	opt    Options
	ch     Channel
	c      Case
	config string
	model  *scriptedmodel.Model
	url    string
	ends   []func()

	gateway *exec.Cmd
	waited  int  // calls that were seen to wait at once
	failed  bool // the agent's command did
}

func newStage(opt Options, ch Channel, c Case) (*Stage, error) {
	dir, err := os.MkdirTemp(opt.Dir, "")
	if err != nil {
		return nil, err
	}
	s := &Stage{
		Home: filepath.Join(dir, "home"), Managed: filepath.Join(dir, "managed"), Project: filepath.Join(dir, "project"), State: statedir.Dir(filepath.Join(dir, "s")),
		opt: opt, ch: ch, c: c, config: filepath.Join(dir, "config"), model: new(scriptedmodel.Model),
	}
	for _, d := range []string{filepath.Join(s.Home, ".claude"), s.Managed, s.Project, s.config} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(s.State.Prepare(), s.onboard()); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + ln.Addr().String()
	s.serve(ln, s.model)
	return s, nil
}

// onboard answers what a first start would ask.
func (s *Stage) onboard() error {
	raw, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  map[string]any{"approved": []string{"dummy"}},
		"projects":               map[string]any{s.Project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	return errors.Join(err, os.WriteFile(filepath.Join(s.Home, ".claude.json"), raw, 0o600))
}

func (s *Stage) serve(ln net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: most}
	go func() { _ = srv.Serve(ln) }()
	s.ends = append(s.ends, func() { _ = srv.Close() })
}

func (s *Stage) close() {
	for _, end := range s.ends {
		end()
	}
}

// Limit is the host's time limit in seconds.
func (s *Stage) Limit() int {
	if s.c.Limit == 0 {
		return int(most / time.Second)
	}
	return s.c.Limit
}

// Claude is the agent's own command line. Except where only the gate may let a
// call run, the agent itself is content with it: a broken gate must show.
func (s *Stage) Claude(prompt string, more ...string) []string {
	args := append([]string{s.opt.Claude, "-p", "--permission-mode", "default"}, more...)
	if !s.c.Open && !s.ch.Asks {
		args = append(args, "--allowedTools=Bash(touch *)")
	}
	return append(args, "--", prompt)
}

// ungated asks nobody.
func ungated(s *Stage, prompt string) ([]string, error) { return s.Claude(prompt), nil }

// start runs the agent. The channel is closed when it has ended.
func (s *Stage) start(ctx context.Context) (<-chan struct{}, error) {
	line, err := s.ch.Command(s, script(s.c.asked()))
	if err != nil {
		return nil, err
	}
	if s.opt.Managed != "" {
		line = cover(s.opt.Managed, s.Managed, line)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = s.Project
	cmd.WaitDelay = time.Second // a child of it may hold its output open
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home, "USERPROFILE=" + s.Home, "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + s.url, "ANTHROPIC_API_KEY=dummy",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		s.failed = cmd.Wait() != nil
	}()
	s.ends = append(s.ends, func() { _ = cmd.Process.Kill(); <-end })
	return end, nil
}

// cover runs a command that sees another folder in the place of the first.
func cover(dir, with string, line []string) []string {
	unshare := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	return append(append(unshare, "sh", "-ec", `mount --bind "$1" "$2"; shift 2; exec "$@"`, "sh", with, dir), line...)
}

// startGateway runs a real gateway with the rules of the case.
func (s *Stage) startGateway() error {
	if err := os.WriteFile(filepath.Join(s.config, "policy.yaml"), []byte(rules(s.c.Calls)), 0o600); err != nil {
		return err
	}
	var complaints bytes.Buffer
	cmd := exec.Command(s.opt.Gatelatch, "serve", "--json", "--listen", "127.0.0.1:0", "--state", string(s.State), "--config", s.config)
	cmd.Env, cmd.Dir, cmd.Stderr = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home, "USERPROFILE=" + s.Home}, s.Home, &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	s.gateway = cmd
	s.ends = append(s.ends, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	// It prints once it serves.
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		_ = cmd.Wait()
		return fmt.Errorf("the scratch gateway did not start: %s", strings.TrimSpace(complaints.String()))
	}
	return nil
}

// waiting returns the first call that waits for a person.
func (s *Stage) waiting(ctx context.Context) (person *client.Client, call api.Call, err error) {
	if person, err = client.ForPeople(s.State); err != nil {
		return person, call, err
	}
	var wait client.Backoff
	for {
		calls, err := person.Calls(ctx, "pending", "", 1)
		if err == nil && len(calls.Calls) > 0 {
			s.waited = len(calls.Calls)
			return person, calls.Calls[0], nil
		}
		if wait.Wait(ctx) != nil {
			return person, call, errors.Join(errors.New("no call came to wait"), err)
		}
	}
}

// allowAll is a person who allows whatever waits until the agent ends: where no
// folder is known, rules alone do not allow a write.
func (s *Stage) allowAll(ctx context.Context, end <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { <-end; stop() }()
	for {
		person, call, err := s.waiting(ctx)
		if err == nil {
			_, err = person.Decide(ctx, call.ID, api.Decision{State: "allowed", Digest: call.Digest})
		}
		select {
		case <-end:
			return nil
		default:
		}
		if err != nil {
			return err
		}
	}
}
