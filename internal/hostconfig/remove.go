package hostconfig

// RemoveClaude takes our hooks out of the text of a settings file, and tells
// how many there were. Groups, events and "hooks" that are empty without them
// go too. Text without our hooks comes back as it is.
func RemoveClaude(settings []byte) (out []byte, removed int, err error) {
	if blank(settings) {
		return settings, 0, nil
	}
	root, err := parse(settings)
	if err != nil {
		return nil, 0, err
	}
	found := findOurs(settings, root)
	if len(found) == 0 {
		return settings, 0, nil
	}
	drop := make([]*node, len(found))
	for i, f := range found {
		drop[i] = f.entry
	}
	return cut(settings, root, drop...), len(found), nil
}

// cut returns the text without these nodes and what is empty without them.
func cut(text []byte, root *node, drop ...*node) []byte {
	c := cutter{text: text, drop: map[*node]bool{}}
	for _, n := range drop {
		c.drop[n] = true
	}
	c.widen(root, 0)
	if c.drop[root] {
		return splice(text, root.start+1, root.end-1, "")
	}
	c.walk(root)
	return append(c.out, text[c.done:]...)
}

// cutter copies text without the nodes to drop.
type cutter struct {
	text []byte
	drop map[*node]bool
	out  []byte
	done int // text before this is copied or cut
}

// groupDepth is that of {"matcher", "hooks"} under root.hooks.event.
const groupDepth = 3

// widen drops containers of which nothing would be left, from the inside out.
func (c *cutter) widen(n *node, depth int) {
	left := len(n.kids)
	for _, k := range n.kids {
		c.widen(k.value, depth+1)
		if c.drop[k.value] {
			left--
		}
	}
	// A group is worth nothing without its "hooks", whatever else it holds.
	if depth == groupDepth && left < len(n.kids) {
		left = 0
	}
	if len(n.kids) > 0 && left == 0 {
		c.drop[n] = true
	}
}

// walk cuts each dropped child with the comma before it, or, where none is
// kept before it, with the comma behind it.
func (c *cutter) walk(n *node) {
	kept := false
	for i, k := range n.kids {
		switch {
		case !c.drop[k.value]:
			kept = true
			c.walk(k.value)
		case kept:
			c.cut(n.kids[i-1].value.end, k.value.end)
		default:
			c.cut(k.start, n.kids[i+1].start)
		}
	}
}

func (c *cutter) cut(from, to int) {
	c.out = append(c.out, c.text[c.done:from]...)
	c.done = to
}
