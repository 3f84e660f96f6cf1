package server

import (
	"slices"
	"sync"

	"github.com/gatelatch/gatelatch/api"
	"github.com/gatelatch/gatelatch/toolset"
)

// tools says which of its tools an agent may use. Nothing is kept of it: the
// gate is asked before each call, whatever the agent was told here.
func tools(s *Server, q *request, in api.ToolsRequest) (api.Tools, error) {
	out := api.Tools{Tools: []api.Tool{}, Key: q.key.ID, Owner: slices.Contains(s.opt.Tools.Owners, q.key.ID)}
	var all []toolset.Tool
	for _, t := range in.Tools {
		all = append(all, toolset.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, OwnerOnly: t.OwnerOnly, Plugin: t.Plugin})
	}
	chosen, trace, err := toolset.Select(all, toolset.Context{
		Agent: in.Agent, Provider: in.Provider, Model: in.Model, Profile: in.Profile, Group: in.Group,
		Sandbox: in.Sandbox, Subagent: in.Subagent, Owner: out.Owner,
	}, &s.opt.Tools)
	if err != nil {
		return api.Tools{}, err
	}
	for _, t := range chosen {
		out.Tools = append(out.Tools, api.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, OwnerOnly: t.OwnerOnly, Plugin: t.Plugin})
	}
	for _, st := range trace {
		step := api.ToolStep{Label: st.Label, Rule: st.Rule, Warnings: st.Warnings}
		for _, r := range st.Removed {
			step.Removed = append(step.Removed, api.RemovedTool{Tool: r.Tool, Why: r.Why})
		}
		out.Steps = append(out.Steps, step)
	}
	for _, w := range trace.Warnings() {
		if s.warned.first(w) {
			s.opt.Log.Warn("a list of tools can't be meant like that", "warning", w)
		}
	}
	return out, nil
}

// said remembers what was logged, so that an agent can't fill the log.
type said struct {
	mu    sync.Mutex
	texts map[string]bool
}

func (s *said) first(text string) bool {
	const most = 100
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[text] || len(s.texts) == most {
		return false
	}
	if s.texts == nil {
		s.texts = map[string]bool{}
	}
	s.texts[text] = true
	return true
}
