package api

import (
	"errors"

	"github.com/gatelatch/gatelatch"
)

// ProblemType is the media type of every answer that is not a success.
const ProblemType = "application/problem+json"

// problemDocs is where each code is explained: the type of a problem.
const problemDocs = "https://github.com/gatelatch/gatelatch/blob/main/docs/api.md#"

// Problem says what went wrong and what to do, as RFC 9457 has it. Code is
// stable: programs go by it, and by the status.
type Problem struct {
	Type    string   `json:"type"`
	Title   string   `json:"title"` // the same for every problem with this code
	Status  int      `json:"status"`
	Detail  string   `json:"detail"` // of this one: the same as message
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`    // what to do about it
	Decided *Decided `json:"decided,omitempty"` // where a call is settled: how, and who was first
}

// NewProblem returns a problem with a code. The code of a problem that nobody
// explained is its title.
func NewProblem(status int, code, message, hint string) Problem {
	p := Problem{Type: problemDocs + code, Title: code, Status: status, Detail: message, Code: code, Message: message, Hint: hint}
	for _, k := range Problems {
		if k.Code == code {
			p.Title = k.Title
		}
	}
	return p
}

// Codes that have no error in the domain, or more than its error says.
const (
	CodeExpired         = "expired"
	CodeLapsed          = "lapsed"
	CodeUnauthenticated = "unauthenticated"
	CodeOrigin          = "origin"
	CodeHost            = "host"
	CodeMethod          = "method"
	CodeMediaType       = "media_type"
	CodeTooLarge        = "too_large"
	CodeUnavailable     = "unavailable"
	CodeInternal        = "internal"
	CodeTooMany         = "too_many"
	CodeNotReady        = "not_ready"
	CodePeer            = "peer"
)

// ProblemKind is a kind of problem: its code, the status it comes with, and the domain's error
// that it stands for, if there is one.
type ProblemKind struct {
	Code   string
	Status int
	Title  string
	Hint   string
	Err    error
}

// Problems are all kinds, in the order in which an error is looked up. Statuses
// are numbers: net/http would make the hook start slower.
var Problems = []ProblemKind{
	domain("invalid", 400, gatelatch.ErrInvalid, ""),
	{CodeUnauthenticated, 401, "no valid key or session", "", nil},
	domain("forbidden", 403, gatelatch.ErrForbidden, "an agent's key can only ask; decide in the page or with the gatelatch command"),
	domain("unsigned", 403, gatelatch.ErrUnsigned, `do it on the page, which asks for your passkey: "gatelatch open" leads there, and in its menu is "Add a passkey"`),
	domain("signature", 403, gatelatch.ErrSignature, `sign once more; "gatelatch passkeys" lists the passkeys that are known`),
	{CodeOrigin, 403, "the request comes from somewhere else", "", nil},
	{CodePeer, 403, "the socket is not for this process", "", nil},
	domain("not_found", 404, gatelatch.ErrNotFound, `list what there is with "gatelatch ls"`),
	{CodeMethod, 405, "the path has other methods", "", nil},
	{CodeExpired, 410, "nobody decided in time", "the agent may ask again", gatelatch.ErrSettled},
	{CodeLapsed, 410, "nobody came for the allow in time", "the agent may ask again", gatelatch.ErrSettled},
	domain("settled", 409, gatelatch.ErrSettled, "the first decision stands"),
	domain("changed", 409, gatelatch.ErrChanged, "look at the call again and decide on what it shows now"),
	domain("conflict", 409, gatelatch.ErrConflict, "what is new needs a new id"),
	domain("opened", 409, gatelatch.ErrOpened, "the calls run only once; another process holds them"),
	domain("fenced", 409, gatelatch.ErrFenced, "stop: whoever holds the batch now goes on"),
	domain("finished", 409, gatelatch.ErrFinished, "read the results; nothing is left to run"),
	domain("consumed", 409, gatelatch.ErrConsumed, "an allow is used once; ask again for another"),
	domain("unfinished", 409, gatelatch.ErrUnfinished, "consume and report the call, or finish with abandon"),
	domain("order", 409, gatelatch.ErrOrder, ""),
	domain("waiting", 409, gatelatch.ErrWaiting, ""),
	domain("stale", 409, gatelatch.ErrStale, "try again"),
	{CodeTooLarge, 413, "the body is too large", "", nil},
	{CodeMediaType, 415, "the body is not plain JSON", "", nil},
	{CodeHost, 421, "the request is for another host", "", nil},
	domain("paused", 423, gatelatch.ErrPaused, `resume with "gatelatch unpause" or in the page`),
	{CodeTooMany, 429, "too many requests", "", nil},
	{CodeInternal, 500, "internal error", "the gateway's log says more", nil},
	{CodeNotReady, 503, "the gateway can't decide now", "its log and its page say more", nil},
	domain("busy", 503, gatelatch.ErrBusy, "ask again in a second"),
	domain(CodeUnavailable, 503, gatelatch.ErrClosed, "the gateway is stopping; try again"),
	domain("store", 503, gatelatch.ErrUnavailable, "its disk may be full, or its database away; the gateway's log says more; try again"),
}

func domain(code string, status int, err error, hint string) ProblemKind {
	return ProblemKind{Code: code, Status: status, Title: err.Error(), Hint: hint, Err: err}
}

// FromError returns the answer for an error of the domain. Anything unknown is
// internal, and its text stays in the log.
func FromError(err error) Problem {
	for _, k := range Problems {
		if k.Err == nil || !errors.Is(err, k.Err) || !k.fits(err) {
			continue
		}
		message := err.Error()
		if errors.Is(err, gatelatch.ErrUnavailable) {
			message = gatelatch.ErrUnavailable.Error() // what the database said stays in the log
		}
		p := NewProblem(k.Status, k.Code, message, k.Hint)
		var s *gatelatch.SettledError
		if errors.As(err, &s) {
			p.Decided = FromDecision(&s.Decided)
		}
		return p
	}
	return NewProblem(500, CodeInternal, "internal error", "the gateway's log says more")
}

// fits tells apart what has the same error: what time settled is gone, what
// somebody decided is a conflict.
func (k *ProblemKind) fits(err error) bool {
	if k.Code != CodeExpired && k.Code != CodeLapsed {
		return true
	}
	var s *gatelatch.SettledError
	return errors.As(err, &s) && string(s.Decided.State) == k.Code
}

// A RemoteError is an error that came over the API. errors.Is finds the
// domain's error in it.
type RemoteError struct {
	Status int
	Body   Problem
}

func (e *RemoteError) Error() string { return e.Body.Message }

// Hint says what to do about it.
func (e *RemoteError) Hint() string { return e.Body.Hint }

// Is reports whether target is the domain's error with this code.
func (e *RemoteError) Is(target error) bool {
	for _, k := range Problems {
		if k.Code == e.Body.Code {
			return k.Err != nil && target == k.Err
		}
	}
	return false
}
