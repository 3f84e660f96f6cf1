-- Aggregates are (id, version, body, sum): body is JSON, sum its SHA-256.
CREATE TABLE batch (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	agent   TEXT NOT NULL,
	session TEXT NOT NULL,
	message TEXT NOT NULL,
	pair    BLOB,
	claimed TEXT NOT NULL,
	opened  INTEGER NOT NULL CHECK (opened IN (0, 1)),
	created INTEGER NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL,
	UNIQUE (agent, session, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_unopened ON batch (created) WHERE NOT opened;
CREATE INDEX batch_pair ON batch (agent, pair, created) WHERE pair IS NOT NULL AND NOT opened;

-- What lists and waiters search by. The batch's body is the truth.
CREATE TABLE call (
	id       TEXT PRIMARY KEY,
	batch    TEXT NOT NULL REFERENCES batch (id),
	pos      INTEGER NOT NULL,
	agent    TEXT NOT NULL,
	session  TEXT NOT NULL,
	ref      TEXT NOT NULL,
	tool     TEXT NOT NULL,
	state    TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'withdrawn', 'revoked')),
	created  INTEGER NOT NULL,
	settled  INTEGER CHECK ((state = 'pending') = (settled IS NULL)),
	deadline INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX call_ref ON call (agent, session, ref, created);
CREATE INDEX call_waiting ON call (created, batch, pos, id) WHERE state = 'pending';
CREATE INDEX call_settled ON call (settled, id) WHERE state <> 'pending';
CREATE INDEX call_deadline ON call (deadline) WHERE state = 'pending' AND deadline IS NOT NULL;

-- Inputs as they came, each once.
CREATE TABLE input (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE session (
	agent   TEXT NOT NULL,
	id      TEXT NOT NULL,
	version INTEGER NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL,
	PRIMARY KEY (agent, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE key (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	hash    BLOB NOT NULL UNIQUE,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pause (one INTEGER PRIMARY KEY CHECK (one = 1), body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;

CREATE TABLE event (
	seq     INTEGER PRIMARY KEY,
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	by_kind TEXT NOT NULL,
	by_id   TEXT NOT NULL,
	by_name TEXT NOT NULL,
	batch   TEXT NOT NULL,
	call    TEXT NOT NULL,
	body    BLOB NOT NULL,
	prev    BLOB NOT NULL,
	link    BLOB NOT NULL
) STRICT;
