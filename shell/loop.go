package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

func (r *reader) loop(st *state, cond, body []*syntax.Stmt) {
	never := st.clone()
	st.forget(nodes(cond, body)...)
	r.stmts(cond, st)
	r.stmts(body, st)
	st.join(never)
}

func nodes(lists ...[]*syntax.Stmt) []syntax.Node {
	var out []syntax.Node
	for _, list := range lists {
		for _, s := range list {
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) forClause(c *syntax.ForClause, st *state) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var items []WordValue
		for _, w := range l.Items {
			items = r.word(items, w, st)
		}
		if !l.InPos.IsValid() {
			items = st.args
		}
		never := st.clone()
		st.forget(nodes(c.Do)...)
		each := item(items)
		if c.Select {
			each = WordValue{}
		}
		r.assigned(l.Name.Value, each)
		st.set(l.Name.Value, each)
		r.stmts(c.Do, st)
		st.join(never)
	case *syntax.CStyleLoop:
		r.special(l, "((", func() {
			r.arithm(l.Init, st)
			st.forget(nodes(c.Do)...)
			if l.Post != nil {
				forgetNumbers(st, l.Post)
			}
			r.arithm(l.Cond, st)
			r.arithm(l.Post, st)
		})
		r.loop(st, nil, c.Do)
	}
}

// item is what one element of a list may be.
func item(list []WordValue) WordValue {
	var alts []string
	for _, w := range list {
		switch w.Kind {
		case Const, OneOf:
			alts = append(alts, choices(w)...)
		case Glob, Listed, Names, Fields, Any, Begins, Integer:
			if len(list) != 1 {
				return WordValue{}
			}
			switch w.Kind {
			case Listed:
				w.Kind = Names
			case Fields:
				w.Kind = Any
			default:
			}
			return w
		}
	}
	slices.Sort(alts)
	alts = slices.Compact(alts)
	switch {
	case len(alts) == 1:
		return WordValue{Kind: Const, Text: alts[0]}
	case len(alts) == 0:
		return WordValue{Kind: Const}
	case len(alts) > maxAlts:
		return WordValue{}
	}
	return WordValue{Kind: OneOf, Text: alts[0], Alts: alts}
}

func (r *reader) caseClause(c *syntax.CaseClause, st *state) {
	r.word(nil, c.Word, st)
	result := st.clone()
	for _, i := range c.Items {
		for _, p := range i.Patterns {
			r.word(nil, p, st)
		}
		branch := st.clone()
		r.stmts(i.Stmts, branch)
		result.join(branch)
	}
	// ;& goes on into the next branch with what this one set.
	*st = *result
	if slices.ContainsFunc(c.Items, func(i *syntax.CaseItem) bool { return i.Op != syntax.Break }) {
		st.forget(c)
		for _, i := range c.Items {
			r.stmts(i.Stmts, st)
		}
	}
}
