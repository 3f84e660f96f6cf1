package linear

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/gatelatch/gatelatch"
)

type kind string

// What clients do. granted and revoke concern the grant that a batch rests on.
const (
	propose    kind = "propose"
	contradict kind = "contradict" // propose the same message with another input
	decide     kind = "decide"
	open       kind = "open"
	consume    kind = "consume"
	report     kind = "report"
	finish     kind = "finish"
	look       kind = "look"
	granted    kind = "granted"
	revoke     kind = "revoke"

	end kind = "end" // of everything that was answered
)

// An op is what a client asked for.
type op struct {
	kind  kind
	call  int             // of the batch
	size  int             // calls proposed
	who   string          // person or holder
	state gatelatch.State // decided
	fence int64
	nonce string // consumed with, or the result that is reported
}

// lost is the code of an answer that nobody got: the operation took effect, or
// will, or never does.
const lost = "lost"

// An answer is what the client was told: "" is a success, else the API's code.
type answer struct {
	code     string
	batch    string
	fence    int64
	finished bool
	partial  bool    // it shows calls, not the batch
	calls    []*view // nil is one that was not shown
}

// A view is a call as an answer shows it.
type view struct {
	state           gatelatch.State
	by, use, result string
}

// untold is in a view what the answer does not show.
const untold = "?"

const running = "running"

const most = 3

// batch is the model: what one gateway alone would know of a batch.
type batch struct {
	id               string
	n                int // calls; 0 before it is proposed
	calls            [most]call
	holder           string
	fence            int64
	finished         bool
	granted, revoked bool // the grant
	over             bool // what was lost and has done nothing by now never will
}

type call struct {
	state  gatelatch.State
	by     string // person; "" is policy
	fence  int64  // consumed under; 0 is not
	nonce  string
	use    string // "", running, or the outcome
	result string
}

func (c *call) permit() bool { return c.state == gatelatch.Allowed && c.use == "" }

// byGrant reports whether the grant's end takes the allow back.
func (c *call) byGrant() bool { return c.permit() && c.by == "" }

// model has one partition for each batch: its calls share the latch.
var model = porcupine.Model{
	Partition: func(h []porcupine.Operation) (parts [][]porcupine.Operation) {
		where := map[string]int{}
		for _, o := range h {
			name, _ := o.Metadata.(string)
			i, ok := where[name]
			if !ok {
				i = len(parts)
				where[name] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() any { return batch{} },
	Step: func(s, in, out any) (bool, any) {
		b, o, a := s.(batch), in.(op), out.(answer)
		if a.code == lost {
			before := b
			if !b.over {
				_, _ = b.do(o, a)
			}
			return b.over || b != before, b
		}
		for i, v := range a.calls {
			if v != nil {
				b.meanwhile(i, v)
			}
		}
		code, ok := b.do(o, a)
		return ok && code == a.code && b.shows(a.calls), b
	},
	DescribeOperation: func(in, out any) string { return describe(in.(op), out.(answer)) },
	DescribeState:     func(s any) string { return fmt.Sprintf("%+v", s) },
}

// meanwhile does what a gateway does by itself, if v shows that it was done: a
// lease ended, a grant was applied to what waited or taken back.
func (b *batch) meanwhile(i int, v *view) {
	c := &b.calls[i]
	if c.use == running && v.use == string(gatelatch.Unknown) {
		c.use = v.use
	}
	if c.state == gatelatch.Pending && b.granted && v.state == gatelatch.Allowed && v.by == "" {
		c.state = v.state
	}
	if b.revoked && v.state == gatelatch.Revoked && (c.byGrant() || b.granted && c.state == gatelatch.Pending) {
		c.state, c.by = v.state, v.by
	}
}

// shows compares a view with what is known.
func (b *batch) shows(views []*view) bool {
	for i, v := range views {
		if v == nil {
			continue
		}
		c := b.calls[i]
		if i >= b.n || c.state != v.state || c.by != v.by && v.by != untold && c.state != gatelatch.Revoked ||
			c.use != v.use && v.use != untold || c.result != v.result && v.result != untold {
			return false
		}
	}
	return true
}

func describe(o op, a answer) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s call=%d who=%s state=%s fence=%d nonce=%s -> %q fence=%d finished=%v", o.kind, o.call, o.who, o.state, o.fence, o.nonce, a.code, a.fence, a.finished)
	for _, v := range a.calls {
		if v != nil {
			fmt.Fprintf(&s, " %+v", *v)
		}
	}
	return s.String()
}
