package watch

import "fmt"

// A card that does not fit is first shown by its head and its tail, with the
// count of what is between. Paging goes through that; an allow waits for it.

// rows is how many rows of the screen the list and the card have, however many
// calls there are: a new one moves nothing.
func (m *Model) rows() (list, body int) {
	free := m.height - 4 // title, rule, status, keys
	list = max(1, free/4)
	return list, free - list
}

// window is which lines of the card are in sight from a line on. If there are
// more, the last row says so instead.
func (m *Model) window(from, rows int) (to int) {
	if from+rows < len(m.card.lines) {
		return from + max(0, rows-1)
	}
	return len(m.card.lines)
}

// folded tells that only head and tail are shown.
func (m *Model) folded() bool {
	_, body := m.rows()
	return !m.open && !m.read && m.card.need > m.window(0, body)
}

// tail is how many of the last lines that must be seen stand below the gap.
func (m *Model) tail() int {
	_, body := m.rows()
	return min(m.card.why+2, body/2)
}

// look notes what is in sight.
func (m *Model) look() {
	_, body := m.rows()
	switch {
	case m.folded():
		m.seen = max(m.seen, body-1-m.tail())
	case m.top <= m.seen:
		m.seen = max(m.seen, m.window(m.top, body))
	}
	m.read = m.read || m.seen >= m.card.need
}

// page moves the card by a screen.
func (m *Model) page(down bool) {
	_, body := m.rows()
	switch {
	case m.folded() && down:
		m.open, m.top = true, max(0, m.seen-1) // with the last line that was seen
	case down:
		m.top = max(m.top+1, m.window(m.top, body)-1)
	default:
		m.top -= max(1, body-2)
	}
	m.top = max(0, min(m.top, len(m.card.lines)-body))
	m.look()
}

// bodyLines is the part of the card in sight, in that many rows.
func (m *Model) bodyLines(rows int) []Line {
	if m.folded() && m.prompt == nil {
		tail := m.tail()
		head := rows - 1 - tail
		gap := fmt.Sprintf("── %s between, not seen yet: space shows them ──", count(m.card.need-head-tail, "line"))
		out := append([]Line{}, m.card.lines[:head]...)
		out = append(out, cut(Line{{gap, Close | Bold}}, m.width))
		return append(out, m.card.lines[m.card.need-tail:m.card.need]...)
	}
	from := min(m.top, len(m.card.lines))
	to := m.window(from, rows)
	out := append([]Line{}, m.card.lines[from:to]...)
	if more := len(m.card.lines) - to; more > 0 {
		out = append(out, cut(Line{{fmt.Sprintf("── %s below: space ──", count(more, "line")), Dim}}, m.width))
	}
	return out
}
