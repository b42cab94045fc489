//! What a call costs follows what the state holds, not how many checkpoints there are. Counted in rows that the server
//! reads, which are the same on any machine.

mod common;

use common::{Schema, chain, link, patient, server};
use graph_engine::{CheckpointStore, Commit, Encoding, FieldRow, Filter, Place, ThreadFilter};
use graph_engine_postgres::PostgresStore;

/// Rows of tables and entries of indexes that the server read in this schema until now. Sessions report them at their
/// end, so all stores have to be gone.
async fn rows_read(schema: &Schema) -> i64 {
    let name = schema.name.replace(' ', "_");
    let sessions = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'");
    let watch = schema.client().await;
    while watch.query_one(&sessions, &[]).await.unwrap().get::<_, i64>(0) > 0 {}
    let read = format!(
        "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = '{0}')::bigint
              + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '{0}')::bigint",
        schema.name
    );
    schema.number(&read).await
}

async fn store(schema: &Schema) -> PostgresStore {
    let url = format!("{}?application_name={}", schema.url, schema.name.replace(' ', "_"));
    let options = patient().pool_size(1).schema(&schema.name);
    PostgresStore::connect_with(&url, options).await.unwrap()
}

/// Rows read by 20 calls, one of them.
async fn cost(schema: &Schema, call: impl AsyncFn(&PostgresStore)) -> i64 {
    let before = rows_read(schema).await;
    let opened = store(schema).await;
    for _ in 0..20 {
        call(&opened).await;
    }
    drop(opened);
    (rows_read(schema).await - before) / 20
}

/// A field that is written whole at every step, so the state stays as it is.
fn whole(place: &Place, before: Option<&Commit>, turn: &str) -> Commit {
    let step = before.map_or(0, |before| before.step + 1);
    let mut commit = link(place, before.map(|before| before.id), turn, step);
    for field in &mut commit.fields {
        *field = FieldRow::new(field.name.clone(), Encoding::Base, 0..0, field.bytes.clone());
    }
    commit
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_of_the_same_size_costs_the_same_after_100_and_after_3_000_checkpoints() {
    let Some(url) = server() else { return };
    let (place, mut costs) = (Place::thread("t"), Vec::new());
    for length in [100, 3_000] {
        let schema = Schema::new(&url);
        let filled = store(&schema).await;
        let mut last: Option<Commit> = None;
        for _ in 0..length {
            let next = whole(&place, last.as_ref(), "turn");
            filled.commit(&place, &next).await.unwrap();
            last = Some(next);
        }
        drop(filled);
        // Statistics make no plan worse.
        schema.client().await.batch_execute(&format!("ANALYZE \"{}\".segments", schema.name)).await.unwrap();
        let load = cost(&schema, async |store| assert!(store.load(&place, None).await.unwrap().is_some())).await;
        let id = last.as_ref().unwrap().id;
        let row = cost(&schema, async |store| assert!(store.row(&place, id).await.unwrap().is_some())).await;
        let field = cost(&schema, async |store| {
            assert_eq!(store.field(&place, None, "count", 0..1).await.unwrap().len(), 1);
        })
        .await;
        let list = cost(&schema, async |store| {
            assert_eq!(store.list(&place, &Filter::default().limit(10)).await.unwrap().len(), 10);
        })
        .await;
        let last = std::sync::Mutex::new(last);
        let commit = cost(&schema, async |store| {
            let next = whole(&place, last.lock().unwrap().as_ref(), "turn");
            store.commit(&place, &next).await.unwrap();
            *last.lock().unwrap() = Some(next);
        })
        .await;
        costs.push([load, row, field, list, commit]);
    }
    let [few, many] = [costs[0], costs[1]];
    for (at, what) in ["load", "row", "field", "list", "commit"].iter().enumerate() {
        assert!(
            many[at] <= few[at] + 2,
            "{what} reads {} rows after 100 checkpoints, {} after 3,000",
            few[at],
            many[at]
        );
        assert!(few[at] < 100, "{what} reads {} rows", few[at]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_was_forked_200_times_is_loaded_through_few_branches() {
    let Some(url) = server() else { return };
    let (schema, place) = (Schema::new(&url), Place::thread("t"));
    let filled = store(&schema).await;
    let ids = chain(&filled, &place, 2).await;
    // Every branch begins before the end of the one before it.
    let mut before = ids[0];
    for step in 1..=200 {
        let mut fork = link(&place, Some(before), "fork", step);
        fork.fork = true;
        filled.commit(&place, &fork).await.unwrap();
        let after = link(&place, Some(fork.id), "after", step + 1);
        filled.commit(&place, &after).await.unwrap();
        before = fork.id;
    }
    let stored = filled.load(&place, Some(before)).await.unwrap().unwrap();
    let items: Vec<u64> =
        stored.fields.iter().filter(|segment| segment.name == "log").map(|segment| segment.items.start).collect();
    assert_eq!(items, (0..=200).collect::<Vec<u64>>());
    drop(filled);
    assert!(schema.number("SELECT max(cardinality(froms))::bigint FROM {schema}.branches").await < 16);
    let load = cost(&schema, async |store| assert!(store.load(&place, None).await.unwrap().is_some())).await;
    // 202 items and a counter, each by its index, and the way there.
    assert!(load < 600, "{load} rows");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_threads_costs_the_page_and_not_all_threads() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let filled = store(&schema).await;
    chain(&filled, &Place::thread("first"), 1).await;
    drop(filled);
    // Copies of the one thread; every hundredth has a question that expires.
    for sql in [
        "WITH new AS (
             INSERT INTO {schema}.places (seq, due_ms, branch, branches, head, thread, namespace)
             SELECT p.seq, CASE WHEN n % 100 = 0 THEN n END, 0, 0, p.head, convert_to('t' || n, 'UTF8'), ''
             FROM {schema}.places p, generate_series(10001, 15000) n RETURNING 1
         ) SELECT count(*) FROM new",
        "WITH new AS (
             INSERT INTO {schema}.checkpoints
             SELECT p.id, c.seq, c.step, c.time_ms, c.due_ms, c.branch, c.id, c.parent, c.kind, c.turn, c.tags, c.position
             FROM {schema}.places p, {schema}.checkpoints c WHERE p.thread <> 'first' RETURNING 1
         ) SELECT count(*) FROM new",
    ] {
        assert_eq!(schema.number(sql).await, 5_000);
    }
    for (filter, first, count) in [
        (ThreadFilter::default().limit(5), "first", 5),
        (ThreadFilter::default().after("t12345").limit(5), "t12346", 5),
        (ThreadFilter::default().prefix("t1300").limit(50), "t13000", 10),
        (ThreadFilter::default().due_by(10_500), "t10100", 5),
    ] {
        let cost = cost(&schema, async |store| {
            let found = store.threads(&filter).await.unwrap();
            assert_eq!((&*found[0].thread, found.len()), (first, count), "{filter:?}");
        })
        .await;
        assert!(cost < 60, "{filter:?} reads {cost} rows");
    }
}
