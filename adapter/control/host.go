package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/gatelatch/gatelatch"
)

// Options are what a Host needs of its transport.
type Options struct {
	Service gatelatch.Service
	Session gatelatch.SessionInfo // as far as it is known before the agent says it
	Holder  string                // a nonce of this connection
	// Send writes one message. It is never called twice at a time.
	Send func(line []byte) error
	// Gate has the agent ask about every call, in each of its modes. Without it
	// the agent's own mode and rules say what is asked.
	Gate bool
	// Implement, if the transport can, starts the agent afresh with a plan (S8).
	Implement func(Implement)
	// Notice is told what a person beside the agent may want to know.
	Notice func(Notice)
}

// Implement is a plan to be carried out from an empty conversation.
type Implement struct {
	Plan string
	Mode gatelatch.Mode // "" is the agent's own
}

// A Notice is something that happened on the connection.
type Notice struct {
	Kind NoticeKind
	Tool string
	Text string
}

// NoticeKind says what happened.
type NoticeKind string

// Kinds of notice.
const (
	Asking   NoticeKind = "asking"   // a call waits for a decision
	Settled  NoticeKind = "settled"  // and got one
	Unasked  NoticeKind = "unasked"  // a call ran that nobody was asked about
	Unknown  NoticeKind = "unknown"  // the agent said something that is not answered
	Reported NoticeKind = "reported" // a result could not be reported
)

// Host answers one agent over one connection: it proposes what the agent asks
// about, waits, and says what was decided. Whatever goes wrong is a denial.
type Host struct {
	opt  Options
	ctx  context.Context //nolint:containedctx // of the connection: asks begin by messages, not by calls
	stop context.CancelCauseFunc
	work sync.WaitGroup

	sending sync.Mutex

	mu        sync.Mutex
	session   gatelatch.SessionInfo
	dir       string
	asks      map[string]*ask // by request id, not answered yet
	calls     map[string]*call
	messages  map[string]*message
	replies   map[string]chan Response
	tools     map[string]bool // that the agent has; nil if it did not say
	tasks     map[string]task
	running   int      // sub-agents in the background
	streaming *message // that is not whole yet
	prompt    string
	notes     []string
}

var errGone = errors.New("the agent is gone")

// New returns a Host of a connection that begins now.
func New(opt Options) *Host {
	ctx, stop := context.WithCancelCause(context.Background())
	if opt.Notice == nil {
		opt.Notice = func(Notice) {}
	}
	return &Host{
		opt: opt, ctx: ctx, stop: stop, session: opt.Session,
		asks: map[string]*ask{}, calls: map[string]*call{}, messages: map[string]*message{},
		replies: map[string]chan Response{}, tasks: map[string]task{},
	}
}

// Close ends the connection: what still waits is withdrawn.
func (h *Host) Close() {
	h.stop(errGone)
	h.work.Wait()
	h.mu.Lock()
	left := h.drop(func(*call) bool { return true })
	h.mu.Unlock()
	h.abandon(left)
}

// Receive takes one line of the agent, in order, and never waits. It reports
// whether the line is the agent's output, for others to read.
func (h *Host) Receive(line []byte) (output bool, err error) {
	m, err := Read(line)
	if err != nil {
		return h.misread(line), err
	}
	switch m.Type {
	case TypeRequest:
		h.request(m)
	case TypeCancel:
		h.cancel(m.RequestID)
	case TypeResponse:
		h.reply(m.Response)
	default:
		h.overhear(line)
		return true, nil
	}
	return false, nil
}

// misread answers a request that can't be read as far as it can be told who
// asked, and reports whether the line is output.
func (h *Host) misread(line []byte) (output bool) {
	var m struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(line, &m) != nil || m.Type == "" {
		return false
	}
	switch m.Type {
	case TypeRequest:
		h.refuse(m.RequestID, "the request can't be read")
		return false
	case TypeCancel, TypeResponse:
		return false
	}
	return true
}

func (h *Host) request(m Message) {
	switch sub := m.Subtype(); sub {
	case SubCanUseTool:
		q, err := m.CanUseTool()
		if err != nil {
			h.refuse(m.RequestID, err.Error())
			return
		}
		h.begin(m.RequestID, q)
	case SubHook:
		h.hook(m)
	default: // P2: an agent never hangs
		h.opt.Notice(Notice{Kind: Unknown, Text: fmt.Sprintf("the agent asked for %.60q, which is not known", sub)})
		h.refuse(m.RequestID, fmt.Sprintf("the host does not know requests of subtype %.60q", sub))
	}
}

// refuse answers with an error, which the agent takes for a denial.
func (h *Host) refuse(requestID, why string) {
	if line, err := Refuse(requestID, why); err == nil {
		h.send(line)
	}
}

func (h *Host) answer(requestID string, response any) {
	line, err := Answer(requestID, response)
	if err != nil {
		h.refuse(requestID, err.Error())
		return
	}
	h.send(line)
}

// send writes a line. One that can't be written is lost with the agent, which
// runs nothing without an answer.
func (h *Host) send(line []byte) {
	h.sending.Lock()
	defer h.sending.Unlock()
	_ = h.opt.Send(line)
}

// Prompted notes what the user asked for, to be shown beside the agent's calls,
// and returns it as a message. Words that the agent did not get to see when it
// was interrupted come first (S3).
func (h *Host) Prompted(text string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.prompt = text
	notes := h.notes
	h.notes = nil
	return UserMessage(withNotes(notes, text))
}

// SessionID is the agent's own id for its session, "" before it said so.
func (h *Host) SessionID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session.ID
}
