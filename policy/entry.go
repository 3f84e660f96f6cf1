package policy

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
)

func (p *parser) list(n *yaml.Node, effect gatelatch.Effect) error {
	switch {
	case empty(n):
		return nil // "deny:" with nothing under it
	case n.Kind != yaml.SequenceNode:
		return p.errorf(n, "%s is a list of rules", effect)
	}
	for _, item := range n.Content {
		if err := p.entry(item, effect); err != nil {
			return err
		}
	}
	return nil
}

// An entry is a rule as it stands in a list: a text, or keys.
type entry struct {
	text     string
	rule     rule
	examples []example
}

// entry reads a rule and checks its examples.
func (p *parser) entry(n *yaml.Node, effect gatelatch.Effect) (err error) {
	e := entry{}
	if n.Kind == yaml.MappingNode {
		err = p.mapping(n, func(key string, k, v *yaml.Node) error { return p.entryKey(&e, effect, key, k, v) })
	} else {
		e.text, err = p.text(n)
	}
	if err != nil {
		return err
	}
	if err := p.bounded(n); err != nil {
		return err
	}
	r, err := parseRule(e.text, effect)
	if err != nil {
		return p.errorf(n, "%v", err)
	}
	r.Layer, r.Source = p.layer.name, p.at(n)
	r.Why, r.Within, r.Until, r.Where, r.where = e.rule.Why, e.rule.Within, e.rule.Until, e.rule.Where, e.rule.where
	r.say()
	for _, ex := range e.examples {
		if err := p.try(&r, ex); err != nil {
			return err
		}
	}
	if effect == gatelatch.Allow && r.ended(p.now) {
		p.layer.warnings = append(p.layer.warnings, fmt.Sprintf("%s: %s ended on %s and allows nothing", r.Source, r.Text, r.Until.Format(time.DateOnly)))
	}
	p.layer.rules = append(p.layer.rules, r)
	return nil
}

// bounded limits what a project's file makes the gateway do: whoever wrote it
// may mean to keep it busy.
func (p *parser) bounded(n *yaml.Node) error {
	if p.layer.name == layerProject && (len(p.layer.rules) >= maxProjectRules || p.examples > maxProjectExamples || p.patterns > maxProjectPatterns) {
		return p.errorf(n, "a project's file has at most %d rules, %d examples and %d patterns under matches", maxProjectRules, maxProjectExamples, maxProjectPatterns)
	}
	return nil
}

func (p *parser) entryKey(e *entry, effect gatelatch.Effect, key string, k, v *yaml.Node) (err error) {
	switch key {
	case "rule":
		e.text, err = p.text(v)
	case "why":
		e.rule.Why, err = p.text(v)
	case "within":
		e.rule.Within, err = p.within(k, v, effect)
	case "until":
		e.rule.Until, err = p.until(v)
	case "where":
		err = p.where(&e.rule, effect, v)
	case "match", "not_match":
		err = p.sequence(v, func(item *yaml.Node) error {
			e.examples = append(e.examples, example{item, key == "match"})
			p.examples++
			return nil
		})
	default:
		err = p.errorf(k, "unknown key %q in a rule; there are rule, why, within, until, where, match and not_match (put quotes around a rule with \": \" in it)", key)
	}
	return err
}

// within reads how long a call may wait for a person.
func (p *parser) within(k, v *yaml.Node, effect gatelatch.Effect) (time.Duration, error) {
	if effect != gatelatch.Ask {
		return 0, p.errorf(k, "within is how long a call may wait, so only a rule under ask has it")
	}
	d, err := time.ParseDuration(v.Value)
	if err != nil || v.Kind != yaml.ScalarNode || d < time.Second {
		return 0, p.errorf(v, "within is a time of at least a second: 30s, 10m, 1h30m")
	}
	return d, nil
}

// until reads when a rule ends. A date alone is its first moment, UTC.
func (p *parser) until(v *yaml.Node) (time.Time, error) {
	if v.Kind == yaml.ScalarNode {
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if t, err := time.Parse(layout, v.Value); err == nil && !t.IsZero() {
				return t, nil
			}
		}
	}
	return time.Time{}, p.errorf(v, "until is a date or a time: 2027-01-31, 2027-01-31T18:00:00Z")
}
