//! The statements, with the name of the schema put in. Ids and values are always bound parameters.

/// All statements for one schema.
#[derive(Debug)]
pub(crate) struct Sql {
    pub(crate) commit_first: String,
    pub(crate) commit_next: String,
    pub(crate) commit_fork: String,
    pub(crate) place: String,
    pub(crate) intern: String,
    pub(crate) known: String,
    pub(crate) lineage: String,
    pub(crate) add_branch: String,
    pub(crate) copy_branch: String,
    pub(crate) save: String,
    pub(crate) state: String,
    pub(crate) field: String,
    pub(crate) seq_of: String,
    pub(crate) list: String,
    pub(crate) threads: String,
    pub(crate) threads_due: String,
    pub(crate) threads_due_beyond: String,
    pub(crate) namespaces: String,
    pub(crate) prune: String,
    pub(crate) lock: String,
    pub(crate) remove: String,
    pub(crate) copy: String,
}

/// What each version of the schema adds to the one before.
pub(crate) const VERSIONS: &[&str] = &[include_str!("schema_1.sql")];

/// The schema's name as an identifier.
pub(crate) fn quoted(schema: &str) -> String {
    format!("\"{}\"", schema.replace('"', "\"\""))
}

/// A statement with the schema's name put in.
pub(crate) fn within(schema: &str, sql: &str) -> String {
    sql.replace("{schema}", &quoted(schema))
}

impl Sql {
    pub(crate) fn new(schema: &str) -> Self {
        let commit = |head: &str| within(schema, &include_str!("commit.sql").replace("{head}", head.trim()));
        let state = |fields: &str, select: &str| {
            let sql = include_str!("state.sql")
                .replace("{line}", include_str!("line.sql").trim())
                .replace("{fields}", fields.trim())
                .replace("{select}", select.trim());
            within(schema, &sql)
        };
        // By the index over the beginnings of ids, or by the one over what is due: sorted, these are few.
        let threads = |pick: &str, order: &str| {
            within(schema, &include_str!("threads.sql").replace("{pick}", pick).replace("{order}", order))
        };
        let in_order = "AND substring(p.thread FROM 1 FOR 64)
            BETWEEN substring($1 FROM 1 FOR 64) AND substring($2 FROM 1 FOR 64)";
        Self {
            commit_first: commit(include_str!("head_first.sql")),
            commit_next: commit(include_str!("head_next.sql")),
            commit_fork: commit(include_str!("head_fork.sql")),
            place: within(schema, include_str!("place.sql")),
            intern: within(schema, include_str!("intern.sql")),
            known: within(schema, "SELECT seq, branch FROM {schema}.checkpoints WHERE place = $1 AND id = $2"),
            lineage: within(schema, "SELECT froms, uptos FROM {schema}.branches WHERE place = $1 AND branch = $2"),
            add_branch: within(
                schema,
                "INSERT INTO {schema}.branches (place, branch, froms, uptos) VALUES ($1, $2, $3, $4)",
            ),
            copy_branch: state(
                include_str!("fields_all.sql"),
                "INSERT INTO {schema}.segments (place, seq, lo, hi, field, branch, ord, encoding, data)
                 SELECT place, seq, lo, hi, field, $5::integer, ord, encoding, data FROM parts",
            ),
            save: within(schema, include_str!("save.sql")),
            state: state(include_str!("fields_all.sql"), include_str!("select_state.sql")),
            field: state(include_str!("fields_one.sql"), include_str!("select_field.sql")),
            seq_of: within(schema, include_str!("seq_of.sql")),
            list: within(schema, include_str!("list.sql")),
            threads: threads(in_order, "substring(p.thread FROM 1 FOR 64), "),
            threads_due: threads("AND p.due_ms BETWEEN 0 AND $5::bigint", ""),
            threads_due_beyond: threads("AND (p.due_ms >= 0 OR p.due_ms <= $5::bigint)", ""),
            namespaces: within(
                schema,
                "SELECT namespace FROM {schema}.places WHERE sha256(thread) = sha256($1::bytea) AND thread = $1
                 ORDER BY namespace",
            ),
            prune: within(schema, include_str!("prune.sql")),
            lock: within(
                schema,
                "SELECT id FROM {schema}.places WHERE sha256(thread) = sha256($1::bytea) AND thread = $1
                 AND ($2::bytea IS NULL OR namespace = $2) ORDER BY id FOR UPDATE",
            ),
            remove: within(schema, include_str!("remove.sql")),
            copy: within(schema, include_str!("copy.sql")),
        }
    }
}
