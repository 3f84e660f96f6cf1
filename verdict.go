package gatelatch

import (
	"cmp"
	"fmt"
	"time"
)

// Effect is what policy says about a call. The zero value is Deny, so that a
// verdict nobody filled in never lets a call through.
type Effect uint8

// Effects from the strictest to the most permissive: combining is min.
const (
	Deny Effect = iota
	Ask
	Allow
)

var effectNames = [...]string{"deny", "ask", "allow"}

// String returns the word used in rules, JSON and on screen.
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return effectNames[Deny]
}

// MarshalText implements encoding.TextMarshaler.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A word it does not know
// is an error and leaves Deny.
func (e *Effect) UnmarshalText(b []byte) error {
	*e = Deny
	for i, name := range effectNames {
		if name == string(b) {
			*e = Effect(i)
			return nil
		}
	}
	return fmt.Errorf("effect %q is none of deny, ask, allow", b)
}

// A Verdict is policy's answer, with everything that led to it.
type Verdict struct {
	Effect  Effect   `json:"effect"`
	Reasons []Reason `json:"reasons,omitempty"`
	Errors  []string `json:"errors,omitempty"` // rules that could not be evaluated; they never weaken the effect
	Policy  string   `json:"policy,omitempty"` // hash of the rules in force
	Grant   string   `json:"grant,omitempty"`  // id of the grant that allowed
	// Needs is set if a person is asked: what for.
	Needs *Needs `json:"needs,omitempty"`
	// Mode is the session's mode that allowed, if a person chose it.
	Mode Mode `json:"mode,omitempty"`
	// Limit is how long the call may wait for a person, if a rule says so.
	Limit time.Duration `json:"limit,omitempty"`
}

// Needs is what a call needs permission for, as policy read it: all that whoever
// shows the question has to know beside the input. Whether its answer can be
// remembered, Policy.Remember says.
type Needs struct {
	Type      NeedType `json:"type"`
	Signature string   `json:"command_signature,omitempty"` // its programs with their verbs
	Info      []string `json:"command_info,omitempty"`      // what it does: write, exec, net
	Paths     []string `json:"paths,omitempty"`             // files and folders, links followed
	Touches   []Touch  `json:"touches,omitempty"`           // what it does, to what
	More      int      `json:"more,omitempty"`              // touches that are not listed
}

// A Touch is one thing that a call does, or may do, to something.
type Touch struct {
	Does    string `json:"does"`              // a word of Info: read, write, delete, net, …
	What    string `json:"what,omitempty"`    // a file, a host, a program; "" is not known
	Outside bool   `json:"outside,omitempty"` // a file that is not certain to be inside the project
	Secret  bool   `json:"secret,omitempty"`  // it may be secret
	Below   bool   `json:"below,omitempty"`   // files in What
	Start   int    `json:"start,omitempty"`
	End     int    `json:"end,omitempty"` // byte span in the command; 0,0 means the whole
}

// NeedType is the kind of permission.
type NeedType string

// Kinds of permission.
const (
	NeedRead    NeedType = "read"
	NeedWrite   NeedType = "write"
	NeedCommand NeedType = "command"
	NeedAll     NeedType = "all" // of a tool nobody knows more about
)

// A Reason points at what spoke and at the part of the input it spoke about.
type Reason struct {
	Effect  Effect `json:"effect"`
	Layer   string `json:"layer"`            // "default", "machine", "user", "project", "session", "grant", "hook", "pause", "quota"
	Rule    string `json:"rule,omitempty"`   // as written, such as Bash(git status)
	Source  string `json:"source,omitempty"` // file:line of the rule
	Message string `json:"message"`
	Field   string `json:"field,omitempty"` // of the input, that Part stands in
	Part    string `json:"part,omitempty"`  // the piece of the input it spoke about
	Start   int    `json:"start,omitempty"`
	End     int    `json:"end,omitempty"` // byte span of Part in the command or path; 0,0 means the whole
}

// Denial returns the message of the first reason that denies, or "".
func (v Verdict) Denial() string {
	for _, r := range v.Reasons {
		if r.Effect == Deny {
			return cmp.Or(r.Message, r.Rule)
		}
	}
	return ""
}
