package policy

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
)

// Limits of a pattern under matches, and of the text it is tried on.
const (
	maxRegexp  = 1000
	maxMatched = 64 << 10
)

// present tests nothing: that there is a value is enough.
type present bool

func (present) try(*Facts, any, bool) outcome { return holds }

// oneOf is for is and in. To forbid, case and blanks around a text don't matter.
type oneOf struct {
	exact  map[scalar]bool
	folded map[scalar]bool
	kinds  [3]bool // which the values are of
}

// A scalar is a text, a number or a bool, in one spelling.
type scalar struct {
	kind kind
	text string
}

type kind uint8

const (
	text kind = iota
	number
	boolean
	noScalar
)

func (o *oneOf) try(_ *Facts, value any, allow bool) outcome {
	s := scalarOf(value, !allow)
	switch {
	case s.kind == noScalar || !o.kinds[s.kind]:
		return odd
	case allow && o.exact[s], !allow && o.folded[s]:
		return holds
	}
	return fails
}

func scalarOf(value any, folded bool) scalar {
	switch v := value.(type) {
	case string:
		if folded {
			v = fold(strings.TrimSpace(v))
		}
		return scalar{text, v}
	case json.Number:
		if s, ok := canonical(string(v)); ok {
			return scalar{number, s}
		}
	case bool:
		return scalar{boolean, partOf(v)}
	}
	return scalar{kind: noScalar}
}

// canonical writes equal numbers in the same way.
func canonical(n string) (string, bool) {
	if n != "-0" && strings.Trim(strings.TrimPrefix(n, "-"), "0123456789") == "" {
		return n, true // JSON has no leading zeros
	}
	r, ok := rational(n)
	if !ok {
		return "", false
	}
	return r.RatString(), true
}

// rational reads a number exactly, unless it is so long that this costs.
func rational(n string) (*big.Rat, bool) {
	if _, exponent, has := strings.Cut(strings.ToLower(n), "e"); len(n) > 64 || has && len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(n)
}

// limit is for at_least and at_most.
type limit struct {
	than *big.Rat
	sign int // of what is outside, compared with the limit
}

func (l limit) try(_ *Facts, value any, _ bool) outcome {
	n, isNumber := value.(json.Number)
	if !isNumber {
		return odd
	}
	r, ok := rational(string(n))
	switch {
	case !ok:
		return odd
	case r.Cmp(l.than) == l.sign:
		return fails
	}
	return holds
}

// whole is for matches. To forbid, case does not matter and . is any character.
type whole struct{ re *regexp.Regexp }

func (w whole) try(_ *Facts, value any, _ bool) outcome {
	s, isText := value.(string)
	switch {
	case !isText || len(s) > maxMatched:
		return odd
	case w.re.MatchString(s):
		return holds
	}
	return fails
}

// under is for paths inside a folder.
type under struct{ pathPattern }

func (u under) try(f *Facts, value any, allow bool) outcome {
	s, isText := value.(string)
	if !isText || s == "" || len(s) > maxPath || strings.ContainsFunc(s, hidden) {
		return odd
	}
	if allow && (strings.TrimSpace(s) != s || s[0] == '~') { // who reads it may change that
		return odd
	}
	path := f.pathOf(s)
	if len(path.certain) == 0 && allow || f.left < 0 {
		return odd
	}
	ok, err := u.speaksOf(f, path, allow)
	switch {
	case err != nil:
		return odd
	case ok:
		return holds
	}
	return fails
}

// try implements test: a condition may be about an address, as WebFetch is.
func (d domain) try(_ *Facts, value any, allow bool) outcome {
	s, isText := value.(string)
	if !isText || len(s) > maxMatched {
		return odd
	}
	w, problem := readAddress(s)
	switch {
	case problem != "" && allow:
		return odd
	case d.of(w, allow):
		return holds
	case problem != "" && len(w.hosts) == 0:
		return odd
	}
	return fails
}
