SELECT c.id, c.parent, c.step, c.time_ms, c.kind, c.turn, c.tags FROM {schema}.checkpoints c
WHERE c.place = (
        SELECT id FROM {schema}.places
        WHERE sha256(thread) = sha256($1::bytea) AND sha256(namespace) = sha256($2::bytea)
            AND thread = $1 AND namespace = $2
    )
    AND ($3::bigint IS NULL OR c.seq < $3)
    AND ($4::bytea IS NULL OR c.turn = $4)
    -- Numbers beyond 2^63 are stored as negative ones.
    AND CASE WHEN $5::bigint <= $6::bigint THEN c.step BETWEEN $5 AND $6 ELSE c.step >= $5 OR c.step <= $6 END
    AND c.tags @> $7::bytea[]
ORDER BY c.seq DESC LIMIT $8::bigint
