package policy

import (
	"slices"
	"strings"

	"github.com/gatelatch/gatelatch"
)

// An index finds the rules that may speak about a call without looking at the
// others. It may find too many; what a rule says is for the rule to say.
type index struct {
	tools    map[string]*bucket
	prefixes map[string]*bucket
	lengths  []int // of the prefixes
}

// A bucket holds the rules about one tool, or about tools with one prefix.
type bucket struct {
	always []int32
	fields []*fieldIndex
	paths  [2]pathIndex // to forbid, to allow

	programs [2]map[string][]int32
	domains  map[string][]int32
	skills   map[string][]int32
}

// A fieldIndex holds rules without a pattern that demand a value of a field.
type fieldIndex struct {
	condition
	values [2]map[scalar][]int32
	kinds  [3][]int32 // rules that forbid, by the kind of value they know
}

func newIndex(rules []rule) index {
	x := index{tools: map[string]*bucket{}, prefixes: map[string]*bucket{}}
	for i := range rules {
		r, id := &rules[i], int32(i)
		if !r.prefix {
			bucketOf(x.tools, r.tool).add(r, id)
		}
		for tool := range pathTools {
			if tool != r.tool && !r.prefix && r.covers(tool) {
				bucketOf(x.tools, tool).add(r, id)
			}
		}
		switch {
		case r.prefix:
			bucketOf(x.prefixes, r.tool).add(r, id)
		case r.server:
			bucketOf(x.prefixes, r.tool+"__").add(r, id)
		}
	}
	for prefix := range x.prefixes {
		x.lengths = append(x.lengths, len(prefix))
	}
	slices.Sort(x.lengths)
	x.lengths = slices.Compact(x.lengths)
	return x
}

func bucketOf(m map[string]*bucket, key string) *bucket {
	if m[key] == nil {
		m[key] = &bucket{}
	}
	return m[key]
}

func side(allow bool) int {
	if allow {
		return 1
	}
	return 0
}

func (b *bucket) add(r *rule, id int32) {
	allow := r.Effect == gatelatch.Allow
	put := func(m *map[string][]int32, key string) {
		if *m == nil {
			*m = map[string][]int32{}
		}
		(*m)[key] = append((*m)[key], id)
	}
	switch on := r.on.(type) {
	case pathPattern:
		b.paths[side(allow)].add(on, allow, id)
	case domain:
		put(&b.domains, on.name)
	case skill:
		put(&b.skills, fold(string(on)))
	case words:
		switch {
		case len(on.want) == 0:
			b.always = append(b.always, id)
		case allow:
			put(&b.programs[1], on.want[0])
		default:
			put(&b.programs[0], fold(on.want[0]))
		}
	default:
		b.addByField(r, id, allow)
	}
}

func (b *bucket) addByField(r *rule, id int32, allow bool) {
	for _, c := range r.where {
		values, ok := c.test.(*oneOf)
		if !ok || slices.Contains(c.steps, each) {
			continue
		}
		i := slices.IndexFunc(b.fields, func(x *fieldIndex) bool { return x.field == c.field })
		if i < 0 {
			i = len(b.fields)
			b.fields = append(b.fields, &fieldIndex{condition: condition{field: c.field, steps: c.steps, test: present(true)},
				values: [2]map[scalar][]int32{{}, {}}})
		}
		b.fields[i].add(values, id, allow)
		return
	}
	b.always = append(b.always, id)
}

func (x *fieldIndex) add(o *oneOf, id int32, allow bool) {
	keys := o.folded
	if allow {
		keys = o.exact
	}
	m := x.values[side(allow)]
	for key := range keys {
		m[key] = append(m[key], id)
	}
	if allow {
		return
	}
	for kind, has := range o.kinds {
		if has {
			x.kinds[kind] = append(x.kinds[kind], id)
		}
	}
}

// collect returns the rules that may speak about a call, each once, in the
// order they were written.
func (x *index) collect(f *Facts, ids []int32) []int32 {
	tool := f.call.Tool
	if b := x.tools[tool]; b != nil {
		ids = b.collect(f, ids)
	}
	for _, n := range x.lengths {
		if n > len(tool) {
			break
		}
		if b := x.prefixes[tool[:n]]; b != nil {
			ids = b.collect(f, ids)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (b *bucket) collect(f *Facts, ids []int32) []int32 {
	ids = append(ids, b.always...)
	for _, x := range b.fields {
		ids = x.collect(f, ids)
	}
	switch {
	case f.path != nil:
		for _, path := range f.path.folded {
			ids = b.paths[0].collect(f, path, false, f.path.lexical != "", ids)
		}
		if len(f.path.certain) > 0 { // to allow, each of them must match
			ids = b.paths[1].collect(f, f.path.certain[0], true, true, ids)
		}
	case f.shell != nil:
		ids = b.collectPrograms(f.shell, ids)
	case f.web != nil && b.domains != nil:
		for _, host := range f.web.hosts {
			ids = collectLabels(b.domains, host, ids)
		}
		ids = collectLabels(b.domains, f.web.host, ids)
	case b.skills != nil:
		ids = append(ids, b.skills[fold(f.skill)]...)
	}
	return ids
}

func collectLabels(m map[string][]int32, host string, ids []int32) []int32 {
	for more := host != ""; more; {
		ids = append(ids, m[host]...)
		_, host, more = strings.Cut(host, ".")
	}
	return ids
}

func (x *fieldIndex) collect(f *Facts, ids []int32) []int32 {
	if value, result := x.find(f, f.input, x.steps, true); result == holds {
		if s := scalarOf(value, false); s.kind != noScalar {
			ids = append(ids, x.values[1][s]...)
		}
	}
	value, result := x.find(f, f.input, x.steps, false)
	if result == missing || len(x.values[0]) == 0 {
		return ids
	}
	s := scalarOf(value, true)
	if result == odd {
		s = scalar{kind: noScalar}
	}
	if s.kind != noScalar {
		ids = append(ids, x.values[0][s]...)
	}
	for kind := range x.kinds { // to these the value is odd
		if uint8(kind) != uint8(s.kind) {
			ids = append(ids, x.kinds[kind]...)
		}
	}
	return ids
}

// collectPrograms looks at the first word of each command, and behind wrappers
// at every word.
func (b *bucket) collectPrograms(u *shellUse, ids []int32) []int32 {
	if b.programs[1] != nil {
		for _, c := range u.facts.Commands {
			if len(c.Words) > 0 && c.Words[0].Known() {
				ids = append(ids, b.programs[1][c.Words[0].Text]...)
			}
		}
	}
	if b.programs[0] == nil {
		return ids
	}
	for _, c := range u.commands() {
		for i, word := range c.Words {
			if i > 0 && !c.Wrapper {
				break
			}
			ids = append(ids, b.programs[0][fold(word)]...)
			if at := strings.LastIndexByte(word, '/'); at >= 0 {
				ids = append(ids, b.programs[0][fold(word[at+1:])]...)
			}
		}
		if len(ids) > maxCollected {
			slices.Sort(ids)
			ids = slices.Compact(ids)
		}
	}
	return ids
}

const maxCollected = 1 << 16
