-- Keeps the checkpoints that are wanted, and every segment that one of them is made of. What goes is named by its place
-- in the table (`ctid`), which nobody changes while the head is locked, so each part of this is one pass.
WITH RECURSIVE newest AS (
    SELECT c.seq, c.parent, 1::bigint AS counted
    FROM {schema}.places p JOIN {schema}.checkpoints c ON c.place = p.id AND c.seq = p.seq WHERE p.id = $1
    UNION ALL
    SELECT c.seq, c.parent, n.counted + 1
    FROM newest n JOIN {schema}.checkpoints c ON c.place = $1 AND c.id = n.parent WHERE n.counted < $2::bigint
), judged AS MATERIALIZED (
    SELECT c.ctid AS spot, c.seq, c.branch,
        -- Times beyond 2^63 are stored as negative numbers.
        coalesce(c.seq IN (SELECT seq FROM newest) OR c.time_ms >= $3::bigint OR $3 IS NOT NULL AND c.time_ms < 0, false)
            AS keep
    FROM {schema}.checkpoints c WHERE c.place = $1
), points AS (
    -- From where somebody looks at a branch: from its kept checkpoints, and from where kept branches leave it.
    SELECT branch, seq AS upto FROM judged WHERE keep
    UNION
    SELECT l.branch, l.upto FROM (SELECT DISTINCT branch FROM judged WHERE keep) k
    JOIN {schema}.branches b ON b.place = $1 AND b.branch = k.branch
    CROSS JOIN LATERAL unnest(b.froms, b.uptos) AS l(branch, upto)
), views AS MATERIALIZED (
    SELECT branch, array_agg(upto ORDER BY upto) AS uptos FROM points GROUP BY branch
), spans AS (
    SELECT s.ctid AS spot, s.branch, s.seq, min(s.seq) FILTER (WHERE s.encoding IN (0, 3)) OVER (
        PARTITION BY s.field, s.branch ORDER BY s.seq DESC, s.ord DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS replaced
    FROM {schema}.segments s WHERE s.place = $1
), seen AS (
    -- The first point that is not before the segment sees it, unless a newer base stands between.
    SELECT spans.spot, spans.replaced, v.uptos[width_bucket(spans.seq - 1, v.uptos) + 1] AS upto
    FROM spans LEFT JOIN views v ON v.branch = spans.branch
), segment AS (
    DELETE FROM {schema}.segments WHERE ctid = ANY (ARRAY(
        SELECT spot FROM seen WHERE upto IS NULL OR upto >= replaced
    ))
), branch AS (
    DELETE FROM {schema}.branches WHERE place = $1
        AND branch <> ALL (ARRAY(SELECT DISTINCT branch FROM judged WHERE keep))
), checkpoint AS (
    DELETE FROM {schema}.checkpoints WHERE ctid = ANY (ARRAY(SELECT spot FROM judged WHERE NOT keep))
)
SELECT count(*) FROM judged WHERE NOT keep
