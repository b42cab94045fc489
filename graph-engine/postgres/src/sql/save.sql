-- The lock holds the head where it is; whoever moved it meanwhile is seen by the condition.
WITH head AS MATERIALIZED (
    SELECT id, seq FROM {schema}.places
    WHERE sha256(thread) = sha256($1::bytea) AND sha256(namespace) = sha256($2::bytea)
        AND thread = $1 AND namespace = $2 AND head = $3::bytea
    FOR SHARE
), new AS (
    INSERT INTO {schema}.saved (place, after, step, rank, key, data)
    SELECT head.id, head.seq, r.step, r.rank, r.key, r.data
    FROM head, unnest($4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[]) WITH ORDINALITY AS r(step, rank, key, data, ord)
    ORDER BY r.ord
    ON CONFLICT DO NOTHING
)
SELECT id FROM head
