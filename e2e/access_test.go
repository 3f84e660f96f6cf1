package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

// What an agent runs does not decide, even if a person let it run: a script
// hides the command from the rules, not from the socket.
func TestAgentsToolsDoNotDecide(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "version: 1\nallow: ['Bash(./tidy)']")
	a := gatedAgent(t, g)
	script := fmt.Sprintf("#!/bin/sh\n%s ls --state %s >said 2>&1\necho $? >code\n", need(t, product).gatelatch, g.state)
	if err := os.WriteFile(filepath.Join(a.project, "tidy"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := a.print(scriptedmodel.Prompt(scriptedmodel.Bash("./tidy"), scriptedmodel.Bash("env gatelatch allow cal_1"), scriptedmodel.Say("done")), "--allowedTools=Bash")
	wantDone(t, s.result())
	said, err := os.ReadFile(filepath.Join(a.project, "said"))
	if err != nil {
		t.Fatal(err)
	}
	if code, err := os.ReadFile(filepath.Join(a.project, "code")); err != nil || strings.TrimSpace(string(code)) == "0" || !strings.Contains(string(said), "an agent started this command") {
		t.Errorf("the agent's script ended with %s (%v) and heard: %s", code, err, said)
	}
	a.sawRefusal("is for people")
	g.cli("ls") // we started the gateway, and are no agent's
}

// stranger runs a program as a user who is neither root nor the gateway's.
func stranger(t *testing.T, uid int, stdin string, args ...string) (out string, ok bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("only root can act as other users: run make test as root")
	}
	id := fmt.Sprint(uid)
	cmd := exec.CommandContext(t.Context(), "setpriv", append([]string{"--reuid=" + id, "--regid=" + id, "--clear-groups", "--"}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = cleanEnv("/nonexistent"), "/", strings.NewReader(stdin)
	raw, err := cmd.CombinedOutput()
	return string(raw), err == nil
}

// SEC-07: another user of the machine reads nothing and reaches no socket;
// one that is named can ask, with a key of its own, and nothing else.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	const builder, other = 61234, 61235
	g := newGateway(t)
	open := tempDir(t)
	if err := os.Chmod(open, 0o711); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(open, "agent.sock")
	if err := os.WriteFile(filepath.Join(g.config, "config.yaml"), fmt.Appendf(nil, "agent_users: ['%d']\nagent_socket: %s\n", builder, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	g.start()
	for _, file := range []string{"agent.key", "approver.key", "gatelatch.db", "run/gateway.json"} {
		if out, ok := stranger(t, other, "", "cat", filepath.Join(g.state, file)); ok {
			t.Errorf("another user reads %s: %s", file, out)
		}
	}
	hook := filepath.Join(open, "gatelatch-hook")
	copyProgram(t, need(t, product).hook, hook)
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(g.cli("keys", "add", "builder", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	ask := func(uid int) string {
		dir := filepath.Join(open, fmt.Sprint(uid))
		where := fmt.Sprintf(`{"pid":1,"agent_socket":%q}`, socket)
		for _, err := range []error{
			os.MkdirAll(filepath.Join(dir, "run"), 0o700), os.WriteFile(filepath.Join(dir, "agent.key"), []byte(made.Secret), 0o600),
			os.WriteFile(filepath.Join(dir, "run", "gateway.json"), []byte(where), 0o600),
			os.Chown(dir, uid, uid), os.Chown(dir+"/run", uid, uid), os.Chown(dir+"/agent.key", uid, uid), os.Chown(dir+"/run/gateway.json", uid, uid),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		event := `{"session_id":"s","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"toolu_1","tool_input":{"command":"pwd"}}`
		out, _ := stranger(t, uid, event, hook, "claude", "--state", dir)
		return out
	}
	if out := ask(builder); !strings.Contains(out, `"permissionDecision":"allow"`) {
		t.Errorf("a user who is named can't ask: %s", out)
	}
	if out := ask(other); !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "may not ask here") {
		t.Errorf("a user who is not named, with the key: %s", out)
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// SEC-05: a name that leads to this machine does not lead into the gateway. In
// the page of such a name every request is of the same origin, as after DNS
// rebinding, and the cookie comes along.
func TestRebindingNameGetsNothing(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in := openInbox(t, g)
	p := newStub(t, g).propose("touch x")
	own := in.catchDecision(in.waitCard("touch x"))
	_, port, _ := strings.Cut(strings.TrimPrefix(g.url, "http://"), ":")
	other := in.sibling()
	for _, name := range []string{"evil.localhost", "localhost", "127.0.0.2", "[::ffff:127.0.0.1]"} {
		base := "http://" + name + ":" + port
		if _, err := chromedp.Run(other.ctx, chromedp.Navigate(base+"/")); err != nil {
			continue // nobody listens there
		}
		if read[string](other, "see where we are", "location.origin") != base {
			continue
		}
		got := read[[]int](other, "ask as the same origin", fmt.Sprintf(`Promise.all([
			...["/", "/v1/status", "/v1/calls?state=pending", "/v1/events?after=0", "/healthz"].map(p => fetch(p, {credentials: "include"})),
			fetch(%q, {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"}, body: %q}),
		].map(f => f.then(r => r.status, () => 0)))`, strings.TrimPrefix(own.url, g.url), own.body))
		if len(got) != 6 || slices.ContainsFunc(got, func(status int) bool { return status != 421 && status != 0 }) {
			t.Errorf("%s got %v", name, got)
		}
		if name == "evil.localhost" && !slices.Contains(got, 421) {
			t.Errorf("%s did not reach the gateway, so this proves nothing: %v", name, got)
		}
	}
	if w := g.waiting(); len(w) != 1 {
		t.Fatalf("the call was decided; what waits is %v", w)
	}
	if p.answered() {
		t.Error("the agent was answered")
	}
}
