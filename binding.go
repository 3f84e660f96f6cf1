package gatelatch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/redact"
)

// A Binder finds what a call depends on besides its input. It is asked only
// about calls that wait for a person: what rules allow runs at once.
type Binder interface {
	// Bind returns that as it is now, nil if there is nothing.
	Bind(c *Call, s *Session) *Bound
	// Server returns the server behind an MCP tool, nil if nobody knows it.
	Server(tool string, s *Session) *Server
}

// Bound is what a decision is about beside the input. Whoever changes it
// between the decision and the run makes that decision void.
type Bound struct {
	Files   []File  `json:"files,omitempty"`
	Unbound Unbound `json:"unbound,omitempty"`
	Server  *Server `json:"server,omitempty"`
	// Salt makes a digest tell nothing about files that its agent can't read; no
	// agent is told it.
	Salt Sum `json:"salt,omitzero"`
}

// A File is one whose content a call depends on, as it was when the call was
// asked about.
type File struct {
	Path   string `json:"path"`             // as the call names it
	Real   string `json:"real"`             // links followed
	Sum    Sum    `json:"sum,omitzero"`     // of its content; zero if there is no such file
	Writes bool   `json:"writes,omitempty"` // the call itself replaces it
}

// Unbound says why the content of something that a call depends on may change
// unnoticed.
type Unbound string

// Reasons.
const (
	UnboundCode    Unbound = "code"    // it runs code that is not in one file that it names
	UnboundFile    Unbound = "file"    // the file can't be read, or is too large
	UnboundMachine Unbound = "machine" // the agent runs on another machine
)

// A Server is one that an agent has tools from, as the agent's settings define
// it.
type Server struct {
	Name   string `json:"name"`
	Source string `json:"source"` // the file that defines it
	Launch string `json:"launch"` // its command line or address
	Sum    Sum    `json:"sum"`    // of all that is known of it
}

// digest is the part of a call's digest that covers b.
func (b *Bound) digest() Sum {
	var files [][]byte
	for _, f := range b.Files {
		files = append(files, []byte(f.Path), []byte(f.Real), f.Sum[:])
	}
	all, server := SumFields("gatelatch.files.v1", files...), b.server()
	if b.Salt == (Sum{}) {
		return SumFields("gatelatch.bound.v1", all[:], []byte(b.Unbound), server[:])
	}
	return SumFields("gatelatch.bound.v2", all[:], []byte(b.Unbound), server[:], b.Salt[:])
}

func (b *Bound) server() Sum {
	if b == nil || b.Server == nil {
		return Sum{}
	}
	return b.Server.Sum
}

// bind returns what a call that is asked about depends on.
func (g *Gate) bind(c *Call, s *Session) (b *Bound) {
	if g.Binder == nil || c.Kind != Permission {
		return nil
	}
	defer func() {
		if recover() != nil {
			b = &Bound{Unbound: UnboundFile}
		}
	}()
	if b = g.Binder.Bind(c, s).mask(); b != nil && len(g.Salt) > 0 {
		b.Salt = SumFields("gatelatch.salt.v1", g.Salt, []byte(s.Agent), []byte(s.ID))
	}
	return b
}

// mask keeps secrets in names out of what is kept. It is the same each time, so
// that what was bound can be compared.
func (b *Bound) mask() *Bound {
	if b == nil {
		return nil
	}
	out := &Bound{Unbound: b.Unbound, Server: b.Server.mask()}
	for _, f := range b.Files {
		f.Path, f.Real = redact.Text(f.Path), redact.Text(f.Real)
		out.Files = append(out.Files, f)
	}
	return out
}

func (s *Server) mask() *Server {
	if s == nil {
		return nil
	}
	return &Server{Name: redact.Text(s.Name), Source: redact.Text(s.Source), Launch: redact.Text(s.Launch), Sum: s.Sum}
}

// bindNew binds calls that turned out to wait only in a transaction: a grant
// that allowed them has ended.
func (g *Gate) bindNew(calls []ProposedCall, s *Session, was, now []judged) {
	for i, q := range calls {
		if was[i].verdict.Effect == Allow && now[i].verdict.Effect == Ask {
			now[i].bound = g.bind(q.call(now[i].input), s)
		}
	}
}

// unbound reports whether bindNew would have something to read.
func (g *Gate) unbound(was, now []judged) bool {
	for i := range was {
		if g.Binder != nil && was[i].verdict.Effect == Allow && now[i].verdict.Effect == Ask {
			return true
		}
	}
	return false
}

func (c *ProposedCall) call(input []byte) *Call {
	return &Call{Ref: c.Ref, Kind: c.Kind, Tool: c.Tool, Input: input, Dir: c.Dir, Claim: c.Claim}
}

// byPerson reports whether a person allowed what depends on something, and
// nobody has consumed that.
func byPerson(c *Call) bool {
	return c.Bound != nil && c.permit() && c.Decided.By.Kind == PersonActor
}

// holds takes back what was allowed, nobody has consumed, and is not what was
// asked about any more, or not allowed any more. b is the batch as it was just
// read.
func (s *Seat) holds(ctx context.Context, b *Batch) error {
	if err := s.rulesHold(ctx, b); err != nil || s.gate.Binder == nil || !slices.ContainsFunc(b.Calls, byPerson) {
		return err
	}
	var sess *Session
	err := s.gate.store.View(ctx, func(r Reader) (err error) { sess, err = r.Session(b.Agent, b.Session); return err })
	if err != nil {
		return err
	}
	changed := map[Sum]string{}
	for _, c := range b.Calls {
		if !byPerson(c) {
			continue
		}
		if what := b.differs(c, s.gate.bind(c, sess)); what != "" {
			changed[c.Digest] = what
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.gate.change(ctx, b.ID, func(tx Tx, now *Batch) error {
		for _, c := range now.Calls {
			if what := changed[c.Digest]; what != "" && byPerson(c) {
				now.void(c, what, tx.Now())
			}
		}
		return nil
	})
}

// differs says what c depends on that is no longer as it was, "" if all is. A
// file that an earlier call of the batch was allowed to write may be written.
func (b *Batch) differs(c *Call, now *Bound) string {
	if now == nil {
		now = &Bound{}
	}
	for _, f := range c.Bound.Files {
		if !slices.Contains(now.Files, f) && (!f.Writes || !b.wroteBefore(c, f.Real)) {
			return filepath.Base(f.Real)
		}
	}
	if c.Bound.server() != now.server() {
		return "the server of " + c.Tool
	}
	return ""
}

func (b *Batch) wroteBefore(c *Call, file string) bool {
	for _, before := range b.Calls {
		if before == c {
			return false
		}
		if before.Consumed != nil && before.Bound != nil && slices.ContainsFunc(before.Bound.Files, func(f File) bool { return f.Writes && f.Real == file }) {
			return true
		}
	}
	return false
}

// void takes an allow back because something changed. Its name is told to the
// agent and stays out of the trail, like all of the input.
func (b *Batch) void(c *Call, what string, at time.Time) {
	d := Decision{State: Revoked, By: Actor{Kind: GatewayActor}, At: at, Digest: c.Digest}
	d.Note = what + " changed since this was asked about; ask again"
	b.decided(c, d)
	b.record(CallRevoked, c.ID, d.By, d.At, struct {
		State   State `json:"state"`
		Digest  Sum   `json:"digest"`
		Changed bool  `json:"changed"`
	}{d.State, d.Digest, true})
}

// sameServer leaves out grants for a tool whose server is another than when
// they were made, and says so in reasons.
func (g *Gate) sameServer(c *Call, s *Session, grants []*Grant) (good []*Grant, changed []Reason) {
	ofServer := func(gr *Grant) bool { return strings.HasPrefix(gr.Match, mcpPrefix) }
	if g.Binder == nil || !strings.HasPrefix(c.Tool, mcpPrefix) || !slices.ContainsFunc(grants, ofServer) {
		return grants, nil
	}
	now := &Bound{Server: g.Binder.Server(c.Tool, s).mask()}
	for _, gr := range grants {
		was := &Bound{Server: gr.Server}
		switch {
		case !ofServer(gr) || was.server() == now.server():
			good = append(good, gr)
			continue
		case gr.Match != c.Tool:
			continue
		}
		changed = append(changed, Reason{
			Effect: Ask, Layer: "grant", Rule: gr.Match,
			Message: fmt.Sprintf("the server changed since %s allowed this: %s → %s", gr.By, was.Server.text(), now.Server.text()),
		})
	}
	return good, changed
}

const mcpPrefix = "mcp__"

// text names a server so that two that differ look different.
func (s *Server) text() string {
	if s == nil {
		return "not known"
	}
	return fmt.Sprintf("%s (%s, %.8s)", s.Launch, s.Source, s.Sum)
}
