//! What agents remember across threads: items under namespaces, found by key, by field, by word and by meaning.
//!
//! | you want to | take |
//! | --- | --- |
//! | remember, look up, forget | [`LongTermStore::put`], [`get`](LongTermStore::get), [`delete`](LongTermStore::delete) |
//! | say for how long | [`Put::ttl_ms`], [`LongTermSettings::ttl_ms`] |
//! | find items | [`Search`]: [`Condition`]s, words, a text or vector to be near to |
//! | see what there is | [`Listing`] |
//! | do several things at once | [`LongTermStore::batch`] |
//! | find by meaning | an [`Embedder`] in the [`LongTermSettings`] |
//! | keep it elsewhere | an implementation of [`LongTermStore`] over [`backend`] |
//!
//! It knows nothing of threads and checkpoints. What one node remembers is there for the next call of any thread at once,
//! also when its own super-step fails afterwards.
//!
//! # In a node
//!
//! A long-term store is a resource like any other:
//!
//! ```
//! use std::sync::Arc;
//! use graph_engine::longterm::{LongTermStore, MemoryLongTerm, Namespace};
//! use graph_engine::{Graph, NodeError, Res, START, Snap, State};
//! use serde_json::json;
//!
//! #[derive(State, Clone, Default)]
//! struct Talk {
//!     guest: String,
//!     wish: Option<String>,
//!     greeting: String,
//! }
//!
//! async fn greet(talk: Snap<Talk>, memories: Res<dyn LongTermStore>) -> Result<TalkUpdate, NodeError> {
//!     let guest = Namespace::new(["guests", &talk.guest])?;
//!     if let Some(wish) = &talk.wish {
//!         memories.put(&guest, "wish", json!({"text": wish})).await?;
//!     }
//!     let known = memories.get(&guest, "wish").await?;
//!     let wish = known.as_ref().and_then(|item| item.value["text"].as_str());
//!     Ok(Talk::update().greeting(wish.map_or("welcome".to_owned(), |wish| format!("welcome, {wish} as always?"))))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let graph = Graph::<Talk>::builder("talk").node("greet", greet).edge(START, "greet").compile()?;
//! let memories: Arc<dyn LongTermStore> = Arc::new(MemoryLongTerm::new());
//! let runner = graph.runner().provide_arc(memories);
//!
//! runner.thread("monday").run(Talk::update().guest("kari").wish("a quiet room")).await?;
//! let end = runner.thread("friday").run(Talk::update().guest("kari")).await?;
//! assert_eq!(end.state.greeting, "welcome, a quiet room as always?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

pub mod backend;
mod compare;
mod condition;
mod embed;
mod error;
mod item;
mod listing;
mod memory;
mod namespace;
mod op;
mod path;
mod search;
mod settings;
mod store;
mod vectors;
mod words;

pub use condition::{Condition, Test};
pub use embed::Embedder;
pub use error::LongTermError;
pub use item::{Found, Item};
pub use listing::Listing;
pub use memory::MemoryLongTerm;
pub use namespace::Namespace;
pub use op::{Answer, Op, Put, Ttl};
pub use path::JsonPath;
pub use search::{Near, Order, Search};
pub use settings::LongTermSettings;
pub use store::LongTermStore;
