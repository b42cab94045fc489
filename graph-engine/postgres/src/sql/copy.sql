-- One statement sees one moment, so a thread that is at work is copied as it was.
WITH old AS MATERIALIZED (
    SELECT * FROM {schema}.places WHERE sha256(thread) = sha256($1::bytea) AND thread = $1
), new AS (
    INSERT INTO {schema}.places (thread, namespace, head, seq, branch, branches, due_ms)
    SELECT $2::bytea, namespace, head, seq, branch, branches, due_ms FROM old
    WHERE NOT EXISTS (SELECT FROM {schema}.places WHERE sha256(thread) = sha256($2) AND thread = $2)
    RETURNING id, namespace
), pair AS MATERIALIZED (
    SELECT old.id AS source, new.id AS target FROM old JOIN new USING (namespace)
), checkpoint AS (
    INSERT INTO {schema}.checkpoints
        (place, seq, branch, id, parent, step, time_ms, due_ms, kind, turn, tags, position)
    SELECT target, seq, branch, id, parent, step, time_ms, due_ms, kind, turn, tags, position
    FROM pair JOIN {schema}.checkpoints ON place = source
), branch AS (
    INSERT INTO {schema}.branches (place, branch, froms, uptos)
    SELECT target, branch, froms, uptos FROM pair JOIN {schema}.branches ON place = source
), segment AS (
    INSERT INTO {schema}.segments (place, seq, lo, hi, field, branch, ord, encoding, data)
    SELECT target, seq, lo, hi, field, branch, ord, encoding, data FROM pair JOIN {schema}.segments ON place = source
), save AS (
    INSERT INTO {schema}.saved (place, after, step, rank, key, data)
    SELECT target, after, step, rank, key, data FROM pair JOIN {schema}.saved ON place = source ORDER BY saved.id
)
SELECT (SELECT count(*) FROM old) AS sources, (SELECT count(*) FROM pair) AS targets
