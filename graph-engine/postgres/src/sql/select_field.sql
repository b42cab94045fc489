SELECT parts.lo AS step, parts.hi AS time_ms, parts.encoding, parts.data FROM parts
WHERE parts.lo >= parts.hi OR parts.lo < $7::bigint AND parts.hi > $6::bigint
ORDER BY parts.seq, parts.ord
