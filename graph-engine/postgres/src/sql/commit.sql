-- Stores one checkpoint if `head` (one of the statements beside this one) gives a row.
WITH input AS MATERIALIZED (
    SELECT n.id AS field, f.ord, f.encoding, f.lo, f.hi, f.data
    FROM unnest($12::bytea[], $13::smallint[], $14::bigint[], $15::bigint[], $16::bytea[])
        WITH ORDINALITY AS f(name, encoding, lo, hi, data, ord)
    LEFT JOIN {schema}.names n ON sha256(n.name) = sha256(f.name)
), head AS (
    {head}
), checkpoint AS (
    INSERT INTO {schema}.checkpoints
        (place, seq, branch, id, parent, step, time_ms, due_ms, kind, turn, tags, position)
    SELECT id, seq, branch, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM head
), segment AS (
    INSERT INTO {schema}.segments (place, seq, lo, hi, field, branch, ord, encoding, data)
    SELECT head.id, head.seq, input.lo, input.hi, input.field, head.branch, input.ord, input.encoding, input.data
    FROM head, input
), done AS (
    DELETE FROM {schema}.saved WHERE place = (SELECT id FROM head)
)
SELECT id FROM head
