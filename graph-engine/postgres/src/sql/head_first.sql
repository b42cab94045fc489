INSERT INTO {schema}.places (thread, namespace, head, seq, branch, branches, due_ms)
    SELECT $1::bytea, $2::bytea, $3::bytea, 1, 0, 0, $7::bigint WHERE NOT EXISTS (SELECT FROM input WHERE field IS NULL)
    ON CONFLICT DO NOTHING
    RETURNING id, seq, branch
