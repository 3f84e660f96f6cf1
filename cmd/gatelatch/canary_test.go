package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/canary"
	"github.com/gatelatch/gatelatch/internal/statedir"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/store/postgres/pgtest"
)

// SEC-50: secrets go through every flow, and come out nowhere but where inputs
// and results are kept. Sinks are found by walking: files, tables, routes.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			m := newMine(t, store)
			if store == "postgres" { // what is cut is cut above the stores: some kinds do
				m.all = everyNth(m.all, 8)
			}
			const together = 24
			end := m.follow()
			for cs := range slices.Chunk(m.all, together) {
				m.plant(cs)
			}
			m.look(end)
		})
	}
}

func everyNth(all []canary.Canary, n int) (out []canary.Canary) {
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}

// mine is a gateway with canaries in it.
type mine struct {
	*testing.T
	all           []canary.Canary
	opt           gatewayOptions
	gateway       *gateway
	log           locked
	agent, person *client.Client
	database      string // of PostgreSQL
	noting        sync.Mutex
	seen          []string
	told          *told
	n, flows      int
	parked        bool // there is a call whose agent comes back for it
}

type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func newMine(t *testing.T, store string) *mine {
	t.Helper()
	m := &mine{T: t, all: canary.All()}
	tmp, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's name must be short
	m.must(err)
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	m.opt = gatewayOptions{state: statedir.Dir(filepath.Join(tmp, "state")), config: filepath.Join(tmp, "config"), listen: "127.0.0.1:0", log: logTo(&m.log, slog.LevelDebug, false)}
	if store == "postgres" {
		server, err := pgtest.Start()
		m.must(err)
		t.Cleanup(func() { _ = server.Stop() })
		m.database = asURL(server.Database(t, "canaries"))
		m.opt.store = m.database
	}
	m.must(os.MkdirAll(m.opt.config, 0o700))
	hook := filepath.Join(m.opt.config, "hook.sh")
	m.must(os.WriteFile(hook, []byte("#!/bin/sh\nin=$(cat)\ncase $in in *blockme*) printf %s \"$in\" >&2; exit 2 ;; esac\n"), 0o700))
	m.must(os.WriteFile(filepath.Join(m.opt.config, "config.yaml"), []byte("quota: {asks_per_minute: 0, ask_again_after: 0s}\nhooks:\n- path: "+hook+"\n- path: "+hook+"\n  on: after\n"+m.channels(m.opt.config)), 0o600))
	m.must(os.WriteFile(filepath.Join(m.opt.config, "policy.yaml"), []byte("version: 1\ndeny: ['Bash(shred:*)']\nallow: ['Bash(echo:*)']\n"), 0o600))
	if m.gateway, err = startGateway(m.opt); err != nil {
		t.Fatal(err)
	}
	if len(m.gateway.gate.Salt) == 0 {
		t.Error("digests tell agents what is in files")
	}
	m.agent, err = client.ForAgents(m.opt.state)
	m.must(err)
	m.person, err = client.ForPeople(m.opt.state)
	m.must(err)
	return m
}

func (m *mine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// note keeps what somebody was told who is not the one that decides.
func (m *mine) note(where string, said any) {
	if err, ok := said.(error); ok {
		said = err.Error()
	}
	m.noting.Lock()
	defer m.noting.Unlock()
	if said != nil {
		m.seen = append(m.seen, where+"\x00"+fmt.Sprintf("%s", said))
	}
}

// ask proposes a call with the text everywhere that an agent can put one.
func (m *mine) ask(kind gatelatch.Kind, tool, text string, input any, limit time.Duration) *gatelatch.Batch {
	m.Helper()
	raw, err := strictjson.Marshal(input)
	m.must(err)
	m.n++
	name := fmt.Sprint("m", m.n)
	b, err := m.agent.Propose(m.Context(), gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: "s", Name: "Agent " + clip(text, 100), Host: clip(text, 100), Project: "/srv/project"}, Message: name, Limit: limit,
		Context: gatelatch.Context{Prompt: text, Said: text, Via: text},
		Calls:   []gatelatch.ProposedCall{{Ref: name, Kind: kind, Tool: tool, Input: raw, Dir: "/srv/project", Claim: text, Suggests: []string{"Bash(" + text + ")"}}},
	})
	m.must(err)
	m.note("the text for the agent", b.Calls[0].Answer())
	return b
}

// clip cuts between two canaries, not within one.
func clip(text string, most int) string {
	for len(text) > most {
		i := strings.LastIndex(text, "\n")
		if i < 0 {
			return ""
		}
		text = text[:i]
	}
	return text
}

func (m *mine) decide(b *gatelatch.Batch, d api.Decision) error {
	d.Digest = b.Calls[0].Digest.String()
	_, err := m.person.Decide(m.Context(), b.Calls[0].ID, d)
	return err
}

func (m *mine) plant(cs []canary.Canary) {
	m.flows++
	var texts []string
	for _, c := range cs {
		texts = append(texts, c.Text)
	}
	text := strings.Join(texts, "\n")
	bash := func(before string) *gatelatch.Batch {
		return m.ask(gatelatch.Permission, "Bash", text, fields{"command": before + text}, 0)
	}

	for _, ok := range []bool{true, false} { // allowed, then done or failed
		b := bash("deploy ")
		m.must(m.decide(b, api.Decision{State: "allowed"}))
		b, err := m.agent.Await(m.Context(), b.ID, gatelatch.Hold{Holder: "h", Consume: true})
		m.must(err)
		m.must(m.agent.Report(m.Context(), gatelatch.Report{Batch: b.ID, Call: b.Calls[0].ID, Fence: b.Opened.Fence, OK: ok, Result: []byte(text)}))
	}
	b := bash("deny ")
	m.must(m.decide(b, api.Decision{State: "denied", Note: "not with " + text}))
	m.note("a late decision", m.decide(b, api.Decision{State: "allowed"}))
	b, err := m.agent.Batch(m.Context(), b.ID)
	m.must(err)
	m.note("the text of a denial", b.Calls[0].Answer())
	m.must(m.decide(bash("stop "), api.Decision{State: "denied", Note: text, Interrupt: true}))

	b = m.ask(gatelatch.Permission, "Bash", "", fields{"command": "edit me"}, 0)
	input, err := strictjson.Marshal(fields{"command": "edited " + text})
	m.must(err)
	_, err = m.person.Edit(m.Context(), b.Calls[0].ID, api.Edit{Digest: b.Calls[0].Digest.String(), Input: input})
	m.must(err)

	b = m.ask(gatelatch.Permission, "Bash", text, fields{"command": "expire " + text}, time.Millisecond)
	b, err = m.agent.Await(m.Context(), b.ID, gatelatch.Hold{Holder: "h"})
	m.must(err)
	if b.Calls[0].State != gatelatch.Expired {
		m.Errorf("it is %s", b.Calls[0].State)
	}
	m.must(m.agent.Withdraw(m.Context(), bash("withdraw ").ID, "no longer: "+text))
	for _, by := range []string{"shred x; ", "echo ", "blockme "} { // settled by rules and a hook
		bash(by)
	}
	m.note("what can't be remembered", m.decide(bash("make "), api.Decision{State: "allowed", Remember: &api.Terms{Scope: "always", Match: "Bash(make " + text + ")"}}))
	m.ask(gatelatch.Permission, "Nobody_knows", text, fields{"password": text, "n": m.flows}, 0)
	m.ask(gatelatch.Permission, "Write", text, fields{"file_path": "/srv/project/.env", "content": text}, 0)

	q := fields{"questions": []fields{{"question": "Which? " + clip(text, 1000), "header": "Which", "options": []fields{{"label": "a"}, {"label": text}}}}}
	b = m.ask(gatelatch.Question, "AskUserQuestion", text, q, 0)
	m.note("a refused answer", m.decide(b, api.Decision{State: "allowed", Answers: map[string]string{"Which? " + clip(text, 1000): text}}))
	m.must(m.decide(b, api.Decision{State: "denied", Reply: true, Note: "use " + text}))
	b = m.ask(gatelatch.Plan, "ExitPlanMode", text, fields{"plan": "1. " + text}, 0)
	m.must(m.decide(b, api.Decision{State: "allowed", Choice: "startEditing", Mode: "acceptEdits"}))

	_, err = m.agent.Leave(m.Context(), gatelatch.Leaving{Session: "s", All: true, Why: text})
	m.must(err)
	_, err = m.person.Pause(m.Context(), clip(text, 4000))
	m.must(err)
	bash("while paused ")
	_, err = m.person.Unpause(m.Context())
	m.must(err)
	m.names(cs)
	m.invalid(text)
	m.sockets(text)
	m.tell(text)
}

// invalid sends what can't be meant, at every door of agents.
func (m *mine) invalid(text string) {
	quoted, err := strictjson.Marshal(text)
	m.must(err)
	for _, r := range api.Routes {
		if r.Role != api.Agents || r.In == nil {
			continue
		}
		for _, body := range []string{text, `{"` + "x\":" + string(quoted) + "}", `{"session":` + string(quoted) + `,"calls":[{"tool":"Bash","kind":` + string(quoted) + `,"input":{}}]}`, string(quoted)} {
			m.note("an error of "+r.Name, m.raw("agent", r.Method, strings.ReplaceAll(r.Path, "{id}", "bat_none"), body))
		}
	}
	hook := func(event, command string) string {
		raw, err := strictjson.Marshal(fields{"session_id": "s", "cwd": "/srv/project", "hook_event_name": event, "tool_name": "Bash", "tool_use_id": fmt.Sprint("t", m.n), "tool_input": fields{"command": command}, "tool_response": fields{"stdout": text}})
		m.must(err)
		return string(raw)
	}
	for _, body := range []string{text, string(quoted), hook("PreToolUse", "shred "+text), hook("PostToolUse", "shred "+text), hook("Nothing", text)} {
		m.note("http hook", m.raw("agent", http.MethodPost, "/hooks/claude", body))
	}
	call, err := strictjson.Marshal(fields{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": fields{"name": text, "arguments": fields{"tool_name": "Bash", "input": fields{"command": "shred " + text}, "tool_use_id": "t"}}})
	m.must(err)
	for _, body := range []string{text, string(call)} {
		m.note("mcp", m.raw("agent", http.MethodPost, "/mcp", body))
	}
}

// raw sends a request and returns all of the answer.
func (m *mine) raw(who, method, path, body string) string {
	m.Helper()
	key, url := m.opt.state.AgentKey(), m.gateway.url
	hc := http.DefaultClient
	if who == "person" {
		where, err := m.opt.state.Gateway()
		m.must(err)
		key, url = m.opt.state.ApproverKey(), "http://"+api.SocketHost
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", where.ApproverSocket)
		}
		hc = &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	}
	secret, err := statedir.ReadKey(key)
	m.must(err)
	ctx, stop := context.WithCancel(m.Context())
	defer stop()
	req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
	m.must(err)
	req.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	res, err := hc.Do(req)
	m.must(err)
	defer func() { _ = res.Body.Close() }()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		defer time.AfterFunc(2*time.Second, stop).Stop() // a stream does not end
		out, _ := io.ReadAll(res.Body)
		return res.Status + " " + string(out)
	}
	out, err := io.ReadAll(res.Body)
	m.must(err)
	return res.Status + " " + string(out)
}

// probe reads what the listener without keys says.
func (m *mine) probe(path string) string {
	req, err := http.NewRequestWithContext(m.Context(), http.MethodGet, "http://"+m.gateway.probes+path, nil)
	m.must(err)
	res, err := http.DefaultClient.Do(req)
	m.must(err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	m.must(err)
	if res.StatusCode != http.StatusOK || len(raw) == 0 {
		m.Errorf("%s: %s %s", path, res.Status, raw)
	}
	return string(raw)
}

// look walks every sink.
func (m *mine) look(end func()) {
	for _, r := range api.Routes {
		if r.Role == api.Agents || r.Method != http.MethodGet || r.Name == "Call" { // which is the view of who decides
			continue
		}
		query := map[string]string{"Calls": "?state=settled&limit=500", "History": "?limit=500", "Events": "?after=0"}[r.Name]
		body := m.raw("person", r.Method, r.Path+query, "")
		m.note(r.Name, body)
		if r.Name == "History" && strings.Count(body, `"id":"cal_`) < 7*m.flows {
			m.Errorf("nothing to look at in %.300s", body)
		}
	}
	m.note("brief", m.raw("person", http.MethodGet, "/v1/calls?state=pending&brief=true&limit=500", ""))
	m.note("suggestions", m.raw("person", http.MethodPost, "/v1/rules/suggest", "{}"))
	for _, args := range [][]string{{"ls"}, {"ls", "--settled", "--limit", "500"}, {"log", "--limit", "0"}, {"log", "--limit", "0", "--json"}, {"grants"}, {"sessions"}, {"ls", "--settled", "--json"}, {"audit", "verify"}, {"notify", "ls", "--json"}, {"notify", "ls"}, {"keys", "--json"}, {"sessions", "--json"}, {"grants", "--json"}, {"resume", "--list"}, {"resume", "--list", "--json"}} {
		out, err := command(m.T, m.opt, args...)
		if err != nil {
			m.Errorf("%s: %v", args, err)
		}
		m.note("gatelatch "+strings.Join(args, " "), out)
	}
	m.doctor()
	export := filepath.Join(m.opt.config, "trail.jsonl")
	if _, err := command(m.T, m.opt, "audit", "export", export); err != nil {
		m.Error(err)
	}
	raw, err := os.ReadFile(export)
	m.must(err)
	m.note("the export of the trail", string(raw))
	m.copies()
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		m.note("the numbers without a key", m.probe(path))
	}
	m.must(m.gateway.close())
	end()
	for channel, said := range m.told.by {
		m.note("what was told by "+channel, said.String())
	}
	m.note("the log", m.log.b.String())
	m.files()
	if m.database != "" {
		m.postgres()
	}
	found := map[string]bool{}
	for _, s := range m.seen {
		where, text, _ := strings.Cut(s, "\x00")
		for _, c := range m.all {
			if i := strings.Index(text, c.Needle); i >= 0 && !found[where+c.Kind] {
				found[where+c.Kind] = true
				m.Errorf("%s is in %s: …%q", c.Kind, where, text[max(0, i-200):i+len(c.Needle)])
			}
		}
	}
	m.Logf("%d kinds of secrets, %d places", len(m.all), len(m.seen))
}

// files reads everything under the state directory. Whatever is in it is for
// us alone.
func (m *mine) files() {
	m.must(filepath.WalkDir(string(m.opt.state), func(path string, d fs.DirEntry, err error) error {
		m.must(err)
		info, err := d.Info()
		m.must(err)
		if info.Mode().Perm()&0o077 != 0 {
			m.Errorf("%s is %s", path, info.Mode())
		}
		switch {
		case path == m.opt.state.Database():
			m.sqlite(path)
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			m.must(err)
			m.note(filepath.Base(path), string(raw))
		}
		return nil
	}))
}

// sealed are the only places for inputs and results.
func sealed(table, column string) bool {
	return column == "bytes" && (table == "input" || table == "result")
}

func (m *mine) sqlite(path string) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	m.must(err)
	defer func() { m.must(db.Close()) }()
	tables := m.rows(db, "", `SELECT name FROM sqlite_master WHERE type='table'`)
	if len(tables) < 8 {
		m.Fatalf("tables: %v", tables)
	}
	whole := 0
	for _, table := range tables {
		for _, row := range m.rows(db, table, `SELECT * FROM "`+table+`"`) {
			m.note("table "+table, unnamed(table, row))
		}
		if table == "input" || table == "result" {
			raw := strings.Join(m.rows(db, "", `SELECT bytes FROM "`+table+`"`), "\n")
			for _, c := range m.all {
				if strings.Contains(raw, c.Needle) {
					whole++
				}
			}
		}
	}
	if whole < 2*len(m.all) {
		m.Errorf("only %d of %d secrets are among inputs and results, where they belong", whole, 2*len(m.all))
	}
}

// rows returns each row as text, without what is sealed.
func (m *mine) rows(db *sql.DB, table, query string) (out []string) {
	rows, err := db.QueryContext(m.Context(), query)
	m.must(err)
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	m.must(err)
	for rows.Next() {
		cells, into := make([]any, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		m.must(rows.Scan(into...))
		var b strings.Builder
		for i, c := range cells {
			if !sealed(table, names[i]) {
				fmt.Fprintf(&b, "%s ", c)
			}
		}
		out = append(out, strings.TrimSpace(b.String()))
	}
	m.must(rows.Err())
	return out
}

// postgres reads a dump, in which bytes are readable.
func (m *mine) postgres() {
	dump, err := exec.CommandContext(m.Context(), "psql", m.database, "-AtXc", `SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`).Output()
	m.must(err)
	tables := strings.Fields(string(dump))
	if len(tables) < 8 {
		m.Fatalf("tables: %v", tables)
	}
	for _, table := range tables {
		if table == "input" || table == "result" {
			continue
		}
		rows, err := exec.CommandContext(m.Context(), "psql", m.database, "-AtXc", `SET bytea_output=escape; SELECT * FROM "`+table+`"`).Output()
		m.must(err)
		m.note("PostgreSQL table "+table, unnamed(table, string(rows)))
	}
}
