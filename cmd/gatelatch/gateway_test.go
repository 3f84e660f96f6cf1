package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// testGateway runs a whole gateway in this process.
func testGateway(t *testing.T) gatewayOptions {
	t.Helper()
	return testGatewayWith(t, func(*gatewayOptions) {})
}

func testGatewayWith(t *testing.T, change func(*gatewayOptions)) gatewayOptions {
	t.Helper()
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	opt := gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: filepath.Join(tmp, "config"), listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler)}
	change(&opt)
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
		if _, err := opt.state.Gateway(); !errors.Is(err, statedir.ErrNoGateway) {
			t.Errorf("a stopped gateway is still announced: %v", err)
		}
	})
	return opt
}

// command runs the command line as a person would.
func command(t *testing.T, opt gatewayOptions, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	defer keepUmask()()
	root := newRootCmd()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append(args, "--state", string(opt.state)))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func ask(t *testing.T, opt gatewayOptions, message, command string) *gatelatch.Batch {
	t.Helper()
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	input, err := strictjson.Marshal(fields{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "Agent"}, Message: message,
		Calls: []gatelatch.ProposedCall{{Ref: message, Kind: gatelatch.Permission, Tool: "Bash", Input: input, Dir: "/srv/project"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecidingInATerminal(t *testing.T) {
	opt := testGateway(t)
	if out, err := command(t, opt, "ls"); err != nil || out != "Nothing waits.\n" {
		t.Errorf("ls: %q, %v", out, err)
	}
	first, second := ask(t, opt, "m1", "git push"), ask(t, opt, "m2", "echo \x1b[31m; reboot")
	out, err := command(t, opt, "ls")
	if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "git push") || strings.Contains(out, "\x1b") {
		t.Errorf("ls: %q, %v", out, err)
	}
	out, err = command(t, opt, "show", shortID(second.Calls[0].ID))
	if err != nil || !strings.Contains(out, "⟨ESC⟩") || strings.Contains(out, "\x1b") || !strings.Contains(out, second.Calls[0].Digest.String()) {
		t.Errorf("show: %q, %v", out, err)
	}
	if out, err := command(t, opt, "allow", first.Calls[0].ID[:12]); err != nil || !strings.HasPrefix(out, "allowed") {
		t.Errorf("allow: %q, %v", out, err)
	}
	_, err = command(t, opt, "deny", first.Calls[0].ID)
	if !errors.Is(err, gatelatch.ErrSettled) || !strings.Contains(err.Error(), "already decided by") || hintOf(err) == "" {
		t.Errorf("a second decision: %v", err)
	}
	out, err = command(t, opt, "deny", second.Calls[0].ID, "--note", "no reboots", "--json")
	var c api.Call
	if e := json.Unmarshal([]byte(out), &c); err != nil || e != nil || c.State != "denied" || c.Decided.Note != "no reboots" {
		t.Errorf("deny --json: %q, %v, %v", out, err, e)
	}
	if out, err := command(t, opt, "ls", "--settled"); err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "denied by") {
		t.Errorf("ls --settled: %q, %v", out, err)
	}
}

func TestUnknownCallsGetAHint(t *testing.T) {
	opt := testGateway(t)
	for _, id := range []string{"cal_nope00", "x", "cal_"} {
		if _, err := command(t, opt, "allow", id); err == nil || hintOf(err) == "" {
			t.Errorf("%s: %v, hint %q", id, err, hintOf(err))
		}
	}
}

func TestPauseAndUnpause(t *testing.T) {
	opt := testGateway(t)
	waits := ask(t, opt, "m1", "git push")
	if out, err := command(t, opt, "pause", "--note", "lunch"); err != nil || !strings.Contains(out, "everything is denied") {
		t.Errorf("pause: %q, %v", out, err)
	}
	if b := ask(t, opt, "m2", "pwd"); b.Calls[0].State != gatelatch.Denied || !strings.Contains(b.Calls[0].Answer(), "lunch") {
		t.Errorf("while paused: %+v", b.Calls[0])
	}
	if _, err := command(t, opt, "allow", waits.Calls[0].ID); err == nil {
		t.Error("allowed while paused")
	}
	if _, err := command(t, opt, "unpause"); err != nil {
		t.Error(err)
	}
	if b := ask(t, opt, "m3", "pwd"); b.Calls[0].State != gatelatch.Allowed {
		t.Errorf("after: %+v", b.Calls[0])
	}
}

func TestMisusedCommandsPointAtTheirHelp(t *testing.T) {
	for _, args := range [][]string{{"allow"}, {"ls", "x"}, {"ls", "--bogus"}, {"bogus"}} {
		root := newRootCmd()
		root.SetArgs(args)
		cmd, err := root.ExecuteContextC(t.Context())
		if err = helped(cmd, err); err == nil || !strings.Contains(hintOf(err), "--help") {
			t.Errorf("%v: %v, hint %q", args, err, hintOf(err))
		}
	}
}

func TestOpenPrintsALinkThatIsNotAQuery(t *testing.T) {
	opt := testGateway(t)
	out, err := command(t, opt, "open", "--print")
	if err != nil || !strings.Contains(out, "/login#c=") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestNoGatewayHasAHint(t *testing.T) {
	_, err := command(t, gatewayOptions{state: statedir.Dir(t.TempDir())}, "ls")
	if !errors.Is(err, client.ErrUnreachable) || !strings.Contains(hintOf(err), "gatelatch serve") {
		t.Errorf("%v, hint %q", err, hintOf(err))
	}
}

func TestGatewayRefusesToStart(t *testing.T) {
	running := testGateway(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for name, tt := range map[string]struct {
		change func(*gatewayOptions)
		want   string
	}{
		"a second one on the same state": {func(o *gatewayOptions) { o.state = running.state }, "already runs"},
		"an address others can reach":    {func(o *gatewayOptions) { o.listen = "0.0.0.0:0" }, "not a loopback address"},
		"a public name":                  {func(o *gatewayOptions) { o.listen = "example.com:80" }, "not a loopback address"},
		"half a certificate":             {func(o *gatewayOptions) { o.tlsCert = "/c.pem" }, "go together"},
		"a certificate that is not there": {func(o *gatewayOptions) {
			o.listen, o.tlsCert, o.tlsKey = "0.0.0.0:0", "/nonexistent/c", "/nonexistent/k"
		}, "no such file"},
		"users without a socket": {func(o *gatewayOptions) {
			writeFile(t, filepath.Join(o.config, "config.yaml"), "agent_users: [root]\n")
		}, "go together"},
		"a port that is taken":         {func(o *gatewayOptions) { o.listen = taken.Addr().String() }, "address already in use"},
		"a store that is not known":    {func(o *gatewayOptions) { o.store = "mysql://x" }, "none that this gatelatch knows"},
		"a database that is not there": {func(o *gatewayOptions) { o.store = "postgres://nobody@127.0.0.1:1/none" }, "connect"},
		"a state that is not a database": {func(o *gatewayOptions) {
			writeFile(t, o.state.Database(), "this is not a database at all, however long it may be")
		}, "not a database"},
		"no port": {func(o *gatewayOptions) { o.listen = "127.0.0.1" }, "missing port"},
		"a configuration with a typo": {func(o *gatewayOptions) {
			writeFile(t, filepath.Join(o.config, "config.yaml"), "lissten: 127.0.0.1:1\n")
		}, "lissten"},
		"a configuration that others can write": {func(o *gatewayOptions) {
			path := filepath.Join(o.config, "config.yaml")
			writeFile(t, path, "listen: 127.0.0.1:0\n")
			if err := os.Chmod(path, 0o666); err != nil {
				t.Fatal(err)
			}
		}, "written by others"},
		"a configuration that others can replace": {func(o *gatewayOptions) {
			writeFile(t, filepath.Join(o.config, "config.yaml"), "listen: 127.0.0.1:0\n")
			if err := os.Chmod(o.config, 0o777); err != nil {
				t.Fatal(err)
			}
		}, "written by others"},
		"a database that others can read": {func(o *gatewayOptions) {
			writeFile(t, o.state.Database(), "")
			if err := os.Chmod(o.state.Database(), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "open to other users"},
		"a hook that is not there": {func(o *gatewayOptions) {
			writeFile(t, filepath.Join(o.config, "config.yaml"), "hooks:\n  - path: /nonexistent/check\n")
		}, "no such file"},
		"a hook without an absolute path": {func(o *gatewayOptions) {
			writeFile(t, filepath.Join(o.config, "config.yaml"), "hooks:\n  - path: check\n")
		}, "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			opt := gatewayOptions{state: statedir.Dir(filepath.Join(t.TempDir(), "s")), config: t.TempDir(), listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler)}
			tt.change(&opt)
			g, err := startGateway(opt)
			if err == nil {
				_ = g.close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// The demo asks what it says it asks.
func TestDemo(t *testing.T) {
	opt := testGateway(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	out := &lines{w: &bytes.Buffer{}}
	go func() {
		defer close(done)
		demoSessions()[0].run(ctx, opt.state, 0, out)
	}()
	c, err := client.ForPeople(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	err = c.Events(t.Context(), 0, func(e api.Event) bool {
		if e.Kind == string(gatelatch.CallJudged) {
			judged++
		}
		return judged < 4
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Calls(t.Context(), "pending", "", 0)
	if err != nil || len(list.Calls) != 3 || list.Calls[0].Batch.Size != 3 {
		t.Fatalf("%d calls wait, %v", len(list.Calls), err)
	}
	stop()
	<-done
	if list, err = c.Calls(t.Context(), "pending", "", 0); err != nil || len(list.Calls) != 0 {
		t.Errorf("after the demo %d calls still wait for nobody, %v", len(list.Calls), err)
	}
}

func TestQuestionsNeedTheirAnswers(t *testing.T) {
	opt := testGateway(t)
	c, err := client.ForAgents(opt.state)
	if err != nil {
		t.Fatal(err)
	}
	input, err := strictjson.Marshal(fields{"questions": []fields{{"question": "Delete prod?", "options": []fields{{"label": "no"}, {"label": "yes"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Propose(t.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "Agent"}, Message: "m",
		Calls: []gatelatch.ProposedCall{{Kind: gatelatch.Question, Tool: "AskUserQuestion", Input: input}},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := b.Calls[0].ID
	for _, args := range [][]string{{"allow", id}, {"allow", id, "--answer", "How long?=x"}} {
		if _, err := command(t, opt, args...); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if out, err := command(t, opt, "allow", id, "--answer", "Delete prod?=no"); err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := command(t, opt, "show", id); err != nil || !strings.Contains(out, `answered "Delete prod?" with "no"`) {
		t.Errorf("%q, %v", out, err)
	}
}

// An agent's words can't look like ours.
func TestShowKeepsForeignLinesApart(t *testing.T) {
	var out bytes.Buffer
	printCall(&out, api.Call{ID: "cal_1", Digest: "d", State: "pending", Claim: "fine\ndigest   fake\nstate    allowed by you"})
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "fake") && !strings.HasPrefix(line, "  | ") {
			t.Errorf("a line of the agent's stands as ours: %q", line)
		}
	}
}

// A socket's name has a short limit; a state directory's path has none.
func TestLongStatePaths(t *testing.T) {
	opt := gatewayOptions{
		state: statedir.Dir(filepath.Join(t.TempDir(), strings.Repeat("long-", 30))), config: t.TempDir(),
		listen: "127.0.0.1:0", log: slog.New(slog.DiscardHandler),
	}
	g, err := startGateway(opt)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, opt, "ls"); err != nil || out != "Nothing waits.\n" {
		t.Errorf("ls: %q, %v", out, err)
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.temp); g.temp == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the sockets' directory %q was left behind: %v", g.temp, err)
	}
}
