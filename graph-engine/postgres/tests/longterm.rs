//! The long-term store in PostgreSQL does what every long-term store promises.

mod common;

use common::{Schema, server};
use graph_engine::longterm::LongTermSettings;
use graph_engine_postgres::{PostgresLongTerm, PostgresOptions};

async fn store(settings: LongTermSettings) -> Option<PostgresLongTerm> {
    let schema = Schema::new(&server()?);
    let options = PostgresOptions::default().pool_size(4).schema(&schema.name);
    Some(PostgresLongTerm::connect(&schema.url, options, settings).await.unwrap())
}

graph_engine::long_term_store_conformance!(store);
