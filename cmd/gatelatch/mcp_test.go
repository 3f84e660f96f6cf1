package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/mcp"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// SEC-01: the tool's own address is entered with the agent's key, by that
// address, and by no page.
func TestMCPDoor(t *testing.T) {
	const addr = "127.0.0.1:7475"
	d := &mcpDoor{addr: addr, key: []byte("Bearer gka_right"), http: mcp.NewHTTP("test", error.Error),
		who: func(*http.Request) (mcp.Caller, error) { return mcp.Caller{}, nil }}
	for name, tt := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"the agent":       {func(*http.Request) {}, http.StatusOK},
		"no key":          {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"another key":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer gka_wrong") }, http.StatusUnauthorized},
		"no scheme":       {func(r *http.Request) { r.Header.Set("Authorization", "gka_right") }, http.StatusUnauthorized},
		"two keys":        {func(r *http.Request) { r.Header.Add("Authorization", "Bearer gka_right") }, http.StatusUnauthorized},
		"another host":    {func(r *http.Request) { r.Host = "evil.example:7475" }, http.StatusMisdirectedRequest},
		"another name":    {func(r *http.Request) { r.Host = "localhost:7475" }, http.StatusMisdirectedRequest},
		"a page":          {func(r *http.Request) { r.Header.Set("Origin", "http://"+addr) }, http.StatusForbidden},
		"another page":    {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"a page's script": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, http.StatusForbidden},
		"another path":    {func(r *http.Request) { r.URL.Path = "/" }, http.StatusNotFound},
		"garbage":         {func(r *http.Request) { r.Body = http.NoBody }, http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		r.Host = addr
		r.Header = http.Header{"Authorization": {"Bearer gka_right"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		tt.change(r)
		rec := httptest.NewRecorder()
		d.ServeHTTP(rec, r)
		if rec.Code != tt.want {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

func TestMCPListensOnLoopbackOnly(t *testing.T) {
	dir := statedir.Dir(t.TempDir())
	writeFile(t, dir.AgentKey(), "gka_right")
	for _, listen := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:80", "nonsense"} {
		if _, err := cli(t, "mcp", "--http", listen, "--state", string(dir)); err == nil || !strings.Contains(err.Error(), "can't listen") {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

// The configuration that is printed starts this program, with no limit that
// would cut a person short.
func TestMCPConfig(t *testing.T) {
	out, err := cli(t, "mcp", "--print", "--state", "/s t", "--session", `a"b`)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Timeout       int64
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(out), &config); err != nil {
		t.Fatal(err)
	}
	s := config.Servers["gatelatch"]
	if got := strings.Join(s.Args, "|"); s.Type != "stdio" || s.Command == "" || got != `mcp|--state|/s t|--session|a"b` || s.Timeout < 86400000 {
		t.Errorf("%+v", s)
	}
}

func TestExplainDenial(t *testing.T) {
	for _, err := range []error{client.ErrUnreachable, http.ErrBodyNotAllowed} {
		if got := explainDenial("/s", err); !strings.Contains(got, "Gatelatch") || strings.Contains(got, "\n") {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// REL-31: whatever is in the gateway's place, the agent hears a denial or
// nothing, and never an allow.
func TestMCPWithABadGateway(t *testing.T) {
	for name, answer := range map[string]string{
		"silence":          "",
		"garbage":          "hello",
		"half an answer":   "HTTP/1.0 200 OK\r\n\r\n{\"id\":\"bat_x\",\"calls\":[{",
		"nothing in it":    "HTTP/1.0 200 OK\r\n\r\n{}",
		"not opened":       "HTTP/1.0 200 OK\r\n\r\n{\"id\":\"b\",\"phase\":1,\"calls\":[{\"id\":\"c\",\"phase\":1,\"state\":\"allowed\",\"input\":{},\"consumed\":true}]}",
		"not consumed":     "HTTP/1.0 200 OK\r\n\r\n{\"id\":\"b\",\"phase\":1,\"opened\":{\"fence\":1},\"calls\":[{\"id\":\"c\",\"phase\":1,\"state\":\"allowed\",\"input\":{}}]}",
		"two calls":        "HTTP/1.0 200 OK\r\n\r\n{\"id\":\"b\",\"phase\":1,\"opened\":{\"fence\":1,\"consume\":true},\"calls\":[{\"state\":\"allowed\",\"input\":{},\"consumed\":true},{\"state\":\"allowed\",\"input\":{},\"consumed\":true}]}",
		"an error":         "HTTP/1.0 500 no\r\n\r\n{}",
		"a redirect":       "HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
		"not for this key": "HTTP/1.0 403 no\r\n\r\n{\"error\":{\"code\":\"forbidden\",\"message\":\"no\"}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := badGateway(t, answer)
			in, agent := io.Pipe()
			heard, out := io.Pipe()
			go func() {
				defer out.Close()
				_ = mcp.Stdio(t.Context(), in, out, "test", mcpCaller(dir, gatelatch.SessionInfo{ID: "s"}, time.Millisecond), func(err error) string { return explainDenial(dir, err) })
			}()
			go func() {
				defer agent.Close()
				for _, m := range []string{
					`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
					`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
					`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"c1"}}}`,
				} {
					_, _ = io.WriteString(agent, m+"\n")
				}
				<-t.Context().Done()
			}()
			for sc := bufio.NewScanner(heard); sc.Scan(); {
				if !strings.Contains(sc.Text(), `"id":1,`) {
					continue
				}
				if !strings.Contains(sc.Text(), `{\"behavior\":\"deny\",\"message\":\"`) {
					t.Errorf("the agent heard %s", sc.Text())
				}
				return
			}
			t.Error("the agent heard nothing")
		})
	}
}

// badGateway answers everything with the same bytes.
func badGateway(t *testing.T, answer string) statedir.Dir {
	t.Helper()
	short, err := os.MkdirTemp("", "gl-") //nolint:usetesting // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	dir := statedir.Dir(filepath.Join(short, "state"))
	ln, err := net.Listen("unix", filepath.Join(short, "s"))
	if err := errors.Join(err, dir.Prepare(), statedir.WriteKey(dir.AgentKey(), "gka_x"), dir.Announce(statedir.Gateway{AgentSocket: filepath.Join(short, "s")})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}
	}()
	return dir
}
