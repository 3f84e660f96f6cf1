-- What people are told, or were, each once.
CREATE TABLE message (
	id      bytea PRIMARY KEY,
	version bigint NOT NULL,
	call    bytea NOT NULL,
	at      bigint NOT NULL,
	due     bigint,
	body    bytea NOT NULL,
	sum     bytea NOT NULL
);
CREATE INDEX message_call ON message (call, at, id);
CREATE INDEX message_at ON message (at, id);
CREATE INDEX message_due ON message (due, id) WHERE due IS NOT NULL;

-- How far readers of the trail have come.
CREATE TABLE cursor (id bytea PRIMARY KEY, version bigint NOT NULL, body bytea NOT NULL, sum bytea NOT NULL);
