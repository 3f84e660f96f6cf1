package modeltest

import (
	"context"
	"errors"
	"time"

	"github.com/gatelatch/gatelatch"
)

// Tools are named after what the rules say about them: no rule speaks about
// "plain", and "brief" has to be decided soon. The input "evil" is denied.
var (
	tools  = []string{"plain", "ask", "allow", "plain", "brief", "ask", "deny"}
	inputs = []string{`"a"`, `"b"`, `"evil"`}
)

const brief = time.Minute

func judge(tool, input string) (effect string, limit time.Duration) {
	switch {
	case input == `"evil"`:
		return "deny", 0
	case tool == "plain":
		return "", 0
	case tool == "brief":
		return "ask", brief
	}
	return tool, 0
}

func covers(match, tool, input string) bool {
	return match == tool+"(*)" || match == tool+"("+input+")"
}

// Policy is the same as a gatelatch.Policy.
type Policy struct{}

// Judge implements gatelatch.Policy.
func (Policy) Judge(_ context.Context, c *gatelatch.Call, _ *gatelatch.Session, grants []*gatelatch.Grant) gatelatch.Verdict {
	effect, limit := judge(c.Tool, string(c.Input))
	v := gatelatch.Verdict{Effect: gatelatch.Ask, Limit: limit}
	if effect != "" {
		_ = v.Effect.UnmarshalText([]byte(effect)) // an unknown word is a denial
		return v
	}
	for _, g := range grants {
		if covers(g.Match, c.Tool, string(c.Input)) {
			v.Effect, v.Grant = gatelatch.Allow, g.ID
			break
		}
	}
	return v
}

// Remember implements gatelatch.Policy.
func (Policy) Remember(c *gatelatch.Call, _ *gatelatch.Session, _ gatelatch.Scope) (string, error) {
	return c.Tool + "(" + string(c.Input) + ")", nil
}

// Covers implements gatelatch.Policy.
func (Policy) Covers(match string, c *gatelatch.Call, _ *gatelatch.Session, _ gatelatch.Scope) error {
	if !covers(match, c.Tool, string(c.Input)) {
		return errors.New("it does not cover the call")
	}
	return nil
}
