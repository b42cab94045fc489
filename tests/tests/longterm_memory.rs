//! The long-term store in memory does what every long-term store promises.

use graph_engine::longterm::MemoryLongTerm;

graph_engine::long_term_store_conformance!(|settings| async move { MemoryLongTerm::with(settings) });
