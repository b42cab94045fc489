-- A checkpoint with its fields: `whole` with all that it means, else with what it changed itself.
WITH RECURSIVE at AS MATERIALIZED (
    SELECT c.*, p.seq AS newest,
        NOT $4::boolean OR c.parent IS NOT NULL AND NOT EXISTS (
            SELECT FROM {schema}.checkpoints b WHERE b.place = c.place AND b.id = c.parent
        ) AS whole
    FROM {schema}.places p
    JOIN {schema}.checkpoints c ON c.place = p.id AND c.id = coalesce($3::bytea, p.head)
    WHERE sha256(p.thread) = sha256($1::bytea) AND sha256(p.namespace) = sha256($2::bytea)
        AND p.thread = $1 AND p.namespace = $2
), line AS MATERIALIZED (
    {line}
), fields AS (
    {fields}
), bases AS (
    SELECT fields.field, base.seq, base.ord
    FROM fields LEFT JOIN LATERAL (
        SELECT b.seq, b.ord FROM line CROSS JOIN LATERAL (
            SELECT s.seq, s.ord FROM {schema}.segments s
            WHERE s.place = (SELECT place FROM at) AND s.field = fields.field AND s.branch = line.branch
                AND s.seq <= line.upto AND s.encoding IN (0, 3)
            ORDER BY s.seq DESC, s.ord DESC LIMIT 1
        ) b
        ORDER BY b.seq DESC, b.ord DESC LIMIT 1
    ) base ON (SELECT whole FROM at)
    WHERE fields.field IS NOT NULL
), parts AS (
    SELECT s.* FROM bases CROSS JOIN line CROSS JOIN LATERAL (
        SELECT s.* FROM {schema}.segments s
        WHERE s.place = (SELECT place FROM at) AND s.field = bases.field AND s.branch = line.branch
            AND s.seq <= line.upto
            AND (s.seq, s.ord) >= (
                CASE WHEN (SELECT whole FROM at) THEN coalesce(bases.seq, 0) ELSE (SELECT seq FROM at) END,
                coalesce(bases.ord, 0)
            )
        -- Keeps the planner from reading all segments of the place and joining afterwards.
        OFFSET 0
    ) s
)
{select}
