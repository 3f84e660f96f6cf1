package hostprobe

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/internal/statedir"
)

// rules deny what is called so, ask about what is to wait and allow the rest:
// the whole tool, because not every channel says in which folder a call runs.
func rules(calls []Call) string {
	out := "version: 1\nallow: [Bash]\nask: [Bash(touch wait)]\ndeny:\n"
	for _, c := range calls {
		if strings.HasPrefix(c.File, "no") {
			out += "  - Bash(touch " + c.File + ")\n"
		}
	}
	return out
}

// soon is a limit that a case waits for.
const soon = 5

var (
	control = Case{Name: "control", Why: "nobody gates the agent", Calls: []Call{{File: "free", Runs: true}}}

	held   = []Call{{File: "wait"}}
	edited = []Call{{File: "wait"}, {File: "instead", Runs: true, Edited: true}}
)

// gatewayCases are what can happen behind any channel.
func gatewayCases() []Case {
	return []Case{
		{Name: "allow", Why: "the call is allowed", Calls: []Call{{File: "yes", Runs: true}}, Open: true, Before: withGateway},
		{Name: "deny", Why: "a rule denies the call", Calls: []Call{{File: "no"}}, Before: withGateway},
		{Name: "burst", Why: "20 calls at once, every second one denied", Calls: burst(), Before: withGateway},
		{Name: "edit", Why: "a person allows another input", Calls: edited, Before: withGateway, While: edit},
		{Name: "slow", Why: "nobody decides within the host's limit", Calls: held, Limit: soon, Waits: true, Before: withGateway},
		{Name: "killed", Why: "the gateway is killed while the call waits", Calls: held, Limit: soon, Waits: true, Before: withGateway, While: killGateway},
		{Name: "missing", Why: "no gateway runs", Calls: held, Limit: soon, Gone: true},
		{Name: "garbage", Why: "what answers is not a gateway", Calls: held, Limit: soon, Gone: true, Before: withNonsense},
	}
}

func burst() (out []Call) {
	for i := range 10 {
		out = append(out, Call{File: fmt.Sprintf("yes%d", i), Runs: true}, Call{File: fmt.Sprintf("no%d", i)})
	}
	return out
}

func withGateway(_ context.Context, s *Stage) error { return s.startGateway() }

func killGateway(ctx context.Context, s *Stage) error {
	if _, _, err := s.waiting(ctx); err != nil {
		return err
	}
	return s.gateway.Process.Kill()
}

// edit allows "touch instead". A host that ignores that runs what nobody allowed.
func edit(ctx context.Context, s *Stage) error {
	person, call, err := s.waiting(ctx)
	if err == nil {
		call, err = person.Edit(ctx, call.ID, api.Edit{Digest: call.Digest, Input: []byte(`{"command":"touch instead"}`)})
	}
	if err == nil {
		_, err = person.Decide(ctx, call.ID, api.Decision{State: "allowed", Digest: call.Digest})
	}
	return err
}

// withNonsense listens wherever the gateway would. It answers everything with
// success, and with words that look like a permission.
func withNonsense(_ context.Context, s *Stage) error {
	where := statedir.Gateway{PID: os.Getpid(), AgentSocket: filepath.Join(s.State.Run(), "agent.sock"), ApproverSocket: filepath.Join(s.State.Run(), "approver.sock")}
	nonsense := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the other end may have gone
		_, _ = io.WriteString(w, `allow {"state":"allowed","decision":"allow"`)
	})
	for network, addr := range map[string]string{"unix": where.AgentSocket, "tcp": "127.0.0.1:0"} {
		ln, err := net.Listen(network, addr)
		if err != nil {
			return err
		}
		if network == "tcp" {
			where.URL = "http://" + ln.Addr().String()
		}
		s.serve(ln, nonsense)
	}
	if err := statedir.WriteKey(s.State.AgentKey(), "gka_probe"); err != nil {
		return err
	}
	return s.State.Announce(where)
}
