package gatelatch

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of questions (S7).
const (
	maxQuestions = 4
	minOptions   = 2
	maxOptions   = 4
	maxHeader    = 12 // characters
)

type questions struct {
	Questions []struct {
		Question string `json:"question"`
		Header   string `json:"header"`
		Options  []struct {
			Label string `json:"label"`
		} `json:"options"`
	} `json:"questions"`
}

func readQuestions(input []byte) (questions, error) {
	var in questions
	if err := json.Unmarshal(input, &in); err != nil {
		return in, invalid("the questions can't be read, so they can't be answered")
	}
	return in, nil
}

// askable checks that questions can be shown and answered one by one: answers
// are filed under a question's text, and name an option by its label.
func askable(input []byte) error {
	in, err := readQuestions(input)
	if err != nil {
		return err
	}
	if n := len(in.Questions); n < 1 || n > maxQuestions {
		return invalid("1 to %d questions are asked at once, not %d", maxQuestions, n)
	}
	texts := map[string]bool{}
	for _, q := range in.Questions {
		switch n := len(q.Options); {
		case q.Question == "" || texts[q.Question]:
			return invalid("each question has a text of its own")
		case utf8.RuneCountInString(q.Header) > maxHeader:
			return invalid("the header %q has more than %d characters", q.Header, maxHeader)
		case n < minOptions || n > maxOptions:
			return invalid("a question has %d to %d options, not %d; words of one's own are always possible", minOptions, maxOptions, n)
		}
		texts[q.Question] = true
		labels := map[string]bool{}
		for _, o := range q.Options {
			if o.Label == "" || labels[o.Label] {
				return invalid("each option has a label of its own")
			}
			labels[o.Label] = true
		}
	}
	return nil
}

// answered checks that a question's answers are to its questions, and to all of
// them. An input without questions takes no answers.
func (c *Call) answered(answers map[string]string) error {
	in, err := readQuestions(c.Input)
	if err != nil {
		return err
	}
	var asked, open []string
	for _, q := range in.Questions {
		asked = append(asked, q.Question)
		if strings.TrimSpace(answers[q.Question]) == "" {
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
