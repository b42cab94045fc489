//! Opening a store: tables made once, newer ones refused, secrets kept.

mod common;

use std::time::Duration;

use common::{Schema, chain, client, patient, server};
use graph_engine::{CheckpointStore, Place};
use graph_engine_postgres::deadpool_postgres::{Manager, Pool, Runtime};
use graph_engine_postgres::{PostgresError, PostgresOptions, PostgresStore, SynchronousCommit};
use tokio_postgres::{Config, NoTls};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_programs_that_start_at_once_one_makes_the_tables() {
    let Some(url) = server() else { return };
    for _ in 0..5 {
        let schema = Schema::new(&url);
        let options = || patient().pool_size(1).schema(&schema.name);
        let opened = (0..16).map(|_| PostgresStore::connect_with(&url, options()));
        let stores: Vec<_> = futures_util::future::join_all(opened).await;
        for (n, store) in stores.into_iter().enumerate() {
            chain(&store.unwrap(), &Place::thread(n.to_string()), 1).await;
        }
        assert_eq!(schema.number("SELECT count(*) FROM {schema}.migrations").await, 1);
        assert_eq!(schema.number("SELECT count(*) FROM {schema}.places").await, 16);
    }
}

#[tokio::test]
async fn tables_of_a_newer_version_are_refused_and_left_alone() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    chain(&schema.store(patient()).await, &Place::thread("t"), 1).await;
    schema.number("INSERT INTO {schema}.migrations (version) VALUES (7) RETURNING 0::bigint").await;
    let options = patient().schema(&schema.name);
    let error = PostgresStore::connect_with(&url, options).await.unwrap_err();
    assert!(matches!(&error, PostgresError::Newer { found: 7, known: 1, .. }), "{error:?}");
    let expected = format!(
        "the tables in schema `{}` have version 7, this program knows versions up to 1; update the program, or give it \
         another schema",
        schema.name
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(schema.number("SELECT count(*) FROM {schema}.checkpoints").await, 1);
}

#[tokio::test]
async fn a_store_needs_no_right_to_make_tables_that_are_there() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    schema.store(patient()).await;
    let role = format!("reader_{}", std::process::id());
    let admin = client(&url).await;
    let grant = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'reader'; GRANT USAGE ON SCHEMA \"{0}\" TO {role};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"{0}\" TO {role}",
        schema.name
    );
    admin.batch_execute(&grant).await.unwrap();
    let mut config: Config = url.parse().unwrap();
    config.user(&role).password("reader");
    let pool = Pool::builder(Manager::new(config, NoTls)).max_size(2).runtime(Runtime::Tokio1).build().unwrap();
    let store = PostgresStore::from_pool(pool, patient().schema(&schema.name)).await.unwrap();
    let place = Place::thread("t");
    let ids = chain(&store, &place, 3).await;
    assert_eq!(store.load(&place, None).await.unwrap().unwrap().info.id, ids[2]);
    admin.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test]
async fn a_schema_may_have_any_name_and_an_impossible_one_is_refused() {
    let Some(url) = server() else { return };
    for name in ["", "pg_mine", "a\0b", &"x".repeat(64)] {
        let refused = PostgresStore::connect_with(&url, patient().schema(name)).await;
        assert!(matches!(refused, Err(PostgresError::SchemaName { .. })), "{name:?}");
    }
    let name = format!("it's \"mine\"; {{schema}} ü {}", std::process::id());
    let store = PostgresStore::connect_with(&url, patient().schema(&name)).await.unwrap();
    chain(&store, &Place::thread("t"), 2).await;
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let client = client(&url).await;
    let count = client.query_one(&format!("SELECT count(*) FROM {quoted}.checkpoints"), &[]).await.unwrap();
    assert_eq!(count.get::<_, i64>(0), 2);
    client.batch_execute(&format!("DROP SCHEMA {quoted} CASCADE")).await.unwrap();
}

#[tokio::test]
async fn connections_are_set_up_as_the_options_say() {
    let Some(url) = server() else { return };
    let schema = Schema::new(&url);
    let options = patient().synchronous_commit(SynchronousCommit::Off).statement_timeout(Duration::from_millis(4_321));
    // What the URL says of the same setting counts.
    let url = format!("{url}?options=-c%20idle_in_transaction_session_timeout%3D7777");
    let store = PostgresStore::connect_with(&url, options.schema(&schema.name)).await.unwrap();
    // A default of a column sees what the session of the insert has.
    let settings = "current_setting('synchronous_commit') || ' ' || current_setting('statement_timeout') || ' '
        || current_setting('idle_in_transaction_session_timeout')";
    let alter = format!("ALTER TABLE \"{}\".checkpoints ADD COLUMN seen text DEFAULT {settings}", schema.name);
    schema.client().await.batch_execute(&alter).await.unwrap();
    chain(&store, &Place::thread("t"), 1).await;
    let seen = format!("SELECT seen FROM \"{}\".checkpoints", schema.name);
    let seen: String = schema.client().await.query_one(&seen, &[]).await.unwrap().get(0);
    assert_eq!(seen, "off 4321ms 7777ms");
}

#[tokio::test]
async fn no_error_and_no_debug_output_shows_the_password_or_the_url() {
    let Some(url) = server() else { return };
    let (_, password) = url.split_once("tests:").unwrap();
    let (password, rest) = password.split_once('@').unwrap();
    let canary = "canary-S3cret";
    let port_of_nobody = {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap().port()
    };
    let wrong = [
        format!("postgres://tests:{canary}@{rest}"),
        format!("postgres://tests:{canary}@127.0.0.1:{port_of_nobody}/postgres"),
        format!("postgres://tests:{password}@{rest}-{canary}"),
        // A password with unescaped characters is cut up by every parser of URLs.
        format!("postgres://tests:a?{canary}@{rest}"),
        format!("postgres://tests:a/{canary}@{rest}"),
        format!("postgres://tests:a%zz{canary}@{rest}"),
        format!("postgres://tests:{canary}@[{rest}"),
        format!("host=127.0.0.1 port={canary} password={canary}"),
        format!("host=127.0.0.1 password='{canary} {canary}=1"),
        canary.to_owned(),
    ];
    for url in wrong {
        let options = patient().acquire_timeout(Duration::from_secs(2));
        let error = PostgresStore::connect_with(&url, options).await.unwrap_err();
        let told = format!("{error} {error:?} {:?}", std::error::Error::source(&error).map(ToString::to_string));
        // The name of a database that isn't there is the server's word, and no secret.
        let told = told.replace(&format!("database \"postgres-{canary}\""), "database");
        let told = told.replace(&format!("database \\\"postgres-{canary}\\\""), "database");
        assert!(!told.contains(canary) && !told.contains(password), "{told}");
    }
    let store = Schema::new(&url).store(patient()).await;
    let told = format!("{store:?} {store:#?} {:?}", PostgresOptions::default());
    assert!(!told.contains(password) && !told.contains("127.0.0.1"), "{told}");
}
