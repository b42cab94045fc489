//! The conformance suite of the engine, on PostgreSQL.

mod common;

use common::{Schema, patient, server};
use graph_engine_postgres::Format;

mod as_json {
    use super::*;

    graph_engine::checkpoint_store_conformance!({
        let Some(url) = server() else { return };
        Schema::new(&url).store(patient().pool_size(8)).await
    });
}

mod as_message_pack {
    use super::*;

    graph_engine::checkpoint_store_conformance!({
        let Some(url) = server() else { return };
        Schema::new(&url).store(patient().pool_size(8).format(Format::MessagePack)).await
    });
}
