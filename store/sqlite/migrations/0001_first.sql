-- Aggregates are (id, version, body, sum): body is JSON, sum its SHA-256. The
-- other columns are what they are found by.
CREATE TABLE batch (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	agent   TEXT NOT NULL,
	session TEXT NOT NULL,
	message TEXT NOT NULL,
	pair    BLOB, -- as long as a repetition may find the batch by it
	claimed TEXT NOT NULL,
	permits INTEGER NOT NULL CHECK (permits IN (0, 1)),
	due     INTEGER,
	over    INTEGER CHECK (over IS NULL OR (due IS NULL AND NOT permits)),
	created INTEGER NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL,
	UNIQUE (agent, session, message)
) STRICT; -- with a row id: without one, a body would lie on pages of its own
CREATE INDEX batch_pair ON batch (agent, pair, claimed, created) WHERE pair IS NOT NULL;
CREATE INDEX batch_permits ON batch (id) WHERE permits;
CREATE INDEX batch_due ON batch (due, id) WHERE due IS NOT NULL;
CREATE INDEX batch_over ON batch (over, id) WHERE over IS NOT NULL;

-- What lists and waiters search by. The batch's body is the truth, and both are
-- written together.
CREATE TABLE call (
	id       TEXT PRIMARY KEY,
	batch    TEXT NOT NULL,
	pos      INTEGER NOT NULL,
	agent    TEXT NOT NULL,
	session  TEXT NOT NULL,
	ref      TEXT NOT NULL,
	tool     TEXT NOT NULL,
	state    TEXT NOT NULL CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'withdrawn', 'revoked', 'lapsed')),
	created  INTEGER NOT NULL,
	settled  INTEGER CHECK ((state = 'pending') = (settled IS NULL)),
	input    BLOB NOT NULL,
	result   BLOB
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX call_ref ON call (agent, session, ref) WHERE ref <> '';
CREATE INDEX call_waiting ON call (created, batch, pos, id) WHERE state = 'pending';
CREATE INDEX call_settled ON call (settled, id) WHERE state <> 'pending';
CREATE INDEX call_input ON call (input);
CREATE INDEX call_result ON call (result) WHERE result IS NOT NULL;

-- Inputs and results as they came, each once.
CREATE TABLE input (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE result (hash BLOB PRIMARY KEY, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE session (
	agent   TEXT NOT NULL,
	id      TEXT NOT NULL,
	version INTEGER NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL,
	PRIMARY KEY (agent, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	live    INTEGER NOT NULL CHECK (live IN (0, 1)),
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_at ON grants (at, id);
CREATE INDEX grants_live ON grants (at, id) WHERE live;

CREATE TABLE work (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX work_at ON work (at, id);

CREATE TABLE key (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	hash    BLOB NOT NULL UNIQUE,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What holds for all gateways. The sum is that of '{}'.
CREATE TABLE control (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;
INSERT INTO control VALUES (1, 1, CAST('{}' AS BLOB), x'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');

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
