//! Tools of MCP servers for agents on graph-engine, and graphs offered as MCP tools.
//!
//! | you want to | take |
//! | --- | --- |
//! | use the tools of a server that is a program | [`McpServer::stdio`] with a [`Command`] |
//! | use those of a server at an address | `McpServer::http` (feature `http`) |
//! | use those of a server behind a socket, a container, a test | [`McpServer::streams`] |
//! | say what may run without a person's yes | [`ToolPolicy`], [`Trust`] |
//! | say what happens when a server ends | [`Restarts`] |
//! | know what happened | [`Health`] |
//! | offer a graph to other programs | `GraphServer` and `ToolOffer` (feature `server`) |
//!
//! The protocol itself is that of the crate `rmcp`. Nothing here is global: each [`McpServer`] is its own connection.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `http` | servers over streamable HTTP, at `http:` addresses |
//! | `http-rustls`, `http-native-tls` | the same at `https:` addresses, with a TLS crate |
//! | `server` | graphs as MCP tools |

mod command;
mod connect;
mod content;
mod error;
mod handler;
mod health;
#[cfg(feature = "http")]
mod http;
mod link;
mod listing;
mod name;
#[cfg(feature = "server")]
mod offer;
#[cfg(feature = "server")]
mod offered;
mod policy;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod serve_error;
mod server;
mod settings;
mod stderr;
mod text;
mod tool;

pub use command::Command;
pub use connect::Handshake;
pub use error::{McpError, ToolProblem};
pub use health::Health;
#[cfg(feature = "server")]
pub use offer::ToolOffer;
pub use policy::{ToolPolicy, Trust};
#[cfg(feature = "server")]
pub use serve::GraphServer;
#[cfg(feature = "server")]
pub use serve_error::OfferError;
pub use server::{McpServer, McpServerBuilder};
pub use settings::Restarts;
pub use tool::McpTool;
