-- The policy as it was put in force, each time.
CREATE TABLE revision (number INTEGER PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) STRICT;

-- Sessions are listed, the newest first.
ALTER TABLE session ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_since ON session (since, agent, id);
