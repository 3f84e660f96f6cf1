package hookcmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Claude answers Claude Code's hooks.
//
// PreToolUse is the gate: it fires for every call in every mode. With a person
// at the terminal it answers at once, and what must be asked goes on to the
// terminal's dialog; PermissionRequest then waits beside that dialog, and
// whoever answers first wins. Without a person at the terminal "ask" would be
// a denial, so PreToolUse itself waits.
type Claude struct {
	Service  gatelatch.Host
	Attended bool
	Project  string
	Holder   string // a nonce of this process: it alone may take the answer
	// Defer, if it is set, is how long a headless agent waits before it ends
	// until it is resumed.
	Defer time.Duration
}

// Answer answers one event.
func (c *Claude) Answer(ctx context.Context, in hookInput) (Answer, error) {
	e := in.event()
	switch {
	case e.reports():
		return c.report(ctx, in), nil
	case e.ends():
		return c.leave(ctx, in), nil
	case !e.blocks():
		return e.silent(), nil
	}
	b, err := c.Service.Propose(ctx, c.proposal(in))
	if err != nil {
		return Answer{}, waited(ctx, err)
	}
	// The dialog would run the agent's own input. One that a hook replaced is
	// decided here, where the answer carries it.
	if b.Opened == nil && e == preToolUse && c.Attended && !replaced(in, b) {
		return e.ask("Gatelatch asks: " + why(b)), nil
	}
	if b.Opened == nil {
		held, end, err := c.await(ctx, e, b.ID)
		if err != nil || held == nil {
			return end, err
		}
		b = held
	}
	return answer(in, b)
}

// hold takes the allow with the opening: the host runs the call as soon as it
// hears of it, and may report it a day later.
func (c *Claude) hold() gatelatch.Hold {
	return gatelatch.Hold{Holder: c.Holder, Lease: 24 * time.Hour, Consume: true}
}

// replaced reports whether the gateway would run another input.
func replaced(in hookInput, b *gatelatch.Batch) bool {
	own, err := strictjson.Compact(in.ToolInput)
	return err != nil || len(b.Calls) != 1 || !bytes.Equal(own, b.Calls[0].Input) && !bytes.Equal(in.ToolInput, b.Calls[0].Input)
}

// answer turns a batch that is ours into what the host gets. Only an allowed
// call of an opened batch is an allow.
func answer(in hookInput, b *gatelatch.Batch) (Answer, error) {
	e := in.event()
	if len(b.Calls) != 1 || !b.Held() {
		return Answer{}, errors.New("the gateway's answer is not about this call")
	}
	call := b.Calls[0]
	if call.State == gatelatch.Allowed && call.Consumed == nil {
		return Answer{}, errors.New("the call was allowed, but not to this process")
	}
	if call.State != gatelatch.Allowed {
		if call.Decided != nil && call.Decided.Interrupt {
			return e.interrupt(call.Answer()), nil
		}
		return e.deny(call.Answer()), nil
	}
	input, err := claudecode.Effective(call)
	if err != nil {
		return Answer{}, err
	}
	by := "by policy"
	if call.Decided != nil && call.Decided.By.Kind == gatelatch.PersonActor {
		by = "by " + call.Decided.By.String()
	}
	a := allowance{input: input}
	if replaced(in, b) {
		a.tell = changed(call.Input)
	}
	if call.Decided != nil {
		a.mode = string(call.Decided.Mode)
	}
	return e.allow(a, "Allowed "+by+" in Gatelatch"), nil
}

func why(b *gatelatch.Batch) string {
	for _, c := range b.Calls {
		for _, r := range c.Verdict.Reasons {
			if r.Message != "" {
				return r.Message
			}
		}
	}
	return "no rule covers this"
}

func (c *Claude) proposal(in hookInput) gatelatch.Proposal {
	p := gatelatch.Proposal{
		Session: gatelatch.SessionInfo{ID: in.SessionID, Name: "Claude Code", Project: c.Project, Mode: in.PermissionMode, Host: hostname(), Transcript: in.TranscriptPath},
		Message: in.ToolUseID, Hold: c.hold(),
		Context: lastWords(in.TranscriptPath), Subagent: in.AgentID,
		Calls: []gatelatch.ProposedCall{{
			Ref: in.ToolUseID, Kind: claudecode.Kind(in.ToolName), Tool: in.ToolName, Input: in.ToolInput, Dir: in.Cwd, Claim: claudecode.Claim(in.ToolInput),
			Suggests: claudecode.Suggested(in.Suggestions),
		}},
	}
	if in.AgentID != "" {
		p.Context.Via = claudecode.Clip(strings.TrimSpace(in.AgentType + " " + in.AgentID))
	}
	if p.Session.Project == "" {
		p.Session.Project = in.Cwd
	}
	if in.PromptID != "" {
		p.Pair = in.PromptID + "/" + in.AgentID
	}
	if in.event() == permissionRequest { // it has no id of its own
		p.Message, p.Calls[0].Ref, p.Repeats = c.Holder, "", p.Pair != ""
	}
	return p
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
