package model

// Park says that nobody waits for the answer, which is still wanted. Deferred
// says that the host comes back for it, as it can for one of a session.
func (w *World) Park(b *Batch, deferred bool) (why Why) {
	why.when(!b.Waits(), "settled")
	why.when(len(b.Calls) != 1, "invalid")
	if deferred {
		for _, o := range w.Batches {
			why.when(o != b && o.in(b) && o.Parked && o.Deferred, "conflict")
		}
	}
	if len(why) == 0 && (!b.Parked || b.Deferred != deferred) {
		b.Parked, b.Deferred = true, deferred
		w.note("batch.parked", b.Agent, b, nil)
	}
	return why
}

// back says that the host came with the message of a parked batch again.
func (w *World) back(b *Batch) {
	b.Parked = false
	w.note("batch.unparked", b.Agent, b, nil)
}

// in reports whether two batches belong to one session.
func (b *Batch) in(o *Batch) bool { return b.Agent == o.Agent && b.Session == o.Session }

// parked finds the oldest batch that asked for the same and still wants an
// answer, or has one that nobody came for.
func (w *World) parked(agent, session string, asks []Ask) *Batch {
	for _, b := range w.Batches {
		c := b.Calls[0]
		gone := c.State == "withdrawn" || c.State == "expired" || c.State == "lapsed"
		if b.Parked && !gone && len(asks) == 1 && b.Agent == agent && b.Session == session && c.Tool == asks[0].Tool && c.Asked == asks[0].Input {
			return b
		}
	}
	return nil
}

// takeOver lets b stand for what was parked: it is shown as that was, and if
// rules leave it to people, what a person decided holds. Both once.
func (w *World) takeOver(old, b *Batch) {
	w.tick(old)
	was, c := old.Calls[0], b.Calls[0]
	c.EditedBy, c.EditedFrom = was.EditedBy, was.EditedFrom
	old.Parked = false
	w.note("batch.repeated", b.Agent, b, nil)
	w.note("batch.claimed", b.Agent, old, nil)
	if s := was.Settled; c.State == "pending" && s.By != "policy" && s.Shown == c.Input && (was.permit() || was.State == "denied") {
		w.settle(c, was.State, s.By)
		c.Settled.Note, c.Settled.Interrupt = s.Note, s.Interrupt
		w.note("call.decided", s.By, b, c)
	}
	if was.State == "pending" || was.permit() {
		w.settle(was, "withdrawn", b.Agent)
		w.note("call.withdrawn", b.Agent, old, was)
	}
}

// A Leaving says whose turn is over: a sub-agent's, the main agent's, or all.
type Leaving struct {
	Subagent    string
	All, Prompt bool
}

// Leave withdraws what waits of a turn, and returns what is owed to a prompt.
func (w *World) Leave(agent, session string, l Leaving) (said string) {
	for _, b := range w.Batches {
		if b.Agent == agent && b.Session == session && !b.Parked && (l.All || b.From.Subagent == l.Subagent) {
			w.Withdraw(b)
		}
	}
	if at := [2]string{agent, session}; l.Prompt {
		said = w.Owed[at]
		delete(w.Owed, at)
	}
	return said
}

// interrupted ends the turn of a call that was denied just now.
func (w *World) interrupted(c *Call) {
	b, s := c.Batch, c.Settled
	if b.From.Turn == "" {
		return
	}
	if s.Note != "" {
		w.Owed[[2]string{b.Agent, b.Session}] = s.Note
	}
	for _, o := range w.Batches {
		if o == b || !o.in(b) || o.From != b.From || o.Parked {
			continue
		}
		for _, c := range o.Calls {
			if c.State == "pending" && !w.Late(c) {
				w.settle(c, "denied", s.By)
				c.Settled.Note, c.Settled.Interrupt = s.Note, true
				w.note("call.decided", s.By, o, c)
			}
		}
	}
}

// RanUnseen says that something ran that nobody had asked about. It is noted
// once for a session.
func (w *World) RanUnseen(agent, session string) {
	at := [2]string{agent, session}
	known := false
	for _, b := range w.Batches {
		known = known || b.Agent == agent && b.Session == session
	}
	if known && !w.Unseen[at] {
		w.Unseen[at] = true
		w.note("call.unseen", agent, nil, nil)
	}
}
