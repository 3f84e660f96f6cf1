package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch/internal/scriptedmodel"
)

func (g *gateway) socketURL(path string) string {
	return strings.Replace(g.url, "http://", "ws://", 1) + path
}

func (g *gateway) approverKey() string {
	g.t.Helper()
	key, err := os.ReadFile(filepath.Join(g.state, "approver.key"))
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.TrimSpace(string(key))
}

// P1, P2, S9, O12: agents in Node, each in its own protocol, decided by clicks.
// What waits while the gateway is killed runs only after the click that comes
// when it is back.
func TestAgentsOfOtherProtocols(t *testing.T) {
	t.Parallel()
	for protocol, unknown := range map[string]string{"control": "fly_to_the_moon", "sema": "tool:unheard:of", "openclaw": "exec.approval.grant"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, "")
			in, dir := openInbox(t, g), tempDir(t)
			made := func(file string) bool { return exists(filepath.Join(dir, file)) }
			a := startPeer(t, "agent.cjs", protocol, g.socketURL("/ws/"+protocol), g.agentKey(), dir)
			a.event("open")

			a.says(fmt.Sprintf(`{"id":"c0","file":"o","subtype":%q}`, unknown))
			if got := a.answer("c0"); got["allowed"] != false || got["why"] == "" {
				t.Errorf("an unknown request: %v", got)
			}

			a.says(`{"id":"c1","file":"x"}`)
			c := in.waitCard("touch x")
			if made("x") {
				t.Error("it ran before anybody decided")
			}
			c.allow()
			if got := a.answer("c1"); got["allowed"] != true {
				t.Errorf("allowed: %v", got)
			}

			a.says(`{"id":"c2","file":"y"}`)
			in.waitCard("touch y").deny("not today")
			if got := a.answer("c2"); got["allowed"] != false || !strings.Contains(fmt.Sprint(got["why"]), "not today") {
				t.Errorf("denied: %v", got)
			}

			a.says(`{"id":"c3","file":"z"}`)
			in.waitCard("touch z")
			g.kill()
			a.event("lost")
			if made("z") {
				t.Error("it ran when the gateway was killed")
			}
			g.start()
			a.event("open")
			in.waitLive()
			in.waitCard("touch z").allow()
			if got := a.answer("c3"); got["allowed"] != true {
				t.Errorf("after the gateway came back: %v", got)
			}
			if protocol == "control" {
				g.cli("interrupt", "peer")
				a.event("interrupt")
			}
			if !made("x") || made("y") || !made("z") || made("o") {
				t.Errorf("x, y, z, o: %v %v %v %v", made("x"), made("y"), made("z"), made("o"))
			}
		})
	}
}

// P3, P4, S9, O12: people's clients in Node hear of what the installed hook
// asks, and decide it; what was decided in the page they are told.
func TestPeopleOfOtherProtocols(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, agent := openInbox(t, g), newStub(t, g)
	for _, tt := range []struct{ path, first, id, allow, deny, gone string }{
		{"/ws/browser", "", "request.request_id",
			`{"type":"permission_response","request_id":%q,"behavior":"allow"}`, `{"type":"permission_response","request_id":%q,"behavior":"deny","message":"no"}`, "permission_resolved"},
		{"/ws/sema/ui", "", "data.requestId",
			`{"method":"respondToToolPermission","data":{"requestId":%q,"selected":"agree"}}`, `{"method":"respondToToolPermission","data":{"requestId":%q,"selected":"refuse"}}`, "request:settled"},
		{"/ws/openclaw/operator", `{"type":"req","id":"r0","method":"connect","params":{}}`, "payload.id",
			`{"type":"req","id":"r1","method":"exec.approval.resolve","params":{"id":%q,"decision":"allow-once"}}`, `{"type":"req","id":"r2","method":"exec.approval.resolve","params":{"id":%q,"decision":"deny"}}`, "exec.approval.resolved"},
	} {
		p := startPeer(t, "pipe.cjs", g.socketURL(tt.path), g.approverKey())
		if tt.first != "" {
			p.says(tt.first)
		}
		file := strings.NewReplacer("/", "_").Replace(tt.path)
		asks := func(command string) (*proposal, string) {
			q := agent.propose(command)
			m := p.hears("the request for "+command, func(m map[string]any) bool { return strings.Contains(dump(t, m), command) })
			return q, field(m, tt.id)
		}
		q, id := asks("touch a" + file)
		p.says(fmt.Sprintf(tt.allow, id))
		q.wantDecision("allow")
		q, id = asks("touch b" + file)
		p.says(fmt.Sprintf(tt.deny, id))
		q.wantDecision("deny")
		q, id = asks("touch c" + file)
		in.waitCard("touch c" + file).allow()
		q.wantDecision("allow")
		p.hears("that it was decided in the page", func(m map[string]any) bool {
			raw := dump(t, m)
			return strings.Contains(raw, tt.gone) && strings.Contains(raw, id)
		})
	}
}

// P3, P4 in the browser itself: the page's own session opens the WebSocket, by a
// proof that is good once.
func TestPageDecidesOverItsWebSocket(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, q := openInbox(t, g), newStub(t, g).propose("touch x")
	in.waitCard("touch x")
	got := read[string](in.tab, "decide over a WebSocket", `(async () => {
		const bytes = (text) => new TextEncoder().encode(text);
		const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, "0")).join("");
		const sum = (text) => crypto.subtle.digest("SHA-256", bytes(text));
		const half = Object.values(localStorage).find((v) => v.startsWith("gkp_"));
		const key = await crypto.subtle.importKey("raw", await sum(half), {name: "HMAC", hash: "SHA-256"}, false, ["sign"]);
		const text = "v1." + Date.now() + "." + hex(crypto.getRandomValues(new Uint8Array(16))) + "." + hex(await sum(""));
		const proof = text + "." + hex(await crypto.subtle.sign("HMAC", key, bytes("gatelatch.page.v1\nGET\n/ws/browser\n" + text)));
		const open = () => new Promise((done) => {
			const socket = new WebSocket("ws://" + location.host + "/ws/browser", ["gatelatch", "proof." + proof]);
			socket.onerror = () => done("refused");
			socket.onmessage = (e) => {
				const m = JSON.parse(e.data);
				if (m.type === "permission_resolved") done(m.behavior);
				else socket.send(JSON.stringify({type: "permission_response", request_id: m.request.request_id, behavior: "allow"}));
			};
		});
		return await open() + ", then " + await open();
	})()`)
	if got != "allow, then refused" {
		t.Errorf("the page got %q", got)
	}
	q.wantDecision("allow")
}

func dump(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// field finds a value by its path.
func field(m map[string]any, path string) string {
	var v any = m
	for name := range strings.SplitSeq(path, ".") {
		inner, _ := v.(map[string]any)
		v = inner[name]
	}
	return fmt.Sprint(v)
}

// The official MCP SDK for TypeScript asks on each transport: a click decides, a
// call that it cancels is taken back, and on the gateway's own route a call made
// again after a crash gets the decision that the first one waited for.
func TestMCPClientOfOthers(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(*gateway) []string{
		"stdio": func(g *gateway) []string {
			return []string{"stdio", need(g.t, product).gatelatch, "mcp", "--state", g.state, "--session", "s1"}
		},
		"http":      func(g *gateway) []string { return []string{"http", startMCP(g) + "?session=s1", g.agentKey()} },
		"the route": func(g *gateway) []string { return []string{"http", g.url + "/mcp?session=s1", g.agentKey()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, "")
			in := openInbox(t, g)
			p := startPeer(t, "mcp.cjs", args(g)...)
			p.hears("the tools", func(m map[string]any) bool { return dump(t, m["tools"]) == `["approve"]` })

			p.says(`{"id":"c1","command":"touch x && y"}`)
			in.waitCard("touch x").allow()
			got := p.answer("c1")
			if dump(t, got["result"]) != dump(t, map[string]any{"behavior": "allow", "updatedInput": map[string]any{"command": "touch x && y"}}) || got["progress"] == 0.0 {
				t.Errorf("allowed: %v", got)
			}
			p.says(`{"id":"c2","command":"touch y"}`)
			in.waitCard("touch y").deny("not today")
			if got := p.answer("c2"); field(got, "result.behavior") != "deny" || !strings.Contains(field(got, "result.message"), "not today") {
				t.Errorf("denied: %v", got)
			}
			p.says(`{"id":"c3","command":"touch z"}`)
			c := in.waitCard("touch z")
			p.says(`{"cancel":"c3"}`)
			c.waitSettled()
			if got := p.answer("c3"); got["result"] != nil {
				t.Errorf("cancelled: %v", got)
			}

			timeout := 0 // of the SDK
			if name == "the route" {
				timeout = 3000
			}
			p.says(fmt.Sprintf(`{"id":"c4","command":"touch w","timeout":%d}`, timeout))
			w := in.waitCard("touch w")
			g.kill()
			in.waitOffline()
			if name == "the route" { // only its own limit tells the client
				if got := p.answer("c4"); got["result"] != nil {
					t.Errorf("without a gateway: %v", got)
				}
			}
			g.start()
			in.waitLive()
			if name == "the route" {
				p.says(`{"id":"none","command":"pwd"}`) // the first after a crash only finds out
				p.answer("none")
				p.says(`{"id":"c4","command":"touch w"}`)
			}
			again := in.waitCard("touch w")
			if again.id != w.id {
				t.Error("it is asked a second time")
			}
			again.allow()
			if got := p.answer("c4"); field(got, "result.behavior") != "allow" {
				t.Errorf("after the gateway came back: %v", got)
			}
		})
	}
}

// The flag for the WebSocket of this protocol is closed to all hosts but its
// maker's, so the agent never connects; the endpoint is for others.
func TestAgentRefusesOurWebSocket(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	a := newAgent(t)
	s := a.printEnv(nil, "hi", "--sdk-url", g.socketURL("/ws/control"), "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	s.waitExit()
	if s.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(s.stderr.String(), "--sdk-url rejected") {
		t.Errorf("exit %v: %s", s.cmd.ProcessState, &s.stderr)
	}
}

// Hooks of type http need nothing installed: the gateway itself answers them.
// When it is killed while one waits, the call is blocked.
func TestHooksOverHTTP(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "")
	in, a := openInbox(t, g), newAgent(t)
	settings := dump(t, map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{
		"type": "http", "url": g.url + "/hooks/claude?limit=3600", "timeout": 3600, "onFailure": "block",
		"headers": map[string]string{"Authorization": "Bearer $GATELATCH_KEY"}, "allowedEnvVars": []string{"GATELATCH_KEY"},
	}}}}}})
	s := a.printEnv([]string{"GATELATCH_KEY=" + g.agentKey()},
		scriptedmodel.Prompt(scriptedmodel.Bash("touch x"), scriptedmodel.Bash("touch y"), scriptedmodel.Bash("touch z"), scriptedmodel.Say("done")),
		"--permission-mode", "default", "--settings", settings, wouldRun)
	in.waitCard("touch x").allow()
	in.waitCard("touch y").deny("not today")
	in.waitCard("touch z")
	g.kill()
	wantDone(t, s.result())
	if !a.made("x") || a.made("y") || a.made("z") {
		t.Errorf("x, y, z: %v %v %v", a.made("x"), a.made("y"), a.made("z"))
	}
	a.sawRefusal("not today")
}
