//! What a long-term store says when it can't do what it was asked.

use graph_engine::longterm::{Condition, LongTermError, LongTermStore, MemoryLongTerm, Namespace, Op, Search};
use serde_json::json;

use crate::doc::{Entry, Section};

pub(crate) async fn section() -> Section {
    let store = MemoryLongTerm::new();
    let user = Namespace::new(["users", "7"]).expect("right");
    let entry = |error: &LongTermError, means| Entry::variant("LongTermError", error, means);
    let label = Namespace::new(["users", ""]).expect_err("an empty label");
    let key = store.batch(vec![Op::get(&user, "")]).await.expect_err("an empty key");
    let order = Search::under(&user).filter(Condition::gt("/price/amount", json!(null)));
    let order = store.search(order).await.expect_err("no order");
    let text = store.search(Search::under(&user).text("?!")).await.expect_err("no word");
    let near = store.search(Search::under(&user).near("by the sea")).await.expect_err("no embedder");
    Section {
        title: "Long-term stores",
        intro: "What a `LongTermStore` answers. A node that passes it on by `?` fails with it and is tried again where it \
                has a retry policy.",
        entries: vec![
            entry(
                &label,
                "A single call and an operation of a batch are checked in the same way, before anything is done. What is \
                 wrong stands in the text.",
            )
            .and(&key)
            .and(&order)
            .and(&text),
            entry(&near, "`Search::near` and `Search::near_vector` need an `Embedder`. `Search::text` needs none."),
            entry(
                &LongTermError::embedder("it made 1 vectors of 2 texts"),
                "The model that makes vectors can't be reached, or its answer is not what `Embedder` promises. A put can be \
                 stored without vectors by `Put::embed(false)`.",
            ),
            entry(
                &LongTermError::corrupt("/users/7", "language", "the value is no JSON"),
                "What is stored is damaged, or was written by something else. Only this item is concerned.",
            ),
            entry(
                &LongTermError::unavailable("connection refused"),
                "Whether a write arrived is unknown. Putting the same value again is harmless: only `updated_ms` moves.",
            ),
            entry(
                &LongTermError::full("no space left on device"),
                "Delete items, or give them a time (`LongTermSettings::ttl_ms`) and sweep.",
            ),
        ],
    }
}
