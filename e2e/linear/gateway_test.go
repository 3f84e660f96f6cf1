package linear

import "github.com/gatelatch/gatelatch"

// do is the sequential gateway. It returns the code of its answer, and whether
// what else the answer says is right.
func (b *batch) do(o op, a answer) (code string, ok bool) {
	c := &b.calls[o.call]
	switch o.kind {
	case propose:
		return b.propose(o, a)
	case contradict:
		return "conflict", b.n > 0
	case decide:
		switch {
		case c.state == gatelatch.Pending:
			c.state, c.by = o.state, o.who
		case c.state != o.state || c.by != o.who:
			return "settled", true
		}
	case open:
		return b.open(o, a)
	case consume:
		return b.consume(o, c, a), true
	case report:
		return b.report(o, c), true
	case finish:
		return b.finish(o, a)
	case look:
		return "", a.partial || b.finished == a.finished
	case granted:
		b.granted = true
	case revoke:
		b.revoked = true
	case end:
		b.over = true
	}
	return "", true
}

func (b *batch) propose(o op, a answer) (string, bool) {
	if b.n == 0 {
		b.n = o.size
		for i := range o.size {
			b.calls[i].state = gatelatch.Pending
			if b.granted && !b.revoked {
				b.calls[i].state = gatelatch.Allowed
			}
		}
	}
	if b.id == "" {
		b.id = a.batch
	}
	return "", a.batch == b.id
}

func (b *batch) open(o op, a answer) (string, bool) {
	for i := range b.n {
		if b.calls[i].state == gatelatch.Pending {
			return "waiting", true
		}
	}
	switch {
	case b.n == 0:
		return "not_found", true
	case o.who == b.holder:
		return "", a.fence == b.fence
	case b.finished:
		return "finished", true
	case b.fence > 0 && a.code == "opened": // the lease is the clock's business
		return "opened", true
	}
	b.takeBack()
	b.holder = o.who
	b.fence++
	for i := range b.n {
		if b.calls[i].use == running {
			b.calls[i].use = string(gatelatch.Unknown)
		}
	}
	return "", a.fence == b.fence
}

// takeBack is what the end of the grant means to whoever opens or consumes.
func (b *batch) takeBack() {
	for i := range b.n {
		if c := &b.calls[i]; b.revoked && c.byGrant() {
			c.state = gatelatch.Revoked
		}
	}
}

// fenced refuses who does not hold the batch.
func (b *batch) fenced(fence int64) string {
	switch {
	case b.fence == 0:
		return "waiting"
	case b.fence != fence:
		return "fenced"
	case b.finished:
		return "finished"
	}
	return ""
}

func (b *batch) consume(o op, c *call, a answer) string {
	b.takeBack()
	code := b.fenced(o.fence)
	switch {
	case code != "":
		return code
	case c.use == running && c.nonce == o.nonce && c.fence == o.fence && a.code != "consumed":
		return ""
	case c.use == running && c.nonce == o.nonce && c.fence == o.fence: // the lease ended meanwhile
		c.use = string(gatelatch.Unknown)
		return "consumed"
	case c.use != "":
		return "consumed"
	case c.state != gatelatch.Allowed:
		return "settled"
	}
	for i := range o.call {
		if b.calls[i].permit() {
			return "order"
		}
	}
	c.use, c.fence, c.nonce = running, o.fence, o.nonce
	return ""
}

func (b *batch) report(o op, c *call) string {
	if c.use == string(gatelatch.Done) && c.result == o.nonce {
		return ""
	}
	code := b.fenced(o.fence)
	switch {
	case code != "":
		return code
	case c.use == "":
		return "invalid"
	case c.use == string(gatelatch.Done):
		return "conflict"
	case c.fence != o.fence:
		return "fenced"
	}
	c.use, c.result = string(gatelatch.Done), o.nonce
	return ""
}

func (b *batch) finish(o op, a answer) (string, bool) {
	if b.finished && o.fence == b.fence {
		return "", true
	}
	if code := b.fenced(o.fence); code != "" {
		return code, true
	}
	for i := range b.n {
		if c := &b.calls[i]; c.permit() || c.use == running {
			return "unfinished", true
		}
	}
	b.finished = true
	return "", a.code == lost || len(a.calls) == b.n
}
