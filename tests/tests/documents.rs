//! The documents and the sources keep their rules.

mod behaviours_doc;
mod from_langgraph_doc;
mod tidy;
