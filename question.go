package gatelatch

import (
	"encoding/json"
	"slices"
	"strings"
)

// answered checks that a question's answers are to its questions, and to all of
// them (S7). An input without questions takes no answers.
func (c *Call) answered(answers map[string]string) error {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return invalid("the questions can't be read, so they can't be answered")
	}
	var asked, open []string
	for _, q := range in.Questions {
		asked = append(asked, q.Question)
		if answers[q.Question] == "" {
			open = append(open, q.Question)
		}
	}
	for q := range answers {
		if !slices.Contains(asked, q) {
			return invalid("nobody asked %q", q)
		}
	}
	if len(open) > 0 {
		return invalid("not answered: %s", strings.Join(open, " / "))
	}
	return nil
}
