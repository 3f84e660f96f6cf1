package sqlite

import (
	"math/bits"
	"slices"
	"strings"
)

// mostRows is how many rows share a statement: what it costs beside them is as
// much as they do. Whoever waits for a processor gets it after each.
const mostRows = 16

// rows are what statements add to one table.
type rows struct {
	head, row, tail string               // the text, with one row
	texts           [1 + mostRows]string // with so many
	width           int                  // arguments of a row
	args            []any                // not carried out yet
	maybe           bool                 // as the statements said
}

// rowsOf reads the text of a statement that adds rows and does nothing else, or
// returns nil.
func rowsOf(text string) *rows {
	head, rest, is := strings.Cut(text, "VALUES (")
	if !is || !strings.HasPrefix(head, "INSERT INTO ") {
		return nil
	}
	row, rest, is := strings.Cut(rest, ")")
	if !is || strings.Trim(row, "?,1") != "" || !strings.Contains(row, "?") {
		return nil
	}
	r := &rows{head: head + "VALUES ", row: "(" + row + ")", tail: rest, width: strings.Count(row, "?")}
	for strings.HasPrefix(r.tail, ","+r.row) {
		r.tail = r.tail[1+len(r.row):]
	}
	if r.tail != "" && r.tail != " ON CONFLICT DO NOTHING" {
		return nil
	}
	return r
}

// some is a statement with the first of the rows, as many as a text is for.
func (r *rows) some(args []any) statement {
	n := 1 << (bits.Len(uint(min(len(args)/r.width, mostRows))) - 1)
	if r.texts[n] == "" {
		r.texts[n] = r.head + r.row + strings.Repeat(","+r.row, n-1) + r.tail
	}
	return statement{text: r.texts[n], args: args[:n*r.width], maybe: r.maybe, rows: n}
}

// carryOut runs statements until fewer than least rows are left.
func (r *rows) carryOut(run func(statement) error, least int) (err error) {
	rest := r.args
	for err == nil && len(rest) >= least*r.width {
		st := r.some(rest)
		err, rest = run(st), rest[len(st.args):]
	}
	n := copy(r.args, rest)
	clear(r.args[n:])
	r.args = r.args[:n]
	return err
}

// gathering carries statements out. Those that add rows change places with each
// other: a table sees its own in their order, and with all that came before
// whenever another statement looks or changes something.
type gathering struct {
	run   func(statement) error
	kinds map[string]*rows // by text; nil is one that stands alone
	open  []*rows          // with arguments
}

// add takes the next statement.
func (g *gathering) add(st statement) error {
	r, known := g.kinds[st.text]
	if !known {
		r = g.kind(st.text)
	}
	if r == nil || len(r.args) > 0 && r.maybe != st.maybe {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if r == nil {
		return g.run(st)
	}
	if n := len(st.args); n == 0 || n%r.width != 0 {
		return errRecord
	}
	if len(r.args) == 0 && !slices.Contains(g.open, r) {
		g.open = append(g.open, r)
	}
	r.args, r.maybe = append(r.args, st.args...), st.maybe
	return r.carryOut(g.run, mostRows)
}

// kind finds the rows that a text is about.
func (g *gathering) kind(text string) *rows {
	r := rowsOf(text)
	for _, k := range g.kinds {
		if r != nil && k != nil && k.head == r.head && k.row == r.row && k.tail == r.tail {
			r = k
		}
	}
	g.kinds[text] = r
	return r
}

// flush carries out what was gathered.
func (g *gathering) flush() (err error) {
	for _, r := range g.open {
		if err == nil {
			err = r.carryOut(g.run, 1)
		}
	}
	g.forget()
	return err
}

// forget drops what was gathered.
func (g *gathering) forget() {
	for _, r := range g.open {
		clear(r.args)
		r.args = r.args[:0]
	}
	g.open = g.open[:0]
}
