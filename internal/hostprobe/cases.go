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

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// rules allow and deny the calls of a case that no person is asked about.
func rules(calls []Call) string {
	var allow, deny strings.Builder
	for _, c := range calls {
		switch {
		case c.Runs:
			fmt.Fprintf(&allow, "  - Bash(touch %s)\n", c.File)
		case strings.HasPrefix(c.File, "no"):
			fmt.Fprintf(&deny, "  - Bash(touch %s)\n", c.File)
		}
	}
	return "version: 1\nallow:\n" + allow.String() + "deny:\n" + deny.String()
}

// soon is a limit that a case waits for.
const soon = 5

var (
	control = Case{Name: "control", Why: "nobody gates the agent", Calls: []Call{{"free", true}}}

	held = []Call{{"wait", false}}
)

// gatewayCases are what can happen behind any channel.
func gatewayCases() []Case {
	return []Case{
		{Name: "allow", Why: "a rule allows the call", Calls: []Call{{"yes", true}}, Open: true, Before: withGateway},
		{Name: "deny", Why: "a rule denies the call", Calls: []Call{{"no", false}}, Before: withGateway},
		{Name: "burst", Why: "20 calls at once, every second one denied", Calls: burst(), Before: withGateway},
		{Name: "slow", Why: "nobody decides within the host's limit", Calls: held, Limit: soon, Before: withGateway},
		{Name: "killed", Why: "the gateway is killed while the call waits", Calls: held, Limit: soon, Before: withGateway, While: killGateway},
		{Name: "missing", Why: "no gateway runs", Calls: held, Limit: soon},
		{Name: "garbage", Why: "what answers is not a gateway", Calls: held, Limit: soon, Before: withNonsense},
	}
}

func burst() (out []Call) {
	for i := range 10 {
		out = append(out, Call{fmt.Sprintf("yes%d", i), true}, Call{fmt.Sprintf("no%d", i), false})
	}
	return out
}

func withGateway(_ context.Context, s *Stage) error { return s.startGateway() }

func killGateway(ctx context.Context, s *Stage) error {
	if err := s.waiting(ctx); err != nil {
		return err
	}
	return s.gateway.Process.Kill()
}

// withNonsense listens where the gateway would. It answers everything with
// success, and with words that look like a permission.
func withNonsense(_ context.Context, s *Stage) error {
	where := statedir.Gateway{PID: os.Getpid(), AgentSocket: filepath.Join(s.State.Run(), "agent.sock"), ApproverSocket: filepath.Join(s.State.Run(), "approver.sock")}
	ln, err := net.Listen("unix", where.AgentSocket)
	if err != nil {
		return err
	}
	s.serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the other end may have gone
		_, _ = io.WriteString(w, `allow {"state":"allowed","decision":"allow"`)
	}))
	if err := statedir.WriteKey(s.State.AgentKey(), "gka_probe"); err != nil {
		return err
	}
	return s.State.Announce(where)
}
