package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
	"github.com/gatelatch/gatelatch/server"
	"github.com/gatelatch/gatelatch/toolset"
)

func named(names ...string) (out []api.Tool) {
	for _, n := range names {
		out = append(out, api.Tool{Name: n})
	}
	return out
}

func toolNames(ts []api.Tool) (out []string) {
	for _, t := range ts {
		out = append(out, t.Name)
	}
	return out
}

// An agent in any language gets what it may use, normalised, and the trace of
// every step, over the real sockets.
func TestTools(t *testing.T) {
	r := newRig(t)
	c := r.client(client.ForAgents)
	in := api.ToolsRequest{Agent: "main", Provider: "anthropic", Model: "opus", Tools: append(named("Read", "apply_patch"),
		api.Tool{Name: "cron", OwnerOnly: true}, api.Tool{Name: "pick", Description: "a <b> & c", Schema: []byte(`{"oneOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`)},
		api.Tool{Name: "odd", Schema: []byte(`{"type":"array"}`)})}
	got, err := c.Tools(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Tool{
		{Name: "Read", Schema: []byte(`{"type":"object","properties":{}}`)},
		{Name: "pick", Description: "a <b> & c", Schema: []byte(`{"type":"object","properties":{"a":{},"b":{}}}`)},
	}
	if diff := cmp.Diff(want, got.Tools); diff != "" {
		t.Error(diff)
	}
	var labels []string
	removed := map[string]string{}
	for _, s := range got.Steps {
		labels = append(labels, s.Label)
		for _, x := range s.Removed {
			removed[x.Tool] = s.Label
		}
	}
	if diff := cmp.Diff([]string{"apply_patch", "owner-only", "tools.profile", "tools.provider-profile", "tools.global", "tools.global-provider",
		"tools.agent (main)", "tools.agent-provider (main)", "group tools.allow", "sandbox tools.allow", "subagent tools.allow", "schema"}, labels); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"apply_patch": "apply_patch", "cron": "owner-only", "odd": "schema"}, removed); diff != "" {
		t.Error(diff)
	}
	if got.Owner || !strings.HasPrefix(got.Key, "key_") {
		t.Errorf("%+v", got)
	}
	in.Tools = named("a", "A")
	if _, err := c.Tools(t.Context(), in); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("two tools of one name: %v", err)
	}
	if got, err := c.Tools(t.Context(), api.ToolsRequest{}); err != nil || got.Tools == nil || len(got.Tools) != 0 {
		t.Errorf("no tools: %+v, %v", got, err)
	}
}

// with is a world whose gateway has lists, and its log.
func (w *world) with(p toolset.Policy) (agents http.Handler, log *bytes.Buffer) {
	w.t.Helper()
	log = new(bytes.Buffer)
	srv, err := server.New(server.Options{Gate: w.gate, Auth: w.auth, URL: origin, Tools: p, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := srv.Handler(server.BrowserDoor(host))
	if err != nil {
		w.t.Fatal(err)
	}
	return h, log
}

// O1: whose key it is decides; nothing in the request does.
func TestToolsOfTheOwner(t *testing.T) {
	w := newWorld(t)
	ask := func(h http.Handler, body any) (out api.Tools) {
		decode(t, send(h, w.as(w.request("POST", "/v1/tools", body), "agent")), http.StatusOK, &out)
		return out
	}
	in := api.ToolsRequest{Tools: []api.Tool{{Name: "cron", OwnerOnly: true}}}
	h, _ := w.with(toolset.Policy{})
	first := ask(h, in)
	if len(first.Tools) != 0 || first.Owner {
		t.Errorf("got %+v", first)
	}
	h, _ = w.with(toolset.Policy{Owners: []string{first.Key}})
	if got := ask(h, in); len(got.Tools) != 1 || !got.Owner {
		t.Errorf("got %+v", got)
	}
	h, _ = w.with(toolset.Policy{Owners: []string{"key_other"}})
	if got := ask(h, in); len(got.Tools) != 0 || got.Owner {
		t.Errorf("got %+v", got)
	}
	claim := map[string]any{"tools": []any{}, "owner": true}
	if res := send(h, w.as(w.request("POST", "/v1/tools", claim), "agent")); res.Code != http.StatusBadRequest {
		t.Errorf("a request that says it is the owner: %d %s", res.Code, res.Body)
	}
}

// O3: the gateway's log tells, once, and the lists hold.
func TestToolsWarnings(t *testing.T) {
	w := newWorld(t)
	h, log := w.with(toolset.Policy{Profile: "mine", Profiles: map[string]toolset.List{"mine": {Allow: []string{"recall"}}},
		Plugins: map[string][]string{"memory": {"recall"}}, List: toolset.List{Deny: []string{"exec"}}})
	for range 3 {
		var got api.Tools
		decode(t, send(h, w.as(w.request("POST", "/v1/tools", api.ToolsRequest{Tools: named("read", "Bash")}), "agent")), http.StatusOK, &got)
		if diff := cmp.Diff([]string{"read"}, toolNames(got.Tools)); diff != "" {
			t.Error(diff)
		}
		if s := got.Steps[2]; s.Label != "tools.profile (mine)" || s.Rule != "allow recall" || len(s.Warnings) != 1 {
			t.Errorf("got %+v", s)
		}
	}
	if n := strings.Count(log.String(), "core tools stay"); n != 1 {
		t.Errorf("logged %d times: %s", n, log)
	}
	if _, err := server.New(server.Options{Gate: w.gate, Auth: w.auth, Tools: toolset.Policy{Profile: "none"}}); err == nil {
		t.Error("a server starts with lists that can't be meant")
	}
}
