-- Which redo log belongs to this file, and how much of it is in the tables.
CREATE TABLE redo (one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, seq INTEGER NOT NULL) STRICT;
INSERT INTO redo VALUES (1, randomblob(16), 0);
