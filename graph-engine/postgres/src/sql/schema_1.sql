-- Names of fields, stored once.
CREATE TABLE {schema}.names (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea NOT NULL
);
CREATE UNIQUE INDEX names_by_name ON {schema}.names (sha256(name));

-- A namespace of a thread and where it stands. Ids are bytes, found by their hash because an index entry can't be long.
-- The head is always the newest checkpoint, so its `seq` counts the checkpoints ever made here.
CREATE TABLE {schema}.places (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seq bigint NOT NULL,
    due_ms bigint,
    branch integer NOT NULL,
    branches integer NOT NULL,
    head bytea NOT NULL,
    thread bytea NOT NULL,
    namespace bytea NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX places_by_thread ON {schema}.places (sha256(thread), sha256(namespace));
CREATE INDEX places_in_order ON {schema}.places (substring(thread FROM 1 FOR 64)) WHERE namespace = '';
CREATE INDEX places_by_due ON {schema}.places (due_ms) WHERE namespace = '' AND due_ms IS NOT NULL;

-- Checkpoints without their fields.
CREATE TABLE {schema}.checkpoints (
    place bigint NOT NULL,
    seq bigint NOT NULL,
    step bigint NOT NULL,
    time_ms bigint NOT NULL,
    due_ms bigint,
    branch integer NOT NULL,
    id bytea NOT NULL,
    parent bytea,
    kind text NOT NULL,
    turn bytea NOT NULL,
    tags bytea[] NOT NULL,
    position bytea NOT NULL,
    PRIMARY KEY (place, seq),
    UNIQUE (place, id)
);

-- What a branch follows: its parent first, then the parent's parent, each with the last `seq` that counts.
CREATE TABLE {schema}.branches (
    place bigint NOT NULL,
    branch integer NOT NULL,
    froms integer[] NOT NULL,
    uptos bigint[] NOT NULL,
    PRIMARY KEY (place, branch)
);

-- Bases and deltas of fields. A field of a checkpoint is its newest base and what came after it on the same branches.
CREATE TABLE {schema}.segments (
    place bigint NOT NULL,
    seq bigint NOT NULL,
    lo bigint NOT NULL,
    hi bigint NOT NULL,
    field integer NOT NULL,
    branch integer NOT NULL,
    ord integer NOT NULL,
    -- 0 a base, 1 a delta, 2 writes, 3 a field that is gone; 0 and 3 replace what came before.
    encoding smallint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (place, field, branch, seq, ord)
);

-- Results of single tasks of the super-step that follows the checkpoint `after`.
CREATE TABLE {schema}.saved (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    place bigint NOT NULL,
    after bigint NOT NULL,
    step bigint NOT NULL,
    rank bigint NOT NULL,
    key bytea NOT NULL,
    data bytea NOT NULL
);
CREATE UNIQUE INDEX saved_by_task ON {schema}.saved (place, after, step, rank, sha256(key));
