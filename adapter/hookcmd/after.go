package hookcmd

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
)

const reportTime = 2 * time.Second

// report tells the gateway that a call ran, or never will. Nobody waits for it.
func (c *Claude) report(ctx context.Context, in hookInput) Answer {
	ctx, stop := context.WithTimeout(ctx, reportTime)
	defer stop()
	e := in.event()
	other, err := c.Service.Ran(ctx, gatelatch.Report{Session: in.SessionID, Ref: in.ToolUseID, OK: e == postToolUse})
	// PermissionRequest has no way to tell the agent what was changed;
	// PreToolUse, which decides when nobody is at the terminal, did.
	if err == nil && other && c.Attended && e != permissionDenied {
		return e.tell(changed(in.ToolInput))
	}
	return e.silent()
}

// changed tells the agent that something else ran than it asked for.
func changed(input json.RawMessage) string {
	return "The user changed this call before allowing it. It ran with this input: " + claudecode.Clip(string(input))
}

// leave takes back what nobody waits for any more. Whoever was answered in the
// terminal, or stopped there, sends no word of it.
func (c *Claude) leave(ctx context.Context, in hookInput) Answer {
	ctx, stop := context.WithTimeout(ctx, reportTime)
	defer stop()
	e := in.event()
	l := gatelatch.Leaving{Session: in.SessionID, Why: "the agent went on without it", All: e == sessionEnd, Prompt: e == userPromptSubmit}
	if e == subagentStop {
		l.Subagent = in.AgentID
	}
	if e == subagentStop && in.AgentID == "" {
		return e.silent() // whose turn is over is not known
	}
	said, err := c.Service.Leave(ctx, l)
	if err == nil && said != "" {
		return e.tell("The user stopped the turn before this and said: " + claudecode.Clip(said))
	}
	return e.silent()
}
