package toolset

import (
	"fmt"
	"slices"
	"strings"
)

// A Trace tells what each step did, in order.
type Trace []Step

// A Step is one step of the pipeline. It is there also if it removed nothing.
type Step struct {
	Label    string    `json:"label"`
	Rule     string    `json:"rule,omitempty"` // what it went by; "" if nothing is configured
	Removed  []Removal `json:"removed,omitempty"`
	Warnings []string  `json:"warnings,omitempty"` // something is configured that can't be meant
}

// A Removal says why a step removed a tool.
type Removal struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// Why returns the label of the step that removed a tool, and its reason.
func (t Trace) Why(tool string) (label, why string, removed bool) {
	for _, s := range t {
		for _, r := range s.Removed {
			if strings.EqualFold(r.Tool, tool) {
				return s.Label, r.Why, true
			}
		}
	}
	return "", "", false
}

// Warnings returns those of all steps, each with its label.
func (t Trace) Warnings() (out []string) {
	for _, s := range t {
		for _, w := range s.Warnings {
			out = append(out, s.Label+": "+w)
		}
	}
	return out
}

// keep is what every step is made of: it keeps the tools that why has nothing
// against, and notes the others.
func keep(tools []Tool, s Step, trace *Trace, why func(Tool) string) []Tool {
	var out []Tool
	for _, t := range tools {
		if w := why(t); w != "" {
			s.Removed = append(s.Removed, Removal{t.Name, w})
		} else {
			out = append(out, t)
		}
	}
	*trace = append(*trace, s)
	return out
}

func (l List) String() string {
	var parts []string
	if l.Allow != nil {
		parts = append(parts, "allow "+names(l.Allow))
	}
	if len(l.Deny) > 0 {
		parts = append(parts, "deny "+names(l.Deny))
	}
	return strings.Join(parts, "; ")
}

func names(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func quoted(list []string) string {
	list = slices.Clone(list)
	for i, s := range list {
		list[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(list, ", ")
}
