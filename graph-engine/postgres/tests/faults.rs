//! What the server says, and what the engine is told of it.

mod common;

use common::{Schema, chain, link, patient, server};
use graph_engine::{CheckpointStore, Place, SavedResult, StoreError, TaskId};

/// The next inserts of checkpoints fail with this code, as often as `times` says.
async fn fail(schema: &Schema, code: &str, times: u32) {
    let sql = format!(
        "CREATE SEQUENCE IF NOT EXISTS {{schema}}.failures;
         ALTER SEQUENCE {{schema}}.failures RESTART;
         CREATE OR REPLACE FUNCTION {{schema}}.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             -- A sequence isn't rolled back, so it counts attempts.
             IF nextval('{{schema}}.failures') <= {times} THEN RAISE EXCEPTION 'told to' USING ERRCODE = '{code}'; END IF;
             RETURN NEW;
         END $$;
         CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON {{schema}}.checkpoints
             FOR EACH ROW EXECUTE FUNCTION {{schema}}.fail()"
    );
    schema.client().await.batch_execute(&sql.replace("{schema}", &format!("\"{}\"", schema.name))).await.unwrap();
}

#[tokio::test]
async fn each_state_of_sql_has_its_kind_of_error() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let store = schema.store(patient().pool_size(2)).await;
    let place = Place::thread("t");
    let head = chain(&store, &place, 3).await[2];
    let next = link(&place, Some(head), "turn", 3);
    for (code, kind) in [
        ("53100", "full"),
        ("53200", "full"),
        ("XX001", "corrupt"),
        ("XX002", "corrupt"),
        ("57P01", "unavailable"),
        ("57P02", "unavailable"),
        ("57P03", "unavailable"),
        ("08006", "unavailable"),
        ("40001", "unavailable"),
        ("40P01", "unavailable"),
        ("42501", "unavailable"),
        ("22000", "unavailable"),
    ] {
        fail(&schema, code, 100).await;
        let error = store.commit(&place, &next).await.unwrap_err();
        let is = match &error {
            StoreError::Full { .. } => "full",
            StoreError::Corrupt { .. } => "corrupt",
            StoreError::Unavailable { .. } => "unavailable",
            _ => "other",
        };
        assert_eq!(is, kind, "{code}: {error}");
        assert!(error.to_string().contains(&format!("PostgreSQL said told to ({code})")), "{error}");
        assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, head, "{code}: the last one is intact");
    }
    fail(&schema, "00000", 0).await;
    store.commit(&place, &next).await.unwrap();
}

#[tokio::test]
async fn what_was_undone_because_of_others_is_repeated_and_a_lost_connection_once() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let store = schema.store(patient()).await;
    let place = Place::thread("t");
    let mut head = chain(&store, &place, 1).await[0];
    for (step, (code, times, works)) in (1..).zip([
        ("40001", 5, true),
        ("40P01", 5, true),
        ("40001", 6, false),
        ("57P01", 1, true),
        ("57P01", 2, false),
    ]) {
        fail(&schema, code, times).await;
        let next = link(&place, Some(head), "turn", step);
        assert_eq!(store.commit(&place, &next).await.is_ok(), works, "{code} {times} times");
        store.commit(&place, &next).await.unwrap();
        head = next.id;
    }
    assert_eq!(schema.number("SELECT count(*) FROM {schema}.checkpoints").await, 6);
}

#[tokio::test]
async fn a_connection_that_the_server_ended_is_replaced() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    // What begins on such a connection and can't be repeated finds another one first.
    let url = format!("{url}?application_name={}", schema.name.replace(' ', "_"));
    let options = || patient().pool_size(4).schema(&schema.name);
    let store = graph_engine_postgres::PostgresStore::connect_with(&url, options()).await.unwrap();
    let end = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '{}'",
        schema.name.replace(' ', "_")
    );
    let mut ended = 0;
    for round in 0..10 {
        let place = Place::thread(round.to_string());
        let at_once = (0..4).map(|_| store.load(&place, None));
        futures_util::future::join_all(at_once).await.into_iter().for_each(|found| assert!(found.unwrap().is_none()));
        ended += schema.number(&end).await;
        chain(&store, &place, 2).await;
        ended += schema.number(&end).await;
        assert!(store.delete(&place.thread).await.unwrap());
    }
    assert!(ended >= 20, "{ended} connections ended");
}

#[tokio::test]
async fn damaged_rows_are_errors_that_name_thread_checkpoint_and_field_and_older_ones_are_readable() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let store = schema.store(patient()).await;
    let cases = [
        ("segments SET data = '\\x' WHERE seq = 3 AND base", "field `count`: the row is empty"),
        ("segments SET data = '\\x2031' WHERE seq = 3 AND NOT base", "field `log`: the row has version 2"),
        ("segments SET data = '\\x11c1' WHERE seq = 3 AND base", "field `count`: the row is damaged"),
        ("checkpoints SET position = '\\x1f' WHERE seq = 3", "the position: the row has format 15"),
        ("checkpoints SET kind = 'knife' WHERE seq = 3", "`knife` is no kind of checkpoint"),
        ("checkpoints SET turn = '\\xff' WHERE seq = 3", "its turn is not text"),
        ("checkpoints SET tags = ARRAY['\\x00'::bytea] WHERE seq = 3", "a tag is not readable"),
        ("checkpoints SET parent = '\\x00' WHERE seq = 3", "its parent's id is not readable"),
        ("saved SET data = '\\x'", "the saved result `a` of task 3.0: the row is empty"),
        ("saved SET key = '\\xff'", "the key of a saved result: not text"),
        ("saved SET rank = -1", "a saved result has rank 18446744073709551615"),
    ];
    for (n, (damage, why)) in cases.iter().enumerate() {
        let place = Place::thread(format!("guest-{n}"));
        let ids = chain(&store, &place, 3).await;
        let saved = SavedResult::new(TaskId { step: 3, rank: 0 }, "a", b"{}".to_vec());
        store.save(&place, ids[2], &[saved]).await.unwrap();
        let (table, rest) = damage.split_once(" SET").unwrap();
        let of = "place = (SELECT max(id) FROM {schema}.places)";
        let joiner = if rest.contains("WHERE") { "AND" } else { "WHERE" };
        let sql = format!("UPDATE {{schema}}.{table} SET{rest} {joiner} {of} RETURNING 1::bigint");
        schema.number(&sql).await;
        let error = store.load(&place, None).await.unwrap_err();
        assert!(matches!(&error, StoreError::Corrupt { thread, .. } if *thread == *place.thread), "{damage}: {error}");
        assert!(error.to_string().contains(why), "{damage}: {error}");
        if !damage.contains("rank") {
            assert!(error.to_string().contains(&ids[2].to_string()), "{damage}: {error}");
        }
        let older = store.load(&place, Some(ids[1])).await.unwrap().unwrap();
        assert_eq!((older.fields.len(), older.info.step), (3, 1), "{damage}");
    }
}
