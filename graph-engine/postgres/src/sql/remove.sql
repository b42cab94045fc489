WITH gone AS (
    DELETE FROM {schema}.places WHERE id = ANY($1::bigint[]) RETURNING id
), checkpoint AS (
    DELETE FROM {schema}.checkpoints WHERE place = ANY($1)
), branch AS (
    DELETE FROM {schema}.branches WHERE place = ANY($1)
), segment AS (
    DELETE FROM {schema}.segments WHERE place = ANY($1)
), save AS (
    DELETE FROM {schema}.saved WHERE place = ANY($1)
)
SELECT count(*) FROM gone
