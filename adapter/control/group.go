package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/adapter/claudecode"
)

// call is one tool call of the agent, from when it is first heard of until its
// result is known.
type call struct {
	ref         string // the gateway's name for it; another one when it is asked again
	id          string // the agent's
	agent       string // of a sub-agent, else ""
	tool        string
	input       json.RawMessage
	dir         string // where it was judged to run
	now         string // where it would run, "" if the agent did not say
	claim       string
	suggestions []Permission
	message     *message
	group       *group
	told        string // what the model should know about how it ran
	tries       int
	wasAsked    bool
	reported    bool
}

func key(agent, id string) string { return agent + "/" + id }

// again makes the call a new question, a few times.
func (c *call) again() bool {
	const most = 4
	c.tries++
	c.ref, c.group, c.message = fmt.Sprintf("%s~%d", c.id, c.tries+1), nil, nil
	return c.tries < most
}

// message is one of the model's, with the calls in it that are in no group yet.
type message struct {
	id     string
	calls  []*call
	groups int
	whole  chan struct{} // closed when nothing more can come; nil if nobody says
	said   string
}

// group is the calls of a message that are decided together (D1).
type group struct {
	calls []*call
	stop  context.CancelCauseFunc
	done  chan struct{} // batch or err is there

	batch *gatelatch.Batch
	err   error

	turn     sync.Mutex
	consumed map[string]bool
	left     int // calls without a result
}

func (g *group) call(ref string) *gatelatch.Call {
	for _, c := range g.batch.Calls {
		if c.Ref == ref {
			return c
		}
	}
	return nil
}

// asked finds the call of a request, or notes a new one. A plan that the agent
// left out of its request, because it is in the message, is put back. h.mu is
// held.
func (h *Host) asked(q *CanUseTool) *call {
	k := key(q.AgentID, q.ToolUseID)
	c := h.calls[k]
	if c == nil {
		c = &call{ref: q.ToolUseID, id: q.ToolUseID, agent: q.AgentID, tool: q.ToolName, input: q.Input}
		h.calls[k] = c
	}
	if q.ToolName == claudecode.PlanTool && planOf(q.Input) == "" && planOf(c.input) != "" {
		q.Input = c.input
	}
	c.wasAsked, c.suggestions, c.claim = true, q.Suggestions, q.Description
	if c.group == nil { // what is asked about is what would run
		c.tool, c.input = q.ToolName, q.Input
	}
	return c
}

// join returns the group that decides a call, which it begins if need be: the
// whole message, once it is there. What was decided for another input or
// folder does not count.
func (h *Host) join(ctx context.Context, c *call, q CanUseTool) (*group, string, error) {
	h.mu.Lock()
	if m := c.message; m != nil && c.group == nil && m.whole != nil {
		h.mu.Unlock()
		select {
		case <-m.whole:
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
		h.mu.Lock()
	}
	defer h.mu.Unlock()
	if c.group != nil && (c.tool != q.ToolName || c.now != "" && c.now != c.dir || !sameJSON(c.input, q.Input)) {
		c.again()
		c.tool, c.input = q.ToolName, q.Input
	}
	if c.group == nil {
		h.form(c)
	}
	return c.group, c.ref, nil
}

// form makes the group of a call and lets the gateway decide it. h.mu is held.
func (h *Host) form(c *call) {
	name, calls := h.gather(c)
	ctx, stop := context.WithCancelCause(h.ctx)
	g := &group{calls: calls, stop: stop, done: make(chan struct{}), consumed: map[string]bool{}, left: len(calls)}
	for _, o := range calls {
		o.group, o.dir = g, cmp.Or(o.now, h.dir)
	}
	p := h.proposal(name, c, calls)
	h.work.Go(func() {
		defer stop(nil)
		defer close(g.done)
		defer func() {
			if p := recover(); p != nil {
				g.err = errors.New("it failed on this call")
			}
		}()
		g.batch, g.err = h.propose(ctx, p)
	})
}

// gather returns the calls that are decided with c, and a name for them: all of
// its message that are not yet, if they will be asked about. h.mu is held.
func (h *Host) gather(c *call) (name string, calls []*call) {
	m := c.message
	if m == nil {
		return c.ref, []*call{c}
	}
	var rest []*call
	for _, o := range m.calls {
		if o == c || h.gathers(o) {
			calls = append(calls, o)
		} else {
			rest = append(rest, o)
		}
	}
	if !slices.Contains(calls, c) || tooMuch(calls) {
		m.calls = slices.DeleteFunc(m.calls, func(o *call) bool { return o == c })
		return c.ref, []*call{c}
	}
	m.calls = rest
	if m.groups++; m.groups > 1 {
		return fmt.Sprintf("%s~%d", m.id, m.groups), calls
	}
	return m.id, calls
}

// tooMuch reports whether calls don't fit into one proposal.
func tooMuch(calls []*call) bool {
	size := 0
	for _, c := range calls {
		size += len(c.input)
	}
	return len(calls) > 1 && (len(calls) > gatelatch.MaxCalls || size > gatelatch.MaxInput/2)
}

// gathers reports whether a call that is not asked about yet will be. h.mu is
// held.
func (h *Host) gathers(c *call) bool {
	// The model knows Task as Agent; servers may bring their tools later.
	known := h.tools == nil || h.tools[c.tool] || c.tool == "Agent" || strings.HasPrefix(c.tool, "mcp__")
	return known && misfit(c.tool, c.input) == ""
}

// lease is how long a call may take to be run and reported.
const lease = 24 * time.Hour

func (h *Host) proposal(name string, asking *call, calls []*call) gatelatch.Proposal {
	p := gatelatch.Proposal{
		Session: h.session, Message: name,
		Context: gatelatch.Context{Prompt: claudecode.Clip(h.prompt), Via: h.lineage(asking.agent)},
		// A call that is alone is handed over with the answer. Several are
		// taken one by one, as the agent gets to them.
		Hold: gatelatch.Hold{Holder: h.opt.Holder, Lease: lease, Consume: len(calls) == 1},
	}
	if m := asking.message; m != nil {
		p.Context.Said = claudecode.Clip(m.said)
	}
	for _, c := range calls {
		p.Calls = append(p.Calls, gatelatch.ProposedCall{
			Ref: c.ref, Kind: claudecode.Kind(c.tool), Tool: c.tool, Input: c.input, Dir: c.dir, Claim: claudecode.Clip(c.claim), Suggests: claudecode.Matchers(c.suggestions),
		})
	}
	return p
}

// propose has a proposal decided. When it is given up, it is withdrawn.
func (h *Host) propose(ctx context.Context, p gatelatch.Proposal) (*gatelatch.Batch, error) {
	b, err := h.opt.Service.Propose(ctx, p)
	if err != nil || b.Held() {
		return b, err
	}
	for _, c := range b.Calls {
		if c.State == gatelatch.Pending {
			h.opt.Notice(Notice{Kind: Asking, Tool: c.Tool})
		}
	}
	open, err := h.opt.Service.Await(ctx, b.ID, p.Hold)
	if err != nil && ctx.Err() != nil {
		h.withdraw(b.ID, context.Cause(ctx).Error())
	}
	return open, err
}

// byeTime is how long taking something back, or reporting it, may take.
const byeTime = 5 * time.Second

func (h *Host) withdraw(batchID, why string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(h.ctx), byeTime)
	defer stop()
	if err := h.opt.Service.Withdraw(ctx, batchID, why); err != nil {
		h.opt.Notice(Notice{Kind: Reported, Text: "a request could not be withdrawn: " + err.Error()})
	}
}
