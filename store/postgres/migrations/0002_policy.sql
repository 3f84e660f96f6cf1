-- The policy as it was put in force, each time.
CREATE TABLE revision (number bigint PRIMARY KEY, version bigint NOT NULL, body bytea NOT NULL, sum bytea NOT NULL);

-- Sessions are listed, the newest first.
ALTER TABLE session ADD COLUMN since bigint NOT NULL DEFAULT 0;
CREATE INDEX session_since ON session (since, agent, id);
