-- What people are told, or were, each once.
CREATE TABLE message (
	id      TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	call    TEXT NOT NULL,
	at      INTEGER NOT NULL,
	due     INTEGER,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX message_call ON message (call, at, id);
CREATE INDEX message_at ON message (at, id);
CREATE INDEX message_due ON message (due, id) WHERE due IS NOT NULL;

-- How far readers of the trail have come.
CREATE TABLE cursor (id TEXT PRIMARY KEY, version INTEGER NOT NULL, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT, WITHOUT ROWID;
