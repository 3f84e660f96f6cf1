package watch

import (
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/api"
)

// Press does what a key is for.
func (m *Model) Press(key Key, now time.Time) []Want {
	switch {
	case key == KeyFocus:
		m.Focus(now)
		return nil
	case key == KeyQuit:
		return []Want{Quit{}}
	case m.help:
		m.help, m.since = false, now
		return nil
	case m.prompt != nil:
		return m.typed(key, now)
	}
	switch key {
	case "q":
		return []Want{Quit{}}
	case "?":
		m.help = true
	case "j", KeyDown:
		return m.move(1, now)
	case "k", KeyUp:
		return m.move(-1, now)
	case " ", KeyPageDown:
		m.page(true)
	case "b", KeyPageUp:
		m.page(false)
	default:
		return m.decide(key, now)
	}
	return nil
}

// move selects a neighbour. What is settled and left goes.
func (m *Model) move(by int, now time.Time) []Want {
	at := -1
	for i, id := range m.order {
		if id == m.selected {
			at = i
		}
	}
	if at += by; at < 0 || at >= len(m.order) {
		return nil
	}
	m.news = nil
	return m.goTo(m.order[at], now)
}

// decide takes the keys that settle or change a call. One that comes too early
// begins the arming anew, so that a key held down never decides.
func (m *Model) decide(key Key, now time.Time) []Want {
	act, ok := acts[key]
	c, has := m.current()
	if !ok || !has {
		return nil
	}
	if !m.armed(now) {
		m.since = now
		return nil
	}
	if why := m.off(c, act); why != "" {
		m.say(why)
		return nil
	}
	m.news = nil
	return act.do(m, c, now)
}

// off says why a key does nothing now, or "".
func (m *Model) off(c api.Call, a act) string {
	switch {
	case c.State != pending:
		return "This call is settled: " + outcome(c) + "."
	case c.Brief:
		return "This call is still being read."
	case m.tooSmall():
		return "Make this window larger."
	case !m.live:
		return "No connection: decisions are off."
	case m.busy:
		return "The last decision is still on its way."
	case !a.isFor(c.Kind):
		return "That key is not for " + article[c.Kind] + "."
	case a.allows && !m.read:
		return "Allow waits until you have seen all of it: space shows the rest."
	}
	return ""
}

var article = map[string]string{"permission": "such a call", "question": "a question", "plan": "a plan"}

// An act is what a key does with a call.
type act struct {
	does   string // for the help
	kinds  string // "" is for all
	allows bool   // all of the call must have been seen
	do     func(m *Model, c api.Call, now time.Time) []Want
}

func (a act) isFor(kind string) bool { return a.kinds == "" || strings.Contains(a.kinds, kind) }

var acts map[Key]act

func init() { // the acts open prompts, which name keys
	acts = map[Key]act{
		"a": {does: "allow once; answer a question; approve a plan", allows: true, do: (*Model).allow},
		"c": {does: "approve a plan and start afresh with only it", kinds: "plan", allows: true, do: func(m *Model, c api.Call, _ time.Time) []Want {
			return m.send(c, api.Decision{State: allowed, Choice: "clearContextAndStart"})
		}},
		"s": {does: "allow, and remember for this session", kinds: "permission", allows: true, do: remember(gatelatch.ForSession)},
		"p": {does: "allow, and remember in this project", kinds: "permission", allows: true, do: remember(gatelatch.ForProject)},
		"A": {does: "allow, and always remember", kinds: "permission", allows: true, do: remember(gatelatch.Always)},
		"d": {does: "deny", do: func(m *Model, c api.Call, _ time.Time) []Want { return m.send(c, api.Decision{State: denied}) }},
		"D": {does: "deny, and tell the agent why", do: words("Deny. What should the agent know?", api.Decision{State: denied})},
		"r": {does: "reply: it does not run, the agent goes on with your words", do: words("Reply. The agent goes on with these words as the answer:", api.Decision{State: denied, Reply: true})},
		"X": {does: "deny, and end the agent's turn", do: words("Deny and stop. What should the agent know?", api.Decision{State: denied, Interrupt: true})},
		"e": {does: "edit the input in $EDITOR; it goes on waiting", kinds: "permission plan", do: func(_ *Model, c api.Call, _ time.Time) []Want { return []Want{Edit{c}} }},
	}
}

const (
	allowed = string(gatelatch.Allowed)
	denied  = string(gatelatch.Denied)
)

// send decides on the call as it is shown.
func (m *Model) send(c api.Call, d api.Decision) []Want {
	d.Digest = c.Digest
	m.prompt, m.busy = nil, true
	return []Want{Decide{c, d}}
}

// allow allows once. What is grave needs a word; a question needs answers.
func (m *Model) allow(c api.Call, now time.Time) []Want {
	switch c.Kind {
	case string(gatelatch.Question):
		return m.answer(c, questionsOf(c), map[string]string{}, now)
	case string(gatelatch.Plan):
		return m.send(c, api.Decision{State: allowed, Choice: "startEditing"})
	}
	if d, grave := dangerOf(c); grave {
		m.ask(&prompt{
			says: []Span{{d.why + " ", Grave | Bold}, {"Type " + d.word + " to allow it once.", 0}}, want: d.word,
			done: func(string, time.Time) []Want { return m.send(c, api.Decision{State: allowed}) },
		}, now)
		return nil
	}
	return m.send(c, api.Decision{State: allowed})
}
