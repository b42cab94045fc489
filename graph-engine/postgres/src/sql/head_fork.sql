UPDATE {schema}.places
    SET head = $3::bytea, seq = seq + 1, due_ms = $7::bigint, branch = branches + 1, branches = branches + 1
    WHERE sha256(thread) = sha256($1::bytea) AND sha256(namespace) = sha256($2::bytea)
        AND thread = $1 AND namespace = $2 AND NOT EXISTS (SELECT FROM input WHERE field IS NULL)
    RETURNING id, seq, branch
