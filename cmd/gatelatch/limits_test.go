package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/ws"
	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/client"
)

// SEC-70: config.yaml raises what an input may have, at every door of agents;
// nobody else says more for it on a WebSocket.
func TestLimits(t *testing.T) {
	t.Parallel()
	m := &mine{T: t}
	m.opt = testGatewayWith(t, func(opt *gatewayOptions) {
		m.must(os.MkdirAll(opt.config, 0o700))
		m.must(os.WriteFile(filepath.Join(opt.config, "config.yaml"), []byte("limits: {input_mib: 2}\n"), 0o600))
	})
	agent, err := client.ForAgents(m.opt.state)
	m.must(err)
	input := func(size int) string { return fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", size-11)) }
	propose := func(size int) error {
		_, err := agent.Propose(t.Context(), gatelatch.Proposal{Session: gatelatch.SessionInfo{ID: "s"}, Message: fmt.Sprint("m", size),
			Calls: []gatelatch.ProposedCall{{Ref: fmt.Sprint("c", size), Tool: "Store", Input: []byte(input(size))}}})
		return err
	}
	m.must(propose(2 << 20))
	if err := propose(2<<20 + 1); !errors.Is(err, gatelatch.ErrInvalid) {
		t.Errorf("one byte more: %v", err)
	}
	if err := propose(3 << 20); err == nil {
		t.Error("a MiB more is taken")
	}
	asks := func(size int) string {
		return `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Store","tool_use_id":"w","input":` + input(size) + `}}`
	}
	says := func(size int) string {
		return `{"type":"permission_response","request_id":"` + strings.Repeat("x", size-46) + `"}`
	}
	for _, tt := range []struct {
		who, path, say string
		large          bool
	}{
		{"agent", "/ws/control", asks(2 << 20), false},
		{"agent", "/ws/sema", says(2 * int(api.BodyFor(2<<20))), false},
		{"agent", "/ws/sema", says(2*int(api.BodyFor(2<<20)) + 1), true},
		{"agent", "/ws/openclaw", says(2*int(api.BodyFor(2<<20)) + 1), true},
		{"agent", "/ws/control", says(2*int(api.BodyFor(2<<20)) + 1), true},
		{"person", "/ws/browser", says(ws.MaxMessage), false},
		{"person", "/ws/browser", says(ws.MaxMessage + 1), true},
		{"person", "/ws/sema/ui", says(ws.MaxMessage + 1), true},
		{"person", "/ws/openclaw/operator", says(ws.MaxMessage + 1), true},
	} {
		c, heard := m.dial(tt.who, tt.path+"?session=w")
		m.must(c.Write(t.Context(), websocket.MessageText, []byte(tt.say)))
		if !tt.large {
			m.must(c.Write(t.Context(), websocket.MessageBinary, nil)) // which ends it
		}
		var last string
		for said := range heard {
			last = said
		}
		if got := strings.Contains(last, "StatusMessageTooBig"); got != tt.large {
			t.Errorf("%s, %d bytes: %s", tt.path, len(tt.say), last)
		}
	}
}
