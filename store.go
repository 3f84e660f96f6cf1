package gatelatch

import (
	"context"
	"time"
)

// Store keeps batches, sessions, grants, keys and the audit trail.
//
// When Update returns nil, what it wrote survives a crash and is visible to
// every later read, from any process. When it returns an error nothing was
// written, or the store can't know, and the caller must read before it goes on.
type Store interface {
	// Update runs fn in one transaction. fn works only through tx, takes the
	// time from it, and may run again.
	Update(ctx context.Context, fn func(tx Tx) error) error
	// View runs fn over one consistent state.
	View(ctx context.Context, fn func(r Reader) error) error
	// Changes calls fn after each commit that changed something, until ctx
	// ends. It is a hint to look again, not a record. fn must not block.
	Changes(ctx context.Context, fn func(Change))
	Close() error
}

// A Change says what a commit touched.
type Change struct {
	Seq     Seq // of the last event
	Batches []string
}

// A Reader reads one state of the store. What is missing is ErrNotFound; what
// does not match its checksum is an error, never data.
type Reader interface {
	Now() time.Time // of the store; never runs backwards
	Batch(id string) (*Batch, error)
	BatchOfCall(callID string) (*Batch, error)
	BatchOfMessage(agent, session, message string) (*Batch, error)
	// BatchOfPair returns the oldest batch with that pair sum that nobody
	// opened, that is not gone, and that nobody but holder claimed.
	BatchOfPair(agent string, pair Sum, holder string) (*Batch, error)
	// BatchOfRef returns the batch of the session with a call of that ref: no
	// two have the same.
	BatchOfRef(agent, session, ref string) (*Batch, error)
	// Live returns the batches of a session with no Index().Over, by id.
	Live(agent, session string, limit int) (batches []string, err error)
	// Waiting counts the calls of an agent that wait, up to most; with a session
	// only its calls.
	Waiting(agent, session string, most int) (int, error)
	List(q Query) (Page, error)
	// Due returns batches with Index().Due at or before t, oldest first, and
	// the next such time after t, zero if there is none.
	Due(t time.Time, limit int) (batches []string, next time.Time, err error)
	// Permits returns batches that allow something nobody has consumed, by id,
	// behind one.
	Permits(after string, limit int) (batches []string, err error)
	// Over returns batches with Index().Over before t, oldest first.
	Over(t time.Time, limit int) (batches []string, err error)
	// Result returns the bytes that were reported under that sum.
	Result(sum Sum) ([]byte, error)
	Events(after Seq, limit int) ([]Event, error)
	LastSeq() (Seq, error)
	Session(agent, id string) (*Session, error)
	// Sessions returns the newest first.
	Sessions(limit int) ([]*Session, error)
	Revision(number int64) (*Revision, error)
	Grant(id string) (*Grant, error)
	// Grants returns the newest first; those that are not revoked, if live.
	Grants(live bool, limit int) ([]*Grant, error)
	// Works returns the oldest first.
	Works(limit int) ([]*Work, error)
	Message(id string) (*Message, error)
	Messages(q MessageQuery) ([]*Message, error)
	// MessagesDue returns messages with Due at or before t, oldest first, and
	// the next such time after t, zero if there is none.
	MessagesDue(t time.Time, limit int) (ms []*Message, next time.Time, err error)
	// Cursor returns one that was not saved yet as zero.
	Cursor(name string) (Cursor, error)
	Key(id string) (*Key, error)
	KeyByHash(h Sum) (*Key, error)
	// Keys returns those behind an id, by id, also those that ended.
	Keys(after string, limit int) ([]*Key, error)
	// Control returns what holds for all gateways. A transaction that read it
	// commits only if nobody changed it meanwhile.
	Control() (Control, error)
}

// A Tx reads and writes in one transaction. Each Save compares the version it
// loaded with the one stored and is ErrStale if they differ.
type Tx interface {
	Reader
	// SaveBatch writes b with its events, and the results that were reported.
	// Without events nothing changed and nothing is written.
	SaveBatch(*Batch) error
	SaveSession(*Session) error
	SaveGrant(*Grant) error
	// SaveWork writes w, or deletes it when it is done.
	SaveWork(*Work) error
	// SaveMessage writes m, or deletes it when it is forgotten.
	SaveMessage(*Message) error
	SaveCursor(Cursor) error
	SaveKey(*Key) error
	SaveControl(Control) error
	// AddRevision writes a new one; a number that is there is ErrStale.
	AddRevision(*Revision) error
	// Forget deletes a batch, with inputs, results and a session that no other
	// batch needs. Its events stay.
	Forget(batchID string) error
	// Record appends an event that belongs to no batch.
	Record(Event) error
}

// An Index is what a store finds a batch by, beside its ids.
type Index struct {
	Opened  bool
	Permits bool      // it allows something that nobody has consumed
	Due     time.Time // when the clock has to look at it; zero is never
	Over    time.Time // since when nothing can happen to it any more; zero is not yet
}

// Control is what holds for all gateways of a store.
type Control struct {
	Pause Pause `json:"pause"`
	// Epoch grows whenever a grant is made or ends. A verdict that was reached
	// in an earlier one is reached again before it allows anything.
	Epoch int64 `json:"epoch"`
	// Revision is the number of the policy in force; 0 is none yet.
	Revision int64 `json:"revision,omitempty"`
	// Muted are agents that may not ask for now, by id.
	Muted map[string]Muting `json:"muted,omitempty"`
	// Signing is what needed a passkey when a gateway last started; "" is nothing.
	Signing string `json:"signing,omitempty"`

	Version int64 `json:"-"`
}

// Work is judging again what waits, after a grant was made or revoked, or a
// session got another mode. It survives a crash, and goes on behind the call it
// came to.
type Work struct {
	ID      string    `json:"id"`
	Grant   string    `json:"grant,omitempty"`
	Agent   string    `json:"agent,omitempty"` // with Session
	Session string    `json:"session,omitempty"`
	After   string    `json:"after,omitempty"` // a call id
	At      time.Time `json:"at"`
	Done    bool      `json:"-"`

	Version int64 `json:"-"`
}

// A Query selects calls. What is settled comes newest first.
type Query struct {
	Pending bool   // what waits; otherwise what is settled
	Newest  bool   // of what waits, the newest first
	After   string // a call id: go on behind it
	Limit   int
}

// A Page is one part of a list.
type Page struct {
	Calls []Listed
	More  bool
}

// A Listed call comes with the batch it belongs to.
type Listed struct {
	*Call
	Batch   *Batch
	Session *Session
}

// Pause is the switch that denies everything.
type Pause struct {
	On   bool      `json:"on"`
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}
