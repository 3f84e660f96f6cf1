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

// SignedHeader carries a passkey's signature for one request that loosens
// something; see docs/access.md.
const SignedHeader = "X-Gatelatch-Signed"

// CookiePrefix begins the name of the cookie that is the other half. The port
// follows: browsers share cookies between the ports of a host.
const CookiePrefix = "gatelatch_session_"

// IdempotencyHeader names one attempt: see Proposal and Consume.
const IdempotencyHeader = "Idempotency-Key"

// SocketHost is the Host of requests over a Unix socket.
const SocketHost = "gatelatch.sock"

// MaxBody is the most bytes a request may have where inputs have the usual size.
const MaxBody = 1<<20 + bodyRoom

const bodyRoom = 64 << 10

// BodyFor is the most bytes a request may have: one full input and some room.
func BodyFor(input int) int64 { return int64(input) + bodyRoom }

// MaxWait is how long one await request is held before the client asks again.
const MaxWait = 50 * time.Second

// Proposal is what an agent wants to do: the calls of one model message.
type Proposal struct {
	Session Session        `json:"session"`
	Message string         `json:"message,omitempty"` // its id: the same one gives the same batch; the header Idempotency-Key may stand for it
	Calls   []ProposedCall `json:"calls"`
	Context Context        `json:"context,omitzero"`
	Turn    string         `json:"turn,omitempty"`          // names the turn; hosts that repeat a call without its id need one
	Repeats bool           `json:"repeats,omitempty"`       // this is such a repetition
	Hold    Hold           `json:"hold,omitzero"`           // opens the batch at once if nothing waits
	Limit   int            `json:"limit_seconds,omitempty"` // how long the calls may wait; 0 is for ever
	// Subagent is the id of the one that asks, if it is not the main agent.
	Subagent string `json:"subagent,omitempty"`
	// Wait, with a hold, awaits the batch in the same request: at most MaxWait.
	Wait int `json:"wait_seconds,omitempty"`
}

// Hold is how the asker wants to hold the batch. Holder is a nonce of one
// attempt, and stays secret.
type Hold struct {
	Holder  string `json:"holder"`
	Lease   int    `json:"lease_seconds,omitempty"` // then somebody else may go on; 0 is 300
	Consume bool   `json:"consume,omitempty"`       // take every allow with the opening: the calls run at once
}

// Session is what is known about an agent's session.
type Session struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Project string `json:"project,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Host    string `json:"host,omitempty"`
	// Transcript is the file that the agent's host writes of the session: a call
	// that ran unasked shows in there. People do not get it.
	Transcript string `json:"transcript,omitempty"`
}

// Context is what the host told about the moment. It is foreign text.
type Context struct {
	Prompt string `json:"prompt,omitempty"`
	Said   string `json:"said,omitempty"`
	Via    string `json:"via,omitempty"` // for a sub-agent: who started it, and for what
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
	// Suggests are matchers that the agent would like to be remembered.
	Suggests []string `json:"suggests,omitempty"`
}

// Batch is what an agent gets back. Opened is set for its holder, once every
// call is settled.
type Batch struct {
	ID       string      `json:"id"`
	Phase    int         `json:"phase"`
	Opened   *Opening    `json:"opened,omitempty"`
	Finished *time.Time  `json:"finished,omitempty"`
	Calls    []AgentCall `json:"calls"`
}

// Opening says that the batch is the asker's. Whatever the holder does carries
// the fence.
type Opening struct {
	Fence   int64     `json:"fence"`
	Resume  string    `json:"resume"` // the same for every holder of a phase
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"` // the lease; renew it before
	Consume bool      `json:"consume,omitempty"`
}

// AgentCall is one call's standing, for the agent. It may run only when its
// state is allowed, and its allow was consumed by the asker, with exactly this
// input.
type AgentCall struct {
	ID      string            `json:"id"`
	Ref     string            `json:"ref,omitempty"`
	Phase   int               `json:"phase"`
	Kind    string            `json:"kind"`
	Tool    string            `json:"tool"`
	State   string            `json:"state"`
	Effect  string            `json:"effect"`
	Input   json.RawMessage   `json:"input"`
	Dir     string            `json:"dir,omitempty"`
	Digest  string            `json:"digest"`
	Answer  string            `json:"answer,omitempty"` // the text for the model when the call may not run
	Why     string            `json:"why,omitempty"`    // why it waits
	Decided *Decided          `json:"decided,omitempty"`
	Answers map[string]string `json:"answers,omitempty"`
	// Interrupt ends the agent's turn, with the denial.
	Interrupt bool   `json:"interrupt,omitempty"`
	Consumed  bool   `json:"consumed,omitempty"`
	Outcome   string `json:"outcome,omitempty"` // done, failed or unknown
}

// Await asks to be told when the batch is settled, and to hold it then.
type Await struct {
	Hold Hold `json:"hold"`
	Wait int  `json:"wait_seconds,omitempty"` // at most MaxWait
}

// Consume uses the allow of one call, by the digest of what is about to run.
type Consume struct {
	Call   string `json:"call"`
	Fence  int64  `json:"fence"`
	Digest string `json:"digest"`
	Nonce  string `json:"nonce,omitempty"` // of this attempt: the same one may be repeated; the header Idempotency-Key may stand for it
}

// Renew keeps the batch for another lease.
type Renew struct {
	Fence int64 `json:"fence"`
}

// Extend proposes calls that turned out to need permission while the batch was
// running: its next phase.
type Extend struct {
	Fence int64          `json:"fence"`
	Calls []ProposedCall `json:"calls"`
}

// Finish ends the batch: the agent goes on with its results.
type Finish struct {
	Fence   int64 `json:"fence"`
	Abandon bool  `json:"abandon,omitempty"` // give up what has not begun
}

// Results are what the calls of a batch came to, in their order.
type Results struct {
	Results []Result `json:"results"`
}

// Result is what one call came to: what the tool gave back or, if the call did
// not run, the text for the model.
type Result struct {
	Call    string `json:"call"`
	Ref     string `json:"ref,omitempty"`
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"` // "" if it did not run
	Text    string `json:"text,omitempty"`
	Bytes   []byte `json:"bytes,omitempty"` // base64; instead of text, where it is none
	// Interrupt says that a person wants the agent's turn to end here.
	Interrupt bool `json:"interrupt,omitempty"`
}

// Withdraw takes back what still waits.
type Withdraw struct {
	Why string `json:"why"`
}

// Report tells how a call went. A holder names it by batch, call and fence; a
// host that runs calls by itself, by session and ref.
type Report struct {
	Session string `json:"session,omitempty"`
	Ref     string `json:"ref,omitempty"`
	Batch   string `json:"batch,omitempty"`
	Call    string `json:"call,omitempty"`
	Fence   int64  `json:"fence,omitempty"`
	OK      bool   `json:"ok"`
	Text    string `json:"text,omitempty"`  // what the tool gave back, if it is to be kept
	Bytes   []byte `json:"bytes,omitempty"` // the same in base64, where it is no text
}

// Call is a call as people see it. Text an agent wrote is escaped by the
// gateway: characters that would not show stand as ⟨U+202E⟩.
type Call struct {
	ID       string          `json:"id"`
	Batch    BatchInfo       `json:"batch"`
	Agent    string          `json:"agent"` // id of its key
	Session  Session         `json:"session"`
	Mode     *Mode           `json:"mode,omitempty"` // of the session, as a person chose it
	Rules    *RulesMode      `json:"rules_mode,omitempty"`
	Kind     string          `json:"kind"`
	Tool     string          `json:"tool"`
	Dir      string          `json:"dir,omitempty"`
	State    string          `json:"state"`
	Digest   string          `json:"digest"`
	Same     string          `json:"same,omitempty"` // waiting calls with the same one have the same digest; nobody decides by it
	Created  time.Time       `json:"created"`
	Deadline *time.Time      `json:"deadline,omitempty"`
	Verdict  Verdict         `json:"verdict"`
	Decided  *Decided        `json:"decided,omitempty"`
	Edited   *Edited         `json:"edited,omitempty"`
	Consumed *time.Time      `json:"consumed,omitempty"`
	Lapses   *time.Time      `json:"lapses,omitempty"` // until when an allow waits to be consumed
	Outcome  *Outcome        `json:"outcome,omitempty"`
	Before   *Before         `json:"before,omitempty"`   // not in lists, but of calls that are whole
	Remember []Remember      `json:"remember,omitempty"` // what an allow could remember
	Parked   bool            `json:"parked,omitempty"`   // nobody waits for the answer at present; it is kept
	Left     *time.Time      `json:"left,omitempty"`     // since when nobody waits for the answer, if the agent did not say why
	Bound    *Bound          `json:"bound,omitempty"`    // what an allow is for, besides the input
	Claim    string          `json:"claim,omitempty"`
	Context  Context         `json:"context,omitzero"`
	Input    json.RawMessage `json:"input"`              // as it would run
	Replaced bool            `json:"replaced,omitempty"` // it is not what the agent proposed
	Card     Card            `json:"card"`
	Brief    bool            `json:"brief,omitempty"` // a row of a list: without digest, input and the blocks of its card
}

// BatchInfo places a call in its batch.
type BatchInfo struct {
	ID       string `json:"id"`
	Turn     string `json:"turn,omitempty"` // batches of one belong together
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
	Needs   *Needs   `json:"needs,omitempty"` // if a person is asked: what for
}

// Needs is what a call needs permission for.
type Needs struct {
	Type         string   `json:"type"` // read, write, command or all
	Command      string   `json:"command,omitempty"`
	Signature    string   `json:"command_signature,omitempty"` // its programs with their verbs
	Info         []string `json:"command_info,omitempty"`      // what it does: read, write, delete, exec, net …
	Paths        []string `json:"paths,omitempty"`
	Rememberable bool     `json:"rememberable"`
}

// Reason points at what spoke.
type Reason struct {
	Effect  string `json:"effect"`
	Layer   string `json:"layer"`
	Rule    string `json:"rule,omitempty"`
	Source  string `json:"source,omitempty"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"` // of the input
	Part    string `json:"part,omitempty"`
}

// Decided is how a call was settled.
type Decided struct {
	State   string            `json:"state"`
	By      Actor             `json:"by"`
	At      time.Time         `json:"at"`
	Note    string            `json:"note,omitempty"`
	Answers map[string]string `json:"answers,omitempty"` // to a question
	Choice  string            `json:"choice,omitempty"`  // of a plan
	Mode    string            `json:"mode,omitempty"`    // of a plan
	// Interrupt and Reply are kinds of denial.
	Interrupt bool   `json:"interrupt,omitempty"`
	Reply     bool   `json:"reply,omitempty"`
	Grant     string `json:"grant,omitempty"` // what it made, or rested on
}

// Edited says who replaced the input.
type Edited struct {
	By Actor     `json:"by"`
	At time.Time `json:"at"`
}

// Remember is what an allow of one scope would remember, or why it can't.
type Remember struct {
	Scope   string `json:"scope"`
	Match   string `json:"match,omitempty"`
	Refused string `json:"refused,omitempty"`
	// Offers are all that could be remembered, Match first.
	Offers []Offer `json:"offers,omitempty"`
}

// Offer is a matcher that could be remembered, and some of what else it would
// allow that is worth a thought.
type Offer struct {
	Match string   `json:"match"`
	Also  []string `json:"also,omitempty"`
}

// Actor is whoever acted.
type Actor struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Outcome is what the agent reported.
type Outcome struct {
	Kind string    `json:"kind"` // done, failed or unknown
	At   time.Time `json:"at"`
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
	Choice  string            `json:"choice,omitempty"` // of a plan: startEditing or clearContextAndStart
	Mode    string            `json:"mode,omitempty"`   // of a plan: the session's from now on, default or acceptEdits
	// Interrupt, with a denial, ends the agent's turn. Reply, with a denial,
	// says that the note is an answer to go on with.
	Interrupt bool   `json:"interrupt,omitempty"`
	Reply     bool   `json:"reply,omitempty"`
	Remember  *Terms `json:"remember,omitempty"` // with an allow
}

// Terms are what to remember with an allow.
type Terms struct {
	Scope string `json:"scope"` // session, project or always
	Match string `json:"match"`
	For   int    `json:"for_seconds,omitempty"`
	Uses  int    `json:"uses,omitempty"`
}

// Edit replaces the input of a waiting call. It has to be decided again, by
// its new digest.
type Edit struct {
	Digest string          `json:"digest"`
	Input  json.RawMessage `json:"input"`
}

// Grants is what was remembered, the newest first.
type Grants struct {
	Grants []Grant `json:"grants"`
}

// Grant is one remembered allow. Good says whether it still allows anything.
type Grant struct {
	ID       string     `json:"id"`
	Match    string     `json:"match"`
	Scope    string     `json:"scope"`
	Agent    string     `json:"agent"`
	Session  string     `json:"session,omitempty"`
	Project  string     `json:"project,omitempty"`
	Call     string     `json:"call"`
	By       Actor      `json:"by"`
	At       time.Time  `json:"at"`
	Until    *time.Time `json:"until,omitempty"`
	Uses     int        `json:"uses,omitempty"`
	Server   *Server    `json:"server,omitempty"` // of an MCP tool: the only one that it is for
	Used     int        `json:"used"`             // uses that were noted
	LastUsed *time.Time `json:"last_used,omitempty"`
	Revoked  *time.Time `json:"revoked,omitempty"`
	Good     bool       `json:"good"`
}

// Mode is a person's choice for a session.
type Mode struct {
	Mode  string     `json:"mode"` // plan, default, acceptEdits or bypassPermissions
	Until *time.Time `json:"until,omitempty"`
	By    Actor      `json:"by"`
	At    time.Time  `json:"at"`
}

// SetMode chooses the mode of a session. What waits in it is judged again.
type SetMode struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Mode    string `json:"mode"`
	For     int    `json:"for_seconds,omitempty"` // 0 is for as long as the session; bypassPermissions needs a time
}

// Sessions are those of all agents, the newest first.
type Sessions struct {
	Sessions []AgentSession `json:"sessions"`
}

// AgentSession is a session as people see it.
type AgentSession struct {
	Agent   string    `json:"agent"`
	Session Session   `json:"session"`
	Since   time.Time `json:"since"`
	Mode    *Mode     `json:"mode,omitempty"`
	// Rules is the mode that holds if nobody chose one, if the rules say.
	Rules *RulesMode `json:"rules_mode,omitempty"`
	// Review is how many of its calls wait for a person: with any, the session
	// is in review. A list counts up to 2,000 in all.
	Review int `json:"in_review,omitempty"`
}

// Policy is the rules in force. Shared ones lie in the store and are those of
// all its gateways; others lie in the file at Path.
type Policy struct {
	Revision int64      `json:"revision"`
	Text     string     `json:"text"`
	By       Actor      `json:"by"`
	At       *time.Time `json:"at,omitempty"`
	Note     string     `json:"note,omitempty"`
	Shared   bool       `json:"shared,omitempty"`
	Path     string     `json:"path,omitempty"`
}

// ApplyPolicy puts a text in force, if From is the revision in force.
type ApplyPolicy struct {
	From int64  `json:"from"`
	Text string `json:"text"`
	Note string `json:"note,omitempty"`
}

// Event is one line of the audit trail, and of the stream: look at the call
// again.
type Event struct {
	Seq   int64           `json:"seq"`
	At    time.Time       `json:"at"`
	Kind  string          `json:"kind"`
	By    Actor           `json:"by"`
	Batch string          `json:"batch,omitempty"`
	Call  string          `json:"call,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"`
	Prev  string          `json:"prev"` // link of the event before
	Link  string          `json:"link"` // hash over all of the above
}

// Trail is one part of the audit trail, oldest first. Seq is the end of the
// whole: there is more while the last event's is smaller.
type Trail struct {
	Events []Event `json:"events"`
	Seq    int64   `json:"seq"`
}

// Status is what holds for the whole gateway.
type Status struct {
	Version string `json:"version"`
	You     Actor  `json:"you"`
	Paused  *Pause `json:"paused,omitempty"`
	Seq     int64  `json:"seq"`
	Notice  string `json:"notice,omitempty"` // something is wrong, such as a rule file that does not load
	// Isolation is how far agents are kept from the gateway: advisory if they run
	// as its own user, separated if as others, signed if people's passkeys sign
	// what they allow, too.
	Isolation string `json:"isolation,omitempty"`
	Role      string `json:"role,omitempty"` // what you may do: auditor, approver or admin
	// Silent says that nobody is told of a call who does not look at the page.
	Silent bool    `json:"silent,omitempty"`
	Muted  []Muted `json:"muted,omitempty"` // agents that may not ask for now
	// Look asks a page to say when it is looked at.
	Look bool `json:"look,omitempty"`
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
	Public  string    `json:"public,omitempty"` // the same for another device, if one can reach the gateway
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
