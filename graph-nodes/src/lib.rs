//! Building blocks for agents on graph-engine: messages, models, the assembly
//! of streamed tool calls.
//!
//! | you want to | look at |
//! | --- | --- |
//! | write down a conversation, and check it before it is sent | [`message`] |
//! | turn streamed tool-call fragments into calls | [`assemble`] |
//! | ask a model, or script one for a test | [`model`] |
//!
//! ```
//! use graph_nodes::message::{Message, check_history};
//! use graph_nodes::model::{ChatModel, Request, ScriptedModel, Turn};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let model = ScriptedModel::new([Turn::text("Bern is lovely in May.")]);
//! let mut history = vec![Message::user("Where shall I go?")];
//! let response = model.complete(Request::new(history.clone())).await.unwrap();
//! history.push(response.to_message());
//! assert_eq!(check_history(&history), Ok(()));
//! assert_eq!(history[1].text(), "Bern is lovely in May.");
//! # });
//! ```

pub mod assemble;
pub mod message;
pub mod model;
