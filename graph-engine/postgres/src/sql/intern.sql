INSERT INTO {schema}.names (name)
SELECT DISTINCT new.name FROM unnest($1::bytea[]) AS new(name)
WHERE NOT EXISTS (SELECT FROM {schema}.names n WHERE sha256(n.name) = sha256(new.name))
ORDER BY new.name
ON CONFLICT DO NOTHING
