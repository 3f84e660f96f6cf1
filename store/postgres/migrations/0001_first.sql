-- Aggregates are (id, version, body, sum): body is JSON, sum its SHA-256. The
-- other columns are what they are found by.
-- What people and agents write is bytea: text refuses a NUL, and one that is
-- refused at the end of a group would fail it for everybody in it.
CREATE TABLE batch (
	id      bytea PRIMARY KEY,
	version bigint NOT NULL,
	agent   bytea NOT NULL,
	session bytea NOT NULL,
	message bytea NOT NULL,
	pair    bytea, -- as long as a repetition may find the batch by it
	claimed bytea NOT NULL,
	permits boolean NOT NULL,
	due     bigint,
	over    bigint CHECK (over IS NULL OR (due IS NULL AND NOT permits)),
	created bigint NOT NULL,
	body    bytea NOT NULL,
	sum     bytea NOT NULL,
	UNIQUE (agent, session, message)
);
CREATE INDEX batch_pair ON batch (agent, pair, claimed, created) WHERE pair IS NOT NULL;
CREATE INDEX batch_permits ON batch (id) WHERE permits;
CREATE INDEX batch_due ON batch (due, id) WHERE due IS NOT NULL;
CREATE INDEX batch_over ON batch (over, id) WHERE over IS NOT NULL;

-- What lists and waiters search by. The batch's body is the truth, and both are
-- written together.
CREATE TABLE call (
	id       bytea PRIMARY KEY,
	batch    bytea NOT NULL,
	pos      bigint NOT NULL,
	agent    bytea NOT NULL,
	session  bytea NOT NULL,
	ref      bytea NOT NULL,
	tool     bytea NOT NULL,
	state    text NOT NULL CHECK (state IN ('pending', 'allowed', 'denied', 'expired', 'withdrawn', 'revoked', 'lapsed')),
	created  bigint NOT NULL,
	settled  bigint CHECK ((state = 'pending') = (settled IS NULL)),
	input    bytea NOT NULL,
	result   bytea
);
CREATE UNIQUE INDEX call_ref ON call (agent, session, ref) WHERE ref <> '';
CREATE INDEX call_waiting ON call (created, batch, pos, id) WHERE state = 'pending';
CREATE INDEX call_settled ON call (settled, id) WHERE state <> 'pending';
CREATE INDEX call_input ON call (input);
CREATE INDEX call_result ON call (result) WHERE result IS NOT NULL;

-- Inputs and results as they came, each once.
CREATE TABLE input (hash bytea PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE result (hash bytea PRIMARY KEY, bytes bytea NOT NULL);

CREATE TABLE session (
	agent   bytea NOT NULL,
	id      bytea NOT NULL,
	version bigint NOT NULL,
	body    bytea NOT NULL,
	sum     bytea NOT NULL,
	PRIMARY KEY (agent, id)
);

CREATE TABLE grants (
	id      bytea PRIMARY KEY,
	version bigint NOT NULL,
	at      bigint NOT NULL,
	live    boolean NOT NULL,
	body    bytea NOT NULL,
	sum     bytea NOT NULL
);
CREATE INDEX grants_at ON grants (at, id);
CREATE INDEX grants_live ON grants (at, id) WHERE live;

CREATE TABLE work (
	id      bytea PRIMARY KEY,
	version bigint NOT NULL,
	at      bigint NOT NULL,
	body    bytea NOT NULL,
	sum     bytea NOT NULL
);
CREATE INDEX work_at ON work (at, id);

CREATE TABLE key (
	id      bytea PRIMARY KEY,
	version bigint NOT NULL,
	hash    bytea NOT NULL UNIQUE,
	body    bytea NOT NULL,
	sum     bytea NOT NULL
);

-- What holds for all gateways.
CREATE TABLE control (one int PRIMARY KEY CHECK (one = 1), version bigint NOT NULL, body bytea NOT NULL, sum bytea NOT NULL);
INSERT INTO control VALUES (1, 1, '{}', sha256('{}'));

-- prev is unique: two writers that both follow one event can't both commit.
CREATE TABLE event (
	seq     bigint PRIMARY KEY,
	at      bigint NOT NULL,
	kind    bytea NOT NULL,
	by_kind bytea NOT NULL,
	by_id   bytea NOT NULL,
	by_name bytea NOT NULL,
	batch   bytea NOT NULL,
	call    bytea NOT NULL,
	body    bytea NOT NULL,
	prev    bytea NOT NULL UNIQUE,
	link    bytea NOT NULL
);

-- The end of the trail. Whoever changes anything locks this row, last of all.
CREATE TABLE head (one int PRIMARY KEY CHECK (one = 1), seq bigint NOT NULL, at bigint NOT NULL, link bytea NOT NULL);
INSERT INTO head VALUES (1, 0, 0, decode(repeat('00', 32), 'hex'));
