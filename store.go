package gatelatch

import (
	"context"
	"time"
)

// Store keeps batches, sessions, keys and the audit trail.
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
	// BatchOfRef returns the newest batch of the session with a call of that ref.
	BatchOfRef(agent, session, ref string) (*Batch, error)
	List(q Query) (Page, error)
	// Overdue returns waiting calls whose deadline is at or before t, oldest
	// first, and the next deadline after t, zero if there is none.
	Overdue(t time.Time, limit int) (calls []string, next time.Time, err error)
	// Permits returns batches that nobody opened and that allow something.
	Permits(limit int) (batches []string, err error)
	Events(after Seq, limit int) ([]Event, error)
	LastSeq() (Seq, error)
	Session(agent, id string) (*Session, error)
	Key(id string) (*Key, error)
	KeyByHash(h Sum) (*Key, error)
	Pause() (Pause, error)
}

// A Tx reads and writes in one transaction. Each Save compares the version it
// loaded with the one stored and is ErrStale if they differ.
type Tx interface {
	Reader
	// SaveBatch writes b with its events. Without events nothing changed and
	// nothing is written.
	SaveBatch(*Batch) error
	SaveSession(*Session) error
	SaveKey(*Key) error
	SavePause(Pause) error
	// Record appends an event that belongs to no batch.
	Record(Event) error
}

// A Query selects calls, newest first when settled, oldest first when pending.
type Query struct {
	Pending bool   // what waits; otherwise what is settled
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
