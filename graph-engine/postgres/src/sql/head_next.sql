UPDATE {schema}.places SET head = $3::bytea, seq = seq + 1, due_ms = $7::bigint
    WHERE sha256(thread) = sha256($1::bytea) AND sha256(namespace) = sha256($2::bytea)
        AND thread = $1 AND namespace = $2 AND head = $4::bytea
        AND NOT EXISTS (SELECT FROM input WHERE field IS NULL)
    RETURNING id, seq, branch
