SELECT 0 AS part, at.seq, 0::bigint AS ord, at.id, at.parent, at.step, at.time_ms, at.due_ms,
    at.kind, at.turn, at.tags, NULL::bytea AS name, NULL::smallint AS encoding, at.position AS data
FROM at
UNION ALL
SELECT 1, parts.seq, parts.ord, NULL, NULL, parts.lo, parts.hi, NULL, NULL, NULL, NULL, n.name, parts.encoding, parts.data
FROM parts JOIN {schema}.names n ON n.id = parts.field
UNION ALL
SELECT 2, v.id, 0, NULL, NULL, v.step, v.rank, NULL, NULL, NULL, NULL, v.key, NULL, v.data
FROM at JOIN {schema}.saved v ON v.place = at.place AND v.after = at.seq
WHERE at.seq = at.newest AND NOT $4
ORDER BY part, seq, ord
