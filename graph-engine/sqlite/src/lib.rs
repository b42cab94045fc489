//! Checkpoints of graph-engine in a SQLite file.
