// Package api is the HTTP contract: the JSON types, the routes with who may
// use them, and the errors. It is versioned and lives in browsers and in other
// people's programs; the domain is free to change behind it.
package api

import (
	"encoding/json"
	"time"
)

//go:generate go run ./gen

// PageHeader carries a proof that the page has its half of a browser session:
// a cookie alone is sent to every port of the host. See auth for its form.
const PageHeader = "X-Gatelatch-Page"

// CookiePrefix begins the name of the cookie that is the other half. The port
// follows: browsers share cookies between the ports of a host.
const CookiePrefix = "gatelatch_session_"

// SocketHost is the Host of requests over a Unix socket.
const SocketHost = "gatelatch.sock"

// MaxBody is the most bytes a request may have: one full input and some room.
const MaxBody = 1<<20 + 64<<10

// MaxWait is how long one await request is held before the client asks again.
const MaxWait = 50 * time.Second

// Proposal is what an agent wants to do: the calls of one model message.
type Proposal struct {
	Session Session        `json:"session"`
	Message string         `json:"message"`
	Calls   []ProposedCall `json:"calls"`
	Context Context        `json:"context,omitzero"`
	Turn    string         `json:"turn,omitempty"`          // names the turn, for hosts that repeat a call without its id
	Repeats bool           `json:"repeats,omitempty"`       // this is such a repetition
	Holder  string         `json:"holder,omitempty"`        // opens the batch at once if nothing waits
	Limit   int            `json:"limit_seconds,omitempty"` // how long the calls may wait; 0 is for ever
}

// Session is what is known about an agent's session.
type Session struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Project string `json:"project,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Host    string `json:"host,omitempty"`
}

// Context is what the host told about the moment. It is foreign text.
type Context struct {
	Prompt string `json:"prompt,omitempty"`
	Said   string `json:"said,omitempty"`
}

// ProposedCall is one call. Input is any JSON value; white space between its
// tokens is not kept, every other byte is.
type ProposedCall struct {
	Ref   string          `json:"ref,omitempty"`
	Kind  string          `json:"kind,omitempty"` // permission (the default), question or plan
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
	Dir   string          `json:"dir,omitempty"`
	Claim string          `json:"claim,omitempty"`
}

// Batch is what an agent gets back. Opened is set once its calls may run.
type Batch struct {
	ID     string      `json:"id"`
	Opened *Opening    `json:"opened,omitempty"`
	Calls  []AgentCall `json:"calls"`
}

// Opening says that the batch is the asker's. Later reports carry the fence.
type Opening struct {
	Fence int64     `json:"fence"`
	At    time.Time `json:"at"`
}

// AgentCall is one call's standing, for the agent. It may run only when its
// state is allowed and the batch is opened, and then with exactly this input.
type AgentCall struct {
	ID      string            `json:"id"`
	Ref     string            `json:"ref,omitempty"`
	Tool    string            `json:"tool"`
	State   string            `json:"state"`
	Effect  string            `json:"effect"`
	Input   json.RawMessage   `json:"input"`
	Digest  string            `json:"digest"`
	Answer  string            `json:"answer,omitempty"` // the text for the model when the call may not run
	Why     string            `json:"why,omitempty"`    // why it waits
	Decided *Decided          `json:"decided,omitempty"`
	Answers map[string]string `json:"answers,omitempty"`
}

// Await asks to be told when the batch is settled, and to hold it then.
type Await struct {
	Holder string `json:"holder"`
	Wait   int    `json:"wait_seconds,omitempty"` // at most MaxWait
}

// Withdraw takes back what still waits.
type Withdraw struct {
	Why string `json:"why"`
}

// Report tells how a call went, by the agent's own names.
type Report struct {
	Session string `json:"session"`
	Ref     string `json:"ref"`
	OK      bool   `json:"ok"`
}

// Call is a call as people see it. Text an agent wrote is escaped by the
// gateway: characters that would not show stand as ⟨U+202E⟩.
type Call struct {
	ID       string          `json:"id"`
	Batch    BatchInfo       `json:"batch"`
	Session  Session         `json:"session"`
	Kind     string          `json:"kind"`
	Tool     string          `json:"tool"`
	Dir      string          `json:"dir,omitempty"`
	State    string          `json:"state"`
	Digest   string          `json:"digest"`
	Created  time.Time       `json:"created"`
	Deadline *time.Time      `json:"deadline,omitempty"`
	Verdict  Verdict         `json:"verdict"`
	Decided  *Decided        `json:"decided,omitempty"`
	Outcome  *Outcome        `json:"outcome,omitempty"`
	Claim    string          `json:"claim,omitempty"`
	Context  Context         `json:"context,omitzero"`
	Input    json.RawMessage `json:"input"`              // as it would run
	Replaced bool            `json:"replaced,omitempty"` // a hook replaced what the agent proposed
	Card     Card            `json:"card"`
}

// BatchInfo places a call in its batch.
type BatchInfo struct {
	ID       string `json:"id"`
	Size     int    `json:"size"`
	Position int    `json:"position"` // from 1
	Waiting  int    `json:"waiting"`  // calls of the batch that nobody has decided
	Opened   bool   `json:"opened"`
}

// Verdict is what policy said, and why.
type Verdict struct {
	Effect  string   `json:"effect"`
	Reasons []Reason `json:"reasons,omitempty"`
	Errors  []string `json:"errors,omitempty"`
}

// Reason points at what spoke.
type Reason struct {
	Effect  string `json:"effect"`
	Layer   string `json:"layer"`
	Rule    string `json:"rule,omitempty"`
	Source  string `json:"source,omitempty"`
	Message string `json:"message"`
	Part    string `json:"part,omitempty"`
}

// Decided is how a call was settled.
type Decided struct {
	State   string            `json:"state"`
	By      Actor             `json:"by"`
	At      time.Time         `json:"at"`
	Note    string            `json:"note,omitempty"`
	Answers map[string]string `json:"answers,omitempty"` // to a question
}

// Actor is whoever acted.
type Actor struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Outcome is what the agent reported.
type Outcome struct {
	OK bool      `json:"ok"`
	At time.Time `json:"at"`
}

// Calls is one part of a list. Seq is the end of the trail it was read at: a
// stream behind it misses nothing.
type Calls struct {
	Calls []Call `json:"calls"`
	More  bool   `json:"more"`
	Seq   int64  `json:"seq"`
}

// Decision settles one call. Digest is that of the call as it was shown.
type Decision struct {
	State   string            `json:"state"` // allowed or denied
	Digest  string            `json:"digest"`
	Note    string            `json:"note,omitempty"`
	Answers map[string]string `json:"answers,omitempty"`
}

// Event is one line of the stream: look at the call again.
type Event struct {
	Seq   int64           `json:"seq"`
	At    time.Time       `json:"at"`
	Kind  string          `json:"kind"`
	By    Actor           `json:"by"`
	Batch string          `json:"batch,omitempty"`
	Call  string          `json:"call,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
}

// Status is what holds for the whole gateway.
type Status struct {
	Version string `json:"version"`
	You     Actor  `json:"you"`
	Paused  *Pause `json:"paused,omitempty"`
	Seq     int64  `json:"seq"`
	Notice  string `json:"notice,omitempty"` // something is wrong, such as a rule file that does not load
}

// Pause says who stopped everything.
type Pause struct {
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// PauseRequest stops everything.
type PauseRequest struct {
	Note string `json:"note,omitempty"`
}

// LoginCode is a link that logs one browser in, once, soon.
type LoginCode struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Login trades a code for a browser session.
type Login struct {
	Code string `json:"code"`
}

// LoggedIn holds the page's half of the session.
type LoggedIn struct {
	Page string `json:"page"`
	Name string `json:"name"`
}

// None is a body without fields.
type None struct{}
