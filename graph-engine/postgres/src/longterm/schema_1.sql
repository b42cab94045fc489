-- What is remembered. Namespaces and keys are bytes, found by their hash because an index entry can't be long. `value` is
-- what was put; `doc` is what filters look at: the same, with another character in place of NUL.
CREATE TABLE {schema}.memory_items (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace bytea NOT NULL,
    key bytea NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    ttl_ms bigint,
    expires_ms bigint,
    value text NOT NULL,
    doc jsonb NOT NULL,
    words tsvector NOT NULL,
    vectors bytea
);
CREATE UNIQUE INDEX memory_items_by_key ON {schema}.memory_items (sha256(namespace), sha256(key));
CREATE INDEX memory_items_in_order ON {schema}.memory_items (substring(namespace FROM 1 FOR 256));
CREATE INDEX memory_items_by_word ON {schema}.memory_items USING gin (words);
CREATE INDEX memory_items_by_expiry ON {schema}.memory_items (expires_ms) WHERE expires_ms IS NOT NULL;

-- Whether a value passes all conditions. They come as one bound parameter, so no path or value is ever part of a query.
CREATE FUNCTION {schema}.memory_passes(doc jsonb, conditions jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $body$
DECLARE
    condition jsonb;
    step text;
    field jsonb;
    test text;
    operand jsonb;
    passes boolean;
BEGIN
    FOR condition IN SELECT jsonb_array_elements(conditions) LOOP
        field := doc;
        FOR step IN SELECT jsonb_array_elements_text(condition -> 'path') LOOP
            field := CASE jsonb_typeof(field)
                WHEN 'object' THEN field -> step
                WHEN 'array' THEN CASE WHEN step ~ '^(0|[1-9][0-9]{0,8})$' THEN field -> step::integer END
            END;
        END LOOP;
        SELECT entry.key, entry.value INTO STRICT test, operand FROM jsonb_each(condition -> 'test') AS entry;
        CASE test
            WHEN 'eq' THEN passes := field = operand;
            WHEN 'ne' THEN passes := field IS DISTINCT FROM operand;
            WHEN 'exists' THEN passes := (field IS NOT NULL) = operand::boolean;
            WHEN 'in' THEN
                passes := EXISTS (SELECT FROM jsonb_array_elements(operand) AS one (value) WHERE one.value = field);
            WHEN 'contains' THEN
                IF jsonb_typeof(field) = 'array' THEN
                    passes := EXISTS (SELECT FROM jsonb_array_elements(field) AS one (value) WHERE one.value = operand);
                ELSIF jsonb_typeof(field) = 'string' AND jsonb_typeof(operand) = 'string' THEN
                    passes := strpos(field #>> '{}', operand #>> '{}') > 0;
                ELSE
                    passes := false;
                END IF;
            ELSE
                IF jsonb_typeof(field) = 'number' AND jsonb_typeof(operand) = 'number' THEN
                    passes := CASE test
                        WHEN 'gt' THEN field::numeric > operand::numeric
                        WHEN 'gte' THEN field::numeric >= operand::numeric
                        WHEN 'lt' THEN field::numeric < operand::numeric
                        WHEN 'lte' THEN field::numeric <= operand::numeric
                    END;
                ELSIF jsonb_typeof(field) = 'string' AND jsonb_typeof(operand) = 'string' THEN
                    passes := CASE test
                        WHEN 'gt' THEN (field #>> '{}') COLLATE "C" > (operand #>> '{}') COLLATE "C"
                        WHEN 'gte' THEN (field #>> '{}') COLLATE "C" >= (operand #>> '{}') COLLATE "C"
                        WHEN 'lt' THEN (field #>> '{}') COLLATE "C" < (operand #>> '{}') COLLATE "C"
                        WHEN 'lte' THEN (field #>> '{}') COLLATE "C" <= (operand #>> '{}') COLLATE "C"
                    END;
                ELSE
                    passes := false;
                END IF;
        END CASE;
        IF passes IS NOT TRUE THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$body$;
