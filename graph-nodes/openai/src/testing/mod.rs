//! A server for tests that plays exact bytes, cuts where it is told, and remembers what it was asked.
//!
//! ```
//! use graph_nodes::message::Message;
//! use graph_nodes::model::{ChatModel, Request};
//! use graph_nodes_openai::OpenAi;
//! use graph_nodes_openai::testing::{Reply, Server};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi!\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
//! let server = Server::start([Reply::stream(whole), Reply::stream(whole).reset_at(20)]).await?;
//! let model = OpenAi::new(server.base_url(), "local").build()?;
//!
//! let ask = || model.complete(Request::new([Message::user("hello")]));
//! assert_eq!(ask().await?.text, "Hi!");
//! assert!(ask().await.unwrap_err().is_retryable());
//!
//! let asked = server.requests();
//! assert_eq!((asked.len(), asked[0].path.as_str()), (2, "/v1/chat/completions"));
//! assert_eq!(asked[0].json()["messages"][0]["content"], "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod offline;
mod reply;
mod server;

pub use offline::Offline;
pub use reply::{Framing, Reply};
pub use server::{Asked, Server};
