package policy

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gatelatch/gatelatch"
)

const operators = "is, in, matches, at_least, at_most, present, under and domain"

// where reads the conditions of a rule.
func (p *parser) where(r *rule, effect gatelatch.Effect, n *yaml.Node) error {
	return p.mapping(n, func(field string, k, v *yaml.Node) error {
		steps, err := parseField(field)
		if err != nil {
			return p.errorf(k, "%v", err)
		}
		add := func(op string, v *yaml.Node) error {
			test, values, err := p.test(op, v, effect == gatelatch.Allow)
			if err != nil {
				return err
			}
			if op == "present" && steps[len(steps)-1] == each {
				return p.errorf(v, "present is about a field, not about elements; leave out []")
			}
			r.Where = append(r.Where, Condition{Field: field, Op: op, Values: values})
			r.where = append(r.where, condition{field, steps, test})
			return nil
		}
		if v.Kind != yaml.MappingNode {
			return add("is", v)
		}
		if len(v.Content) == 0 {
			return p.errorf(v, "a condition is a value, or one of %s", operators)
		}
		return p.mapping(v, func(op string, _, v *yaml.Node) error { return add(op, v) })
	})
}

// parseField reads "range.start" or "files[].path".
func parseField(field string) ([]step, error) {
	var steps []step
	for name := range strings.SplitSeq(field, ".") {
		lists := 0
		for strings.HasSuffix(name, "[]") {
			name, lists = strings.TrimSuffix(name, "[]"), lists+1
		}
		if name == "" || strings.ContainsAny(name, "[]") {
			return nil, fmt.Errorf("%q is no field; write repo, range.start or files[].path", field)
		}
		steps = append(steps, step(name))
		for range lists {
			steps = append(steps, each)
		}
	}
	return steps, nil
}

// test reads what one operator demands, and how the rule says so.
func (p *parser) test(op string, v *yaml.Node, allow bool) (t test, values []string, err error) {
	if op == "in" {
		return p.oneOf(v)
	}
	if v.Kind != yaml.ScalarNode || empty(v) {
		return nil, nil, p.errorf(v, "%s takes one value", op)
	}
	switch op {
	case "is":
		return p.oneOf(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}, Line: v.Line})
	case "present":
		if v.ShortTag() != "!!bool" {
			return nil, nil, p.errorf(v, "present is true or false")
		}
		t = present(strings.EqualFold(v.Value, "true"))
	case "at_least", "at_most":
		t, err = p.limit(op, v)
	case "matches", "under", "domain":
		if op == "matches" {
			p.patterns++
		}
		if op == "matches" && p.layer.name == layerProject && len(v.Value) > maxProjectPattern {
			return nil, nil, p.errorf(v, "a pattern in a project's file has at most %d bytes", maxProjectPattern)
		}
		var text string
		if text, err = p.text(v); err == nil {
			if t, err = parseTest(op, text, allow); err != nil {
				err = p.errorf(v, "%v", err)
			}
		}
	default:
		err = p.errorf(v, "unknown condition %q; there are %s", op, operators)
	}
	return t, []string{v.Value}, err
}

func parseTest(op, text string, allow bool) (test, error) {
	switch op {
	case "matches":
		return parseWhole(text, allow)
	case "domain":
		return newDomain(text)
	}
	for _, rest := range []string{".", "~", "/"} {
		if text == rest || text == rest+"/" {
			return under{newPattern(rest[0], "**")}, nil
		}
	}
	on, err := parsePath(strings.TrimSuffix(text, "/"), true)
	p, ok := on.(pathPattern)
	switch {
	case err != nil:
		return nil, err
	case !ok || !p.exact() || p.below == '*':
		return nil, fmt.Errorf("under takes a folder: ./src, ~/notes or /srv")
	}
	return under{newPattern(p.below, p.glob+"/**")}, nil
}

func parseWhole(text string, allow bool) (test, error) {
	if len(text) > maxRegexp {
		return nil, fmt.Errorf("a pattern has at most %d bytes", maxRegexp)
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil { // alone: x)|(y
		return nil, fmt.Errorf("the pattern can't be read: %w", err)
	}
	flags := "(?is)"
	if allow {
		flags = ""
	}
	re, err := regexp.Compile(flags + `\A(?:` + text + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("the pattern can't be read: %w", err)
	}
	return whole{re}, nil
}

func (p *parser) limit(op string, v *yaml.Node) (test, error) {
	than, ok := decimal(v)
	if !ok {
		return nil, p.errorf(v, "%s takes a number", op)
	}
	if op == "at_least" {
		return limit{than, -1}, nil
	}
	return limit{than, 1}, nil
}

// decimal reads a number as JSON writes it: YAML also has 010, 0x8 and 1_000.
func decimal(n *yaml.Node) (*big.Rat, bool) {
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || !json.Valid([]byte(n.Value)) {
		return nil, false
	}
	return rational(n.Value)
}

// oneOf reads a list of values.
func (p *parser) oneOf(n *yaml.Node) (test, []string, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return nil, nil, p.errorf(n, "in takes a list of values")
	}
	o := &oneOf{exact: map[scalar]bool{}, folded: map[scalar]bool{}}
	var values []string
	for _, item := range n.Content {
		exact, err := p.scalar(item)
		if err != nil {
			return nil, nil, err
		}
		folded := exact
		if exact.kind == text {
			folded = scalarOf(exact.text, true)
		}
		o.exact[exact], o.folded[folded], o.kinds[exact.kind] = true, true, true
		values = append(values, item.Value)
	}
	return o, values, nil
}

func (p *parser) scalar(n *yaml.Node) (scalar, error) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str":
			return scalar{text, n.Value}, nil
		case "!!bool":
			return scalar{boolean, strings.ToLower(n.Value)}, nil
		}
		if r, ok := decimal(n); ok {
			return scalar{number, r.RatString()}, nil
		}
	}
	return scalar{}, p.errorf(n, "expected a text, a number, true or false; put quotes around a text")
}
