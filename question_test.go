package gatelatch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatelatch/gatelatch"
)

func asked(texts ...string) string {
	var qs []string
	for _, text := range texts {
		qs = append(qs, fmt.Sprintf(`{"question":%q,"header":"twelve chars","options":[{"label":"A"},{"label":"B"}]}`, text))
	}
	return `{"questions":[` + strings.Join(qs, ",") + `]}`
}

// S7: only questions that can be answered one by one are asked.
func TestQuestionsThatCanBeAsked(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		input string
		ok    bool
	}{
		"one":          {asked("a?"), true},
		"four":         {asked("a?", "b?", "c?", "d?"), true},
		"none":         {`{"questions":[]}`, false},
		"no list":      {`{}`, false},
		"no object":    {`[]`, false},
		"five":         {asked("a?", "b?", "c?", "d?", "e?"), false},
		"twice":        {asked("a?", "a?"), false},
		"no text":      {asked(""), false},
		"long header":  {strings.Replace(asked("a?"), "twelve", "thirteen", 1), false},
		"wide header":  {strings.Replace(asked("a?"), "twelve chars", "数据库数据库数据库数据库", 1), true},
		"one option":   {strings.Replace(asked("a?"), `,{"label":"B"}`, "", 1), false},
		"five options": {strings.Replace(asked("a?"), `{"label":"B"}`, `{"label":"B"},{"label":"C"},{"label":"D"},{"label":"E"}`, 1), false},
		"same option":  {strings.Replace(asked("a?"), `"B"`, `"A"`, 1), false},
		"no label":     {strings.Replace(asked("a?"), `"B"`, `""`, 1), false},
	} {
		p := message("m "+name, "ask")
		p.Calls[0].Kind, p.Calls[0].Input = gatelatch.Question, []byte(tt.input)
		if _, err := w.gate.As(agentA).Propose(t.Context(), p); (err == nil) != tt.ok || err != nil && !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswersFitTheQuestions(t *testing.T) {
	w := newWorld(t)
	p := message("m1", "ask")
	p.Calls[0].Kind, p.Calls[0].Input = gatelatch.Question, []byte(asked("a?", "b?"))
	c := w.propose(p).Calls[0]
	for name, answers := range map[string]map[string]string{
		"none": nil, "one": {"a?": "A"}, "blank": {"a?": "A", "b?": "  "}, "another": {"a?": "A", "b?": "B", "c?": "C"},
	} {
		if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Answers: answers}); !errors.Is(err, gatelatch.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	words := map[string]string{"a?": "A, B", "b?": "words of my own"}
	if _, err := w.gate.As(mira).Decide(t.Context(), c.ID, gatelatch.Decision{State: gatelatch.Allowed, Digest: c.Digest, Answers: words}); err != nil {
		t.Error(err)
	}
}
