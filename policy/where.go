package policy

import (
	"encoding/json"
	"strings"

	"github.com/gatelatch/gatelatch/internal/strictjson"
)

// A condition is a Condition, compiled. A rule that allows needs it to hold for
// certain. For a rule that asks or denies, a value that it can't read counts as
// one that it is about; only a field that is plainly missing does not.
type condition struct {
	field string
	steps []step
	test  test
}

// A step leads from a value to a member of it, or with an empty name to each
// element.
type step string

const each step = ""

// A test looks at one value, which is never null.
type test interface {
	try(f *Facts, value any, allow bool) outcome
}

type outcome uint8

const (
	missing outcome = iota
	fails
	holds
	odd // of another type than expected, or not readable
)

// holds reports whether the condition is met, and where.
func (c *condition) holds(f *Facts, allow bool) (hit, bool) {
	value, result := c.find(f, f.input, c.steps, allow)
	h := hit{field: c.field, part: partOf(value)}
	if p, ok := c.test.(present); ok {
		switch {
		case result == odd:
			return h, !allow
		case result == missing && allow && !bool(p): // in no spelling
			_, result = c.find(f, f.input, c.steps, false)
		}
		return h, (result != missing) == bool(p)
	}
	return h, result == holds || result == odd && !allow
}

// find follows the steps and tries what is there. It returns the value that
// decided.
func (c *condition) find(f *Facts, value any, steps []step, allow bool) (any, outcome) {
	switch v := value.(type) {
	case nil:
		return nil, odd
	case []any:
		if len(steps) > 0 && steps[0] == each {
			return c.findIn(f, v, steps[1:], allow)
		}
	case strictjson.Members:
		if len(steps) > 0 && steps[0] != each {
			next, has := member(v, string(steps[0]), allow)
			if !has {
				return nil, missing
			}
			return c.find(f, next, steps[1:], allow)
		}
	}
	if len(steps) > 0 {
		return value, odd
	}
	return value, c.test.try(f, value, allow)
}

// findIn is for all elements, and at least one, to allow; otherwise for any.
func (c *condition) findIn(f *Facts, values []any, steps []step, allow bool) (value any, result outcome) {
	result = fails
	for _, v := range values {
		value, result = c.find(f, v, steps, allow)
		if hit := result == holds || result == odd && !allow; hit != allow {
			return value, result
		}
	}
	return value, result
}

// member returns a member by its exact name, or to forbid in any case of
// letters: some programs read it so. There are never two.
func member(object strictjson.Members, name string, allow bool) (any, bool) {
	value, has := object.Get(name)
	if has || allow {
		return value, has
	}
	for _, m := range object {
		if strings.EqualFold(m.Name, name) {
			return m.Value, true
		}
	}
	return nil, false
}

// partOf returns the text of a value that a reason can show.
func partOf(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) <= maxPath {
			return v
		}
	case json.Number:
		return string(v)
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}
