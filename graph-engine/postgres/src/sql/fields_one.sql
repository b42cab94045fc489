SELECT n.id AS field FROM {schema}.names n WHERE sha256(n.name) = sha256($5::bytea)
