package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/gatelatch/gatelatch/adapter/claudecode"
	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// misfit says why an input can't be decided at all, "" if it can.
func misfit(tool string, input json.RawMessage) string {
	if err := strictjson.Check(input); err != nil {
		return "The input can't be read: " + err.Error()
	}
	if tool != claudecode.QuestionTool {
		return ""
	}
	return badQuestions(input)
}

// badQuestions checks S7: what a person could not answer is not asked.
func badQuestions(input json.RawMessage) string {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Header   string `json:"header"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "The questions can't be read."
	}
	if n := len(in.Questions); n < 1 || n > 4 {
		return fmt.Sprintf("There are %d questions; 1 to 4 can be asked.", n)
	}
	asked := map[string]bool{}
	for _, q := range in.Questions {
		switch n := len(q.Options); {
		case q.Question == "" || asked[q.Question]:
			return "Each question needs a text of its own."
		case utf8.RuneCountInString(q.Header) > 12:
			return "The header of a question has at most 12 characters."
		case n < 2 || n > 4:
			return fmt.Sprintf("A question has %d options; 2 to 4 can be offered.", n)
		}
		asked[q.Question] = true
		labels := map[string]bool{}
		for _, o := range q.Options {
			if o.Label == "" || labels[o.Label] {
				return "Each option needs a label of its own."
			}
			labels[o.Label] = true
		}
	}
	return ""
}

func planOf(input json.RawMessage) string {
	var in struct {
		Plan string `json:"plan"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return strings.TrimSpace(in.Plan)
}

// sameJSON reports whether two values differ only in how they are written.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := decode(a)
	y, errY := decode(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func decode(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // large numbers stay as they are
	err = d.Decode(&v)
	return v, err
}

// changes tells the model what a person or a hook made of its input, "" if
// nothing.
func changes(proposed, ran json.RawMessage) string {
	if sameJSON(proposed, ran) {
		return ""
	}
	var was, is map[string]json.RawMessage
	if json.Unmarshal(proposed, &was) != nil || json.Unmarshal(ran, &is) != nil {
		return "This did not run as you asked: its input was changed before it was allowed. It ran with " + claudecode.Clip(string(ran))
	}
	fields, err := strictjson.Fields(ran)
	if err != nil {
		return "This did not run as you asked: its input was changed before it was allowed."
	}
	var parts []string
	for _, f := range fields {
		if !sameJSON(was[f.Name], is[f.Name]) {
			parts = append(parts, fmt.Sprintf("%s is now %s", f.Name, claudecode.Clip(string(is[f.Name]))))
		}
		delete(was, f.Name)
	}
	for name := range was {
		parts = append(parts, name+" was taken out")
	}
	return "This did not run as you asked: its input was changed before it was allowed. " + strings.Join(parts, "; ") + "."
}
