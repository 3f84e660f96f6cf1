package watch

import (
	"slices"
	"time"

	"github.com/gatelatch/gatelatch/api"
)

// armTime is how long a card must have been in sight, and still, before a key
// decides on it.
const armTime = 500 * time.Millisecond

// The least that a card can be read on.
const (
	leastWidth  = 24
	leastHeight = 8
)

// Model is the inbox: what is known, what is shown, what keys do.
type Model struct {
	width, height int

	calls    map[string]api.Call
	order    []string // new calls come last, so that nothing moves
	selected string
	first    int // row of the list that is shown first

	live   bool
	status api.Status
	news   Line
	busy   bool // a decision is under way
	bell   bool // a call came

	card  card
	shown string    // whose card it is, and of which input
	since time.Time // when it came into sight, or last changed
	top   int       // first line of it in sight
	open  bool      // a long card: its middle is shown, too
	seen  int       // lines from the top that have been in sight
	read  bool      // all that must be seen was

	prompt *prompt
	help   bool
}

// NewModel returns an empty inbox that is not connected yet.
func NewModel() *Model { return &Model{calls: map[string]api.Call{}} }

// A Want is something that the model can't do by itself.
type Want any

// What the model may want.
type (
	// Decide settles a call.
	Decide struct {
		Call     api.Call
		Decision api.Decision
	}
	// Edit lets the person replace the input of a call.
	Edit struct{ Call api.Call }
	// Look asks for a call as it is now.
	Look struct{ ID string }
	// Quit ends the inbox.
	Quit struct{}
)

// Resize tells how large the screen is.
func (m *Model) Resize(width, height int, now time.Time) {
	if width != m.width || height != m.height {
		m.width, m.height = width, height
		m.scroll()
		m.layOut(now, true)
	}
}

// Load takes over the list of what waits. What is not in it has to be looked at.
func (m *Model) Load(calls []api.Call, now time.Time) (wants []Want) {
	listed := map[string]bool{}
	for _, c := range calls {
		listed[c.ID] = true
	}
	for id, c := range m.calls {
		if c.State == pending && !listed[id] {
			wants = append(wants, Look{id})
		}
	}
	for _, c := range calls {
		if old, known := m.calls[c.ID]; !known || old.Brief {
			wants = append(wants, m.Put(c, now)...)
		} else {
			wants = append(wants, Look{c.ID}) // a row is less than what is known
		}
	}
	m.bell = false // what was there is no news
	return wants
}

const pending = "pending"

// Put takes over what the gateway says about a call.
func (m *Model) Put(c api.Call, now time.Time) []Want {
	old, known := m.calls[c.ID]
	switch {
	case known && old.State != pending && c.State == pending:
		return nil // an answer that was overtaken
	case !known && c.State != pending:
		return nil
	case !known:
		m.order = append(m.order, c.ID)
		m.bell = true
	}
	m.calls[c.ID] = c
	if m.selected == c.ID && known && old.State == pending && c.State != pending {
		m.news, m.prompt = nil, nil // somebody else was first
	}
	if m.selected == "" || m.selected == c.ID {
		return m.show(c.ID, now)
	}
	return nil
}

// Drop forgets a call that the gateway does not know.
func (m *Model) Drop(id string, now time.Time) []Want {
	if c, ok := m.calls[id]; ok {
		c.State = "gone"
		m.calls[id] = c
	}
	if m.selected == id {
		return m.moveOn(now)
	}
	m.sweep()
	return nil
}

// Connected tells whether the gateway answers. Without it nothing is decided.
func (m *Model) Connected(live bool, now time.Time) {
	if live != m.live {
		m.live, m.since = live, now
	}
}

// Status takes over what holds for the whole gateway.
func (m *Model) Status(s api.Status) { m.status = s }

// Rang reports, once, that a call came.
func (m *Model) Rang() bool {
	rang := m.bell
	m.bell = false
	return rang
}

// Focus begins the arming anew: the person was elsewhere.
func (m *Model) Focus(now time.Time) { m.since = now }

func (m *Model) current() (api.Call, bool) {
	c, ok := m.calls[m.selected]
	return c, ok
}

// show selects a call. A row of the list has to be read whole first.
func (m *Model) show(id string, now time.Time) []Want {
	m.selected = id
	m.scroll()
	m.layOut(now, false)
	if c, ok := m.current(); ok && c.Brief {
		return []Want{Look{id}}
	}
	return nil
}

// layOut draws the selected card anew. If anything in it differs, it has to be
// in sight again before it can be decided; other input has to be read again.
func (m *Model) layOut(now time.Time, resized bool) {
	c, ok := m.current()
	if !ok || m.tooSmall() {
		m.card, m.shown, m.prompt = card{}, "", nil
		return
	}
	fresh := layCard(c, m.width)
	name := c.ID + " " + c.Digest
	if name != m.shown {
		m.top, m.open, m.seen, m.read, m.prompt = 0, false, 0, false, nil
	}
	if name != m.shown || resized || !slices.EqualFunc(fresh.lines, m.card.lines, slices.Equal) {
		m.since = now
		if !m.read {
			m.top, m.open, m.seen = 0, false, 0
		}
	}
	m.card, m.shown = fresh, name
	m.look()
	if m.prompt != nil && !m.fits() {
		m.prompt = nil
	}
}

// moveOn selects the next call that waits, and forgets what is settled.
func (m *Model) moveOn(now time.Time) []Want {
	at := slices.Index(m.order, m.selected)
	waits := func(id string) bool { return m.calls[id].State == pending }
	next := ""
	for i := range m.order {
		if id := m.order[(at+1+i)%len(m.order)]; waits(id) && id != m.selected {
			next = id
			break
		}
	}
	return m.goTo(next, now)
}

func (m *Model) goTo(id string, now time.Time) []Want {
	m.selected = id
	m.sweep()
	return m.show(id, now)
}

// sweep forgets what is settled, except the card in sight.
func (m *Model) sweep() {
	m.order = slices.DeleteFunc(m.order, func(id string) bool {
		gone := id != m.selected && m.calls[id].State != pending
		if gone {
			delete(m.calls, id)
		}
		return gone
	})
}

// scroll moves the list only as far as it takes to see the selected row.
func (m *Model) scroll() {
	rows, _ := m.rows()
	at := slices.Index(m.order, m.selected)
	m.first = max(0, min(m.first, len(m.order)-rows))
	if at >= 0 {
		m.first = max(at-rows+1, min(m.first, at))
	}
}

func (m *Model) waiting() (n int) {
	for _, c := range m.calls {
		if c.State == pending {
			n++
		}
	}
	return n
}

func (m *Model) armed(now time.Time) bool { return now.Sub(m.since) >= armTime }

func (m *Model) tooSmall() bool { return m.width < leastWidth || m.height < leastHeight }
