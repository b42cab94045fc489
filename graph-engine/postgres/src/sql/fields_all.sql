SELECT (
        SELECT s.field FROM {schema}.segments s WHERE s.place = (SELECT place FROM at) ORDER BY s.field LIMIT 1
    ) AS field
    UNION ALL
    SELECT (
        SELECT s.field FROM {schema}.segments s
        WHERE s.place = (SELECT place FROM at) AND s.field > fields.field ORDER BY s.field LIMIT 1
    ) FROM fields WHERE fields.field IS NOT NULL
