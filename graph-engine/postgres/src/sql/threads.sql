SELECT p.thread, p.due_ms, c.id, c.parent, c.step, c.time_ms, c.kind, c.turn, c.tags
FROM {schema}.places p JOIN {schema}.checkpoints c ON c.place = p.id AND c.seq = p.seq
WHERE p.namespace = '' AND p.thread >= $1::bytea AND p.thread < $2::bytea
    AND ($3::bytea IS NULL OR p.thread > $3)
    {pick}
ORDER BY {order}p.thread LIMIT $4::bigint
