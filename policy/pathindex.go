package policy

import "strings"

// A pathIndex finds the patterns that a path may match, by what is literal in
// them. It may find too many, never too few.
type pathIndex struct {
	anchored [3]*node // by what the pattern is below, as in anchors
	loose    loose    // below any folder
	floating loose    // anchored ones, for when a root is not known
}

const anchors = "./~"

// A node stands for a folder; in it are patterns that begin with it.
type node struct {
	next map[string]*node
	loose
}

// loose holds patterns by what a path must have: its last element, how that
// ends or begins, some element, or nothing.
type loose struct {
	last, ending, some map[string][]int32
	begins             map[byte][]int32 // what the last element begins with
	end                []int32          // nothing is left of the pattern
	rest               []int32
}

func (x *pathIndex) add(p pathPattern, allow bool, id int32) {
	glob := p.glob
	if !allow {
		glob = p.folded
	}
	if p.below == '*' {
		x.loose.add(glob, id)
		return
	}
	if !allow {
		x.floating.add(p.anywhere, id)
	}
	n := &x.anchored[strings.IndexByte(anchors, p.below)]
	if *n == nil {
		*n = &node{}
	}
	(*n).add(glob, id)
}

func (n *node) add(glob string, id int32) {
	for glob != "" {
		part, rest, _ := strings.Cut(glob, "/")
		name := unescapeGlob(part)
		if name == "" {
			break
		}
		if n.next == nil {
			n.next = map[string]*node{}
		}
		if n.next[name] == nil {
			n.next[name] = &node{}
		}
		n, glob = n.next[name], rest
	}
	n.loose.add(glob, id)
}

func (l *loose) add(glob string, id int32) {
	put := func(m *map[string][]int32, key string) {
		if *m == nil {
			*m = map[string][]int32{}
		}
		(*m)[key] = append((*m)[key], id)
	}
	parts := strings.Split(glob, "/")
	last := parts[len(parts)-1]
	switch name := unescapeGlob(last); {
	case glob == "":
		l.end = append(l.end, id)
	case name != "":
		put(&l.last, name)
	case strings.HasPrefix(last, "*.") && unescapeGlob(last[1:]) != "":
		put(&l.ending, unescapeGlob(last[1:]))
	case middle(glob, parts) != "":
		put(&l.some, middle(glob, parts))
	case last != "" && strings.IndexByte(`*?[{\\`, last[0]) < 0 && !strings.ContainsAny(glob, "{}"):
		if l.begins == nil {
			l.begins = map[byte][]int32{}
		}
		l.begins[last[0]] = append(l.begins[last[0]], id)
	default:
		l.rest = append(l.rest, id)
	}
}

// middle returns an element that every path the glob matches has, if that is
// plain to see.
func middle(glob string, parts []string) string {
	if strings.ContainsAny(glob, `{}[]\`) {
		return ""
	}
	for _, part := range parts {
		if name := unescapeGlob(part); name != "" {
			return name
		}
	}
	return ""
}

// collect adds the patterns for a path that rules look at. known says that it
// is absolute.
func (x *pathIndex) collect(f *Facts, path string, allow, known bool, ids []int32) []int32 {
	floats := !known
	for i, n := range x.anchored {
		if n == nil {
			continue
		}
		r := (pathPattern{below: anchors[i]}).root(f)
		given, resolved := r.foldedGiven, r.foldedResolved
		if allow {
			given, resolved = r.resolved, r.resolved
		}
		floats = floats || given == ""
		ids = n.collect(given, path, ids)
		if resolved != given {
			ids = n.collect(resolved, path, ids)
		}
	}
	path = strings.TrimPrefix(path, "/")
	if floats {
		ids = x.floating.collect(path, ids)
	}
	return x.loose.collect(path, ids)
}

func (n *node) collect(root, path string, ids []int32) []int32 {
	rest, inside := relative(root, path)
	for inside && n != nil {
		ids = n.loose.collect(rest, ids)
		if rest == "" {
			break
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		n = n.next[name]
	}
	return ids
}

// collect adds the patterns for what is left of a path.
func (l *loose) collect(rest string, ids []int32) []int32 {
	ids = append(ids, l.rest...)
	if rest == "" {
		ids = append(ids, l.end...)
	}
	last := rest[strings.LastIndexByte(rest, '/')+1:]
	if l.last != nil {
		ids = append(ids, l.last[last]...)
	}
	if l.begins != nil && last != "" {
		ids = append(ids, l.begins[last[0]]...)
	}
	for i := 0; i < len(last) && l.ending != nil; i++ {
		if last[i] == '.' {
			ids = append(ids, l.ending[last[i:]]...)
		}
	}
	for rest != "" && l.some != nil {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		ids = append(ids, l.some[name]...)
	}
	return ids
}
