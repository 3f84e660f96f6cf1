package notify

import "github.com/gatelatch/gatelatch"

// Risk is how much is at stake, as far as policy could read the call.
type Risk string

// Risks.
const (
	Low    Risk = "low"    // it only reads, inside the project
	Medium Risk = "medium" // it changes the project, or goes to the network
	High   Risk = "high"   // it reaches further, or nobody knows how far
)

// grave are effects that no push of a button may let through.
var grave = map[string]bool{"privilege": true, "secret": true, "process": true, "unknown": true, "remote-write": true, "delete": true}

// RiskOf says how much is at stake. What can't be read is high.
func RiskOf(c *gatelatch.Call) Risk {
	n := c.Verdict.Needs
	switch {
	case c.Kind != gatelatch.Permission:
		return Medium // an answer or a plan: nothing runs by it
	case n == nil || n.Type == gatelatch.NeedAll || n.More > 0 || len(n.Touches) == 0 && n.Type == gatelatch.NeedCommand:
		return High
	}
	risk := Low
	if n.Type != gatelatch.NeedRead {
		risk = Medium
	}
	for _, t := range n.Touches {
		switch {
		case grave[t.Does], t.Secret, t.Outside && t.Does != "read":
			return High
		case t.Does != "read", t.Outside:
			risk = Medium
		}
	}
	return risk
}
