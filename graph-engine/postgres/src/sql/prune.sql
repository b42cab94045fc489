-- Keeps the checkpoints that are wanted, and every segment that one of them is made of.
WITH RECURSIVE newest AS (
    SELECT c.seq, c.parent, 1::bigint AS counted
    FROM {schema}.places p JOIN {schema}.checkpoints c ON c.place = p.id AND c.seq = p.seq WHERE p.id = $1
    UNION ALL
    SELECT c.seq, c.parent, n.counted + 1
    FROM newest n JOIN {schema}.checkpoints c ON c.place = $1 AND c.id = n.parent WHERE n.counted < $2::bigint
), kept AS MATERIALIZED (
    SELECT c.seq, c.branch FROM {schema}.checkpoints c
    WHERE c.place = $1 AND (
        c.seq IN (SELECT seq FROM newest) OR c.time_ms >= $3::bigint OR $3 IS NOT NULL AND c.time_ms < 0
    )
), points AS MATERIALIZED (
    SELECT branch, seq AS upto FROM kept
    UNION
    SELECT l.branch, l.upto FROM (SELECT DISTINCT branch FROM kept) k
    JOIN {schema}.branches b ON b.place = $1 AND b.branch = k.branch
    CROSS JOIN LATERAL unnest(b.froms, b.uptos) AS l(branch, upto)
), spans AS (
    SELECT s.field, s.branch, s.seq, s.ord, min(s.seq) FILTER (WHERE s.base) OVER (
        PARTITION BY s.field, s.branch ORDER BY s.seq DESC, s.ord DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS replaced
    FROM {schema}.segments s WHERE s.place = $1
), dead AS (
    SELECT spans.* FROM spans WHERE NOT EXISTS (
        SELECT FROM points p
        WHERE p.branch = spans.branch AND p.upto >= spans.seq AND (spans.replaced IS NULL OR p.upto < spans.replaced)
    )
), segment AS (
    DELETE FROM {schema}.segments s USING dead d
    WHERE s.place = $1 AND s.field = d.field AND s.branch = d.branch AND s.seq = d.seq AND s.ord = d.ord
), branch AS (
    DELETE FROM {schema}.branches b WHERE b.place = $1 AND b.branch NOT IN (SELECT branch FROM kept)
), checkpoint AS (
    DELETE FROM {schema}.checkpoints c WHERE c.place = $1 AND c.seq NOT IN (SELECT seq FROM kept) RETURNING c.seq
)
SELECT count(*) FROM checkpoint
