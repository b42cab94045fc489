//! Encryption at rest for any checkpoint store of `graph-engine`.
//!
//! [`Sealed`] stands around a store and seals what a thread holds before the store sees it. A database, its backups and
//! whoever runs it then hold nothing that a user said.
//!
//! ```
//! use graph_engine::{Graph, MemoryStore, START, State};
//! use graph_engine_sealed::{Key, KeyRing, Sealed};
//!
//! #[derive(State, Clone, Default)]
//! struct Trip {
//!     #[state(append)]
//!     cities: Vec<String>,
//! }
//!
//! async fn explore() {}
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
//! // Thirty-two bytes from wherever secrets are kept.
//! let secret = [7; 32];
//! let store = Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &secret)));
//! let thread = graph.runner().store(store).thread("guest-7");
//! thread.run(Trip::update().cities(["Oslo"])).await.unwrap();
//! let end = thread.run(Trip::update().cities(["Bergen"])).await.unwrap();
//! assert_eq!(end.state.cities, ["Oslo", "Bergen"]);
//! # });
//! ```
//!
//! # What is sealed, and what can still be read
//!
//! | sealed | readable |
//! | --- | --- |
//! | the bytes of fields | names of fields, which items a row holds, base or delta |
//! | the position: tasks, payloads, open questions and answers, memos | ids of threads, namespaces, checkpoints and turns |
//! | saved results of single tasks | their task and key |
//! | | step, times, kind, tags, when a question is due, lengths |
//!
//! What is readable is what a store needs to find, order and prune. Put nothing secret into an id or a tag.
//!
//! # What it guards against
//!
//! A row is sealed with AES-256-GCM under a key of the [`KeyRing`] and a random nonce of 96 bits. Sealed with it, though
//! not kept in it, are the thread, the namespace, the checkpoint, the kind of row (field, position, result) and what
//! names it within the checkpoint: name, encoding and items of a field, task and key of a result. So a row that was
//! changed, or put into the place of another one (of another guest, another field, another checkpoint's position), is
//! [`StoreError::Corrupt`](graph_engine::StoreError::Corrupt) and never read.
//!
//! It is no guard against putting back what was there before: an older row of the same field of the same thread, or the
//! whole database of yesterday, are genuine. Neither does it hide how much is written and when.
//!
//! Nonces are random, so one key should seal no more than 2^32 rows; rotate it before. Each row says which key it needs:
//! see [`KeyRing`].
//!
//! # Commits that are repeated
//!
//! A store knows a repeated commit by its content, and a fresh nonce makes other bytes of equal content. So when a store
//! answers that it knows the checkpoint with other content, `Sealed` reads the stored row, opens what this checkpoint
//! itself committed and compares it with what should be committed: equal is a success, anything else stays the conflict.
//! This also holds across a rotation of keys, where a nonce that is computed from the content would not help, and it
//! keeps two rows of equal content from looking equal to whoever reads the database.
//!
//! # Copies
//!
//! The store below copies a thread as it is, and its rows are bound to the thread that they were written for. Before a
//! copy, `Sealed` writes a sealed note into a namespace of its own in the source: such a thread may hold rows of this one.
//! The copy takes the note along, so it is whole or not there. The namespace is not listed.

mod base64;
mod copies;
mod envelope;
mod key;
mod sealed;
mod slot;
mod vault;

pub use key::{InvalidKey, Key, KeyRing};
pub use sealed::Sealed;
