package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
