SELECT id, head, branches FROM {schema}.places
WHERE sha256(thread) = sha256($1::bytea) AND sha256(namespace) = sha256($2::bytea) AND thread = $1 AND namespace = $2
FOR UPDATE
