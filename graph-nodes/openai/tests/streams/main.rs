//! Streams through the reader: what real servers sent, cut anywhere, in every known shape, and hostile ones.

mod chunking;
mod engine;
mod files;
mod hostile;
mod models;
mod recorded;
mod reported;
mod requested;
mod shapes;
mod support;
mod wire;
