// Package claudecode is what all of Claude Code's channels have in common: its
// tools that ask people, its own permission rules, and how its texts are shown.
package claudecode

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// Tools that are for a person to answer.
const (
	QuestionTool = "AskUserQuestion"
	PlanTool     = "ExitPlanMode"
)

// Kind says which card a tool needs.
func Kind(tool string) gatelatch.Kind {
	switch tool {
	case QuestionTool:
		return gatelatch.Question
	case PlanTool:
		return gatelatch.Plan
	}
	return gatelatch.Permission
}

// Effective is the input that runs: for a question, with the answers in it.
func Effective(c *gatelatch.Call) (json.RawMessage, error) {
	if c.Decided == nil || len(c.Decided.Answers) == 0 {
		return c.Input, nil
	}
	answers, err := strictjson.Marshal(map[string]any{"answers": c.Decided.Answers})
	if err != nil {
		return nil, err
	}
	return strictjson.Merge(c.Input, answers)
}

// Claim is what the agent says the call is for.
func Claim(input json.RawMessage) string {
	var in struct {
		Description string `json:"description"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return Clip(in.Description)
}

const mostWords = 2000 // bytes of a text that is shown beside a card

// Clip shortens foreign text and says so.
func Clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= mostWords {
		return s
	}
	cut := mostWords
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " … (shortened)"
}

// A Permission is a change of the agent's own permissions: suggested by the
// agent, or sent with an allow.
type Permission struct {
	Type        string   `json:"type"` // addRules, addDirectories, setMode, …
	Rules       []Rule   `json:"rules,omitempty"`
	Behavior    string   `json:"behavior,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	Directories []string `json:"directories,omitempty"`
	Destination string   `json:"destination,omitempty"` // session, localSettings, …
}

// A Rule is one permission rule of the agent.
type Rule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent,omitempty"`
}

// Suggested returns the matchers of suggestions as they came. They are a help:
// what can't be read suggests nothing.
func Suggested(raw json.RawMessage) []string {
	var suggestions []Permission
	if json.Unmarshal(raw, &suggestions) != nil {
		return nil
	}
	return Matchers(suggestions)
}

// Matchers are the agent's suggestions in the language of our rules. Those that
// are no rules that allow, such as another mode, are left out.
func Matchers(suggestions []Permission) (out []string) {
	const most = 16
	for _, s := range suggestions {
		if s.Type != "addRules" || s.Behavior != "allow" {
			continue
		}
		for _, r := range s.Rules {
			match := r.ToolName
			if c := r.RuleContent; strings.HasPrefix(c, "//") { // the agent's way to write an absolute path
				match += "(" + c[1:] + ")"
			} else if c != "" {
				match += "(" + c + ")"
			}
			if len(out) < most {
				out = append(out, match)
			}
		}
	}
	return out
}
