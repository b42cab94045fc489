//! Nodes for graph-engine: messages, models, tools, the acceptance gate.

pub mod assemble;
pub mod message;
