package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/emersion/go-smtp"
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// told is what the channels of notifications were given.
type told struct {
	mu   sync.Mutex
	by   map[string]*bytes.Buffer
	news chan struct{}
}

func (r *told) add(channel string, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[channel] == nil {
		r.by[channel] = new(bytes.Buffer)
	}
	r.by[channel].Write(append(text, '\n'))
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// NewSession implements smtp.Backend.
func (r *told) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailbox{r}, nil }

type mailbox struct{ *told }

func (*mailbox) Reset()                               {}
func (*mailbox) Logout() error                        { return nil }
func (*mailbox) Mail(string, *smtp.MailOptions) error { return nil }
func (*mailbox) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (b *mailbox) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	b.add("mail", raw)
	text, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(raw)))
	b.add("mail", text)
	return err
}

// channels starts a receiver for each type of channel, and returns the section
// of config.yaml that leads there. All of them want to see inputs.
func (m *mine) channels(dir string) string {
	m.told = &told{by: map[string]*bytes.Buffer{}, news: make(chan struct{}, 1)}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			m.Error(err)
		}
		m.told.add(strings.Split(r.URL.Path, "/")[1]+"web", fmt.Appendf(raw, "\n%s %v", r.URL, r.Header))
	}))
	m.Cleanup(web.Close)
	post, err := net.Listen("tcp", "127.0.0.1:0")
	m.must(err)
	mail := smtp.NewServer(m.told)
	mail.Domain = "localhost"
	go func() { _ = mail.Serve(post) }()
	m.Cleanup(func() { _ = mail.Close() })
	program := filepath.Join(dir, "tell")
	m.must(os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\n{ cat; echo; env; echo \"$@\"; } | curl -sf --data-binary @- %s/command\n", web.URL), 0o700))
	return fmt.Sprintf(`
metrics_listen: 127.0.0.1:0
notify:
  reach: [127.0.0.1/32]
  channels:
    hook: {type: webhook, url: %[1]s/, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, include_input: true}
    phone: {type: ntfy, url: %[1]s/topic, include_input: true}
    mail: {type: email, server: '%[2]s', security: none, from: gate@example.org, to: [mira@example.org], include_input: true}
    program: {type: command, path: %[3]s, include_input: true}
`, web.URL, post.Addr(), program)
}

// heard waits until every channel was told of a call, so and so many times.
func (m *mine) heard(call string, times int) {
	m.Helper()
	ctx, stop := context.WithTimeout(m.Context(), 30*time.Second)
	defer stop()
	for {
		missing := ""
		m.told.mu.Lock()
		for channel, want := range map[string]int{"web": 2 * times, "mail": times, "commandweb": times} {
			if b := m.told.by[channel]; b == nil || strings.Count(b.String(), call) < want {
				missing = channel
			}
		}
		m.told.mu.Unlock()
		if missing == "" {
			return
		}
		select {
		case <-m.told.news:
		case <-ctx.Done():
			m.Fatalf("%s was not told of %s", missing, call)
		}
	}
}

// another is an agent with a key of its own: what channels take of one is bounded.
func (m *mine) another() *client.Client {
	m.Helper()
	out, err := command(m.T, m.opt, "keys", "add", fmt.Sprint("agent ", m.flows), "--json")
	m.must(err)
	var made struct{ Secret string }
	m.must(json.Unmarshal([]byte(out), &made))
	dir := filepath.Join(m.opt.config, fmt.Sprint("agent", m.flows))
	m.must(os.MkdirAll(filepath.Join(dir, "run"), 0o700))
	where, err := os.ReadFile(filepath.Join(string(m.opt.state), "run", "gateway.json"))
	m.must(err)
	m.must(os.WriteFile(filepath.Join(dir, "run", "gateway.json"), where, 0o600))
	m.must(os.WriteFile(filepath.Join(dir, "agent.key"), []byte(made.Secret), 0o600))
	c, err := client.ForAgents(dir)
	m.must(err)
	return c
}

// tell lets every channel be told of calls with text in them, and that they
// are settled.
func (m *mine) tell(text string) {
	m.Helper()
	was := m.agent
	m.agent = m.another()
	defer func() { m.agent = was }()
	var bs []*gatelatch.Batch
	for tool, input := range map[string]any{
		"Bash": fields{"command": "tell " + text}, "Write": fields{"file_path": "/srv/project/x", "content": text}, "mcp__x__y": fields{"password": text},
	} {
		bs = append(bs, m.ask(gatelatch.Permission, tool, text, input, 0))
	}
	for _, b := range bs {
		m.heard(b.Calls[0].ID, 1)
		m.must(m.decide(b, api.Decision{State: "denied", Note: text}))
	}
	for _, b := range bs {
		m.heard(b.Calls[0].ID, 2)
	}
}

// dial opens a WebSocket, and hands on what is heard there until it ends.
func (m *mine) dial(who, path string) (*websocket.Conn, <-chan string) {
	m.Helper()
	where, err := m.opt.state.Gateway()
	m.must(err)
	socket, key := where.AgentSocket, m.opt.state.AgentKey()
	if who == "person" {
		socket, key = where.ApproverSocket, m.opt.state.ApproverKey()
	}
	secret, err := statedir.ReadKey(key)
	m.must(err)
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	c, res, err := websocket.Dial(m.Context(), "ws://"+api.SocketHost+path, &websocket.DialOptions{HTTPClient: hc, HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}}})
	if err != nil {
		m.Fatalf("%s: %v, %v", path, res, err)
	}
	c.SetReadLimit(-1)
	out := make(chan string, 4096)
	go func() {
		defer close(out)
		for {
			_, raw, err := c.Read(m.Context())
			if err != nil {
				out <- err.Error()
				return
			}
			out <- string(raw)
		}
	}()
	return c, out
}

// chat says lines on a WebSocket and notes all answers, until the connection
// ends or an answer has end in it.
func (m *mine) chat(path, end string, lines ...string) {
	m.Helper()
	c, heard := m.dial("agent", path)
	defer func() { _ = c.CloseNow() }()
	for _, line := range lines {
		if c.Write(m.Context(), websocket.MessageText, []byte(line)) != nil {
			break // it was ended for what it said, and says so
		}
	}
	late := time.After(20 * time.Second)
	for {
		select {
		case said, ok := <-heard:
			if m.note(path, said); !ok || strings.Contains(said, end) {
				return
			}
		case <-late:
			m.Fatalf("%s does not answer %q", path, end)
		}
	}
}

// sockets speaks the protocols of agents, with text wherever they have room.
func (m *mine) sockets(text string) {
	m.Helper()
	quote := func(s string) string {
		raw, err := strictjson.Marshal(s)
		m.must(err)
		return string(raw)
	}
	m.n++
	t, shred := quote(text), quote("shred "+text)
	for path, say := range map[string]struct {
		end   string
		lines []string
	}{
		"/ws/control": {"last", []string{
			`{"type":"system","subtype":"init","session_id":"w","cwd":"/srv/project"}`,
			`{"type":"control_request","request_id":"r1","request":{"subtype":` + t + `,"x":` + t + `}}`,
			fmt.Sprintf(`{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":%s},"tool_use_id":"a%d"}}`, shred, m.n),
			fmt.Sprintf(`{"type":"control_request","request_id":"last","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":%s},"tool_use_id":"b%d"}}`, shred, m.n),
		}},
		"/ws/sema": {"last", []string{
			`{"event":` + t + `,"data":{"requestId":"x"}}`,
			`{"event":"tool:permission:request","data":{"agentId":"main","requestId":"q","toolName":"Bash","title":` + shred + `,"options":{"agree":` + t + `}}}`,
			`{"event":"tool:permission:request","data":{"agentId":"main","requestId":"last","toolName":"Bash","title":` + shred + `}}`,
		}},
		"/ws/openclaw": {`"last"`, []string{
			`{"type":"req","id":"r1","method":"connect","params":{"client":{"id":"cli","mode":"cli","platform":"linux","version":"1"},"role":"operator","minProtocol":4,"maxProtocol":4}}`,
			`{"type":"req","id":"r2","method":` + t + `}`,
			`{"type":"req","id":"r3","method":"exec.approval.request","params":{"command":7,"x":` + t + `}}`,
			`{"type":"req","id":"r4","method":"exec.approval.waitDecision","params":{"id":` + t + `}}`,
			fmt.Sprintf(`{"type":"req","id":"last","method":"exec.approval.request","params":{"id":"o%d","command":%s,"cwd":"/srv/project","timeoutMs":60000}}`, m.n, shred),
		}},
	} {
		m.chat(path+"?session=w", say.end, say.lines...)
		m.chat(path+"?session=w", "never", text)
		m.chat(path+"?session=w", "never", `{"type":`+t)
	}
}

// views are the first words of what shows people a call to decide on.
var views = []string{`{"type":"permission_request"`, `{"event":"tool:permission:request"`, `{"event":"ask:question:request"`, `{"event":"plan:exit:request"`}

// follow listens at the sockets of people until the gateway ends. What shows a
// call that waits is the view of who decides.
func (m *mine) follow() (end func()) {
	var all sync.WaitGroup
	for path, hello := range map[string]string{"/ws/browser": "", "/ws/sema/ui": "", "/ws/openclaw/operator": `{"type":"req","id":"r1","method":"connect","params":{"client":{"id":"cli","mode":"cli","platform":"linux","version":"1"},"role":"operator","scopes":["operator.approvals"],"minProtocol":4,"maxProtocol":4}}`} {
		c, heard := m.dial("person", path)
		if hello != "" {
			m.must(c.Write(m.Context(), websocket.MessageText, []byte(hello)))
		}
		all.Go(func() {
			shown := 0
			for said := range heard {
				view := strings.Contains(said, `"exec.approval.requested"`)
				for _, v := range views {
					view = view || strings.HasPrefix(said, v)
				}
				if view {
					shown++
					continue
				}
				m.note(path, said)
			}
			if shown == 0 {
				m.Errorf("%s showed nothing", path)
			}
		})
	}
	return all.Wait
}

// copies notes what stays when the gateway is gone: a backup, and a dump.
func (m *mine) copies() {
	m.Helper()
	file := filepath.Join(m.opt.config, "copy.backup")
	args := []string{"backup", file, "--config", m.opt.config}
	if m.database != "" {
		args = append(args, "--store", m.database)
	}
	_, err := command(m.T, m.opt, args...)
	m.must(err)
	raw, err := os.ReadFile(file)
	m.must(err)
	n := 0
	for line := range strings.Lines(string(raw)) {
		var row struct {
			Table string
			Row   struct{ Bytes string }
		}
		m.must(json.Unmarshal([]byte(line), &row))
		if row.Table == "input" || row.Table == "result" {
			continue
		}
		n++
		whole, err := base64.StdEncoding.DecodeString(row.Row.Bytes)
		m.must(err)
		m.note("the backup's "+row.Table, unnamed(row.Table, line+string(whole)))
	}
	if n < 100 {
		m.Errorf("the backup has %d rows", n)
	}
	if m.database == "" {
		return
	}
	dump := exec.CommandContext(m.Context(), pgDump(m), "--dbname", m.database, "--exclude-table-data=*input", "--exclude-table-data=*result")
	dump.Env = append(os.Environ(), "PGOPTIONS=-c bytea_output=escape")
	raw, err = dump.Output()
	m.must(err)
	if !bytes.Contains(raw, []byte(`"kind"`)) {
		m.Errorf("the dump is not readable: %.300s", raw)
	}
	m.note("pg_dump", unnamed("batch", string(raw)))
}

func pgDump(m *mine) string {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_dump")
	if err != nil || len(found) == 0 {
		m.Fatalf("no pg_dump: run make deps (%v)", err)
	}
	return found[len(found)-1]
}
