package model

import "time"

// Terms are what to remember. The zero value is nothing.
type Terms struct {
	Scope, Match string // "session", "project", "always"
	For          time.Duration
	Uses         int
}

// A Grant is a remembered allow.
type Grant struct {
	Terms
	ID                      int
	Agent, Session, Project string
	Until                   time.Duration // 0 is never
	Used                    int
	Revoked                 bool
	By, RevokedBy           string
}

func (w *World) good(g *Grant) bool {
	return !g.Revoked && (g.Until == 0 || w.Now < g.Until) && (g.Uses == 0 || g.Used < g.Uses)
}

func (w *World) reaches(g *Grant, b *Batch) bool {
	if g.Agent != b.Agent {
		return false
	}
	return g.Scope == "always" || g.Scope == "session" && g.Session == b.Session ||
		g.Scope == "project" && g.Project == w.Project[b.Session]
}

// newestFor returns the grant that allows such a call, or nil.
func (w *World) newestFor(b *Batch, tool, input string) (found *Grant) {
	for _, g := range w.Grants {
		if w.good(g) && w.reaches(g, b) && w.Rules.Covers(g.Match, tool, input) {
			found = g
		}
	}
	return found
}

func (w *World) use(c *Call, g *Grant) {
	g.Used++
	w.settle(c, "allowed", "policy")
	c.Grant = g
}

// again judges what waits by a new grant.
func (w *World) again(c *Call, g *Grant) {
	effect, _ := w.Rules.Judge(c.Tool, c.Input)
	if !w.Paused && c.State == "pending" && !w.Late(c) && effect == "" && w.good(g) && w.reaches(g, c.Batch) && w.Rules.Covers(g.Match, c.Tool, c.Input) {
		w.use(c, g)
		w.note("call.judged", "policy", c.Batch, c)
	}
}

// takeBack revokes what revoked grants allowed and nobody has used.
func (w *World) takeBack(b *Batch, by func(*Grant) bool) {
	for _, c := range b.Calls {
		if g := c.Grant; c.permit() && g != nil && g.Revoked && by(g) {
			w.settle(c, "revoked", g.RevokedBy)
			w.note("call.revoked", g.RevokedBy, b, c)
		}
	}
}

// Decide settles a call that waits, as a person was shown it.
// Interrupt, with a denial, ends the turn.
func (w *World) Decide(c *Call, by, state, shown, note string, t Terms, interrupt bool) (why Why) {
	pending := c.State == "pending"
	if state == "allowed" && w.Paused {
		return Why{"paused"}
	}
	if !pending && c.State == state && c.Settled == (Settled{by, shown, note, t, interrupt}) {
		return nil
	}
	why.when(!pending || w.Late(c), "settled")
	why.when(pending && shown != c.Input, "changed")
	why.when(pending && shown == c.Input && t != (Terms{}) && !w.Rules.Covers(t.Match, c.Tool, c.Input), "invalid")
	why.when(t.Scope == "project" && w.Project[c.Batch.Session] == "", "invalid")
	if len(why) > 0 {
		return why
	}
	w.settle(c, state, by)
	c.Settled.Note, c.Settled.Remember, c.Settled.Interrupt = note, t, interrupt
	w.note("call.decided", by, c.Batch, c)
	if t != (Terms{}) {
		w.remember(c, by, t)
	}
	if interrupt {
		w.interrupted(c)
	}
	return nil
}

// TooLate writes down that calls expired, when somebody was told so.
func (w *World) TooLate(c *Call) {
	if w.Late(c) && c.State == "pending" || c.State == "expired" {
		w.tick(c.Batch)
	}
}

func (w *World) remember(c *Call, by string, t Terms) {
	b := c.Batch
	g := &Grant{Terms: t, ID: len(w.Grants) + 1, Agent: b.Agent, Session: b.Session, Project: w.Project[b.Session], By: by}
	if t.For > 0 {
		g.Until = w.Now + t.For
	}
	w.Grants = append(w.Grants, g)
	w.changed = append(w.changed, g)
	w.note("grant.made", by, nil, nil)
}

// RevokeGrant ends a grant.
func (w *World) RevokeGrant(g *Grant, by string) {
	if !g.Revoked {
		g.Revoked, g.RevokedBy = true, by
		w.changed = append(w.changed, g)
		w.note("grant.revoked", by, nil, nil)
	}
}

// Edit replaces the input of a call that waits. It has to be shown again.
func (w *World) Edit(c *Call, by, shown, input string) (why Why) {
	effect, _ := w.Rules.Judge(c.Tool, input)
	why.when(c.State != "pending" || w.Late(c), "settled")
	if len(why) == 0 && c.EditedBy == by && c.EditedFrom == shown && c.Input == input {
		return nil
	}
	why.when(shown != c.Input, "changed")
	why.when(effect == "deny", "invalid")
	if len(why) == 0 {
		c.Input, c.EditedBy, c.EditedFrom = input, by, shown
		w.note("call.edited", by, c.Batch, c)
	}
	return why
}

// Pause denies what waits, takes back what nobody has used, and lets nothing
// more through.
func (w *World) Pause(by, note string) {
	if !w.Paused {
		w.Paused = true
		w.note("gate.paused", by, nil, nil)
	}
	for _, b := range w.Batches {
		for _, c := range b.Calls {
			if c.State == "pending" && w.Late(c) {
				w.tick(b)
			}
			if c.State == "pending" {
				w.settle(c, "denied", by)
				c.Settled.Note = note
				w.note("call.decided", by, b, c)
			}
		}
	}
	for _, b := range w.Batches {
		for _, c := range b.Calls {
			if c.permit() {
				w.settle(c, "revoked", by)
				w.note("call.revoked", by, b, c)
			}
		}
	}
}

// Unpause ends a pause.
func (w *World) Unpause(by string) {
	if w.Paused {
		w.Paused = false
		w.note("gate.unpaused", by, nil, nil)
	}
}
