//! Building blocks for agents on graph-engine: messages, models, the assembly
//! of streamed tool calls, the acceptance gate.
//!
//! # Which piece do I choose?
//!
//! | you want to | take | in |
//! | --- | --- | --- |
//! | write down a conversation | [`Message`](message::Message) | [`message`] |
//! | know whether a history can be sent | [`check_history`](message::check_history) | [`message`] |
//! | turn streamed fragments into tool calls | [`Assembler`](assemble::Assembler) | [`assemble`] |
//! | talk to a provider | an implementation of [`ChatModel`](model::ChatModel) | [`model`] |
//! | test without a provider | [`ScriptedModel`](model::ScriptedModel) | [`model`] |
//! | run offline by a rule | [`FnModel`](model::FnModel) | [`model`] |
//! | accept or reject a response before any effect of it | [`decide`](gate::decide) | [`gate`] |
//!
//! # Modules
//!
//! A module uses only modules above it.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`message`] | messages, tool calls, tokens, and the rules of a history |
//! | [`assemble`] | tool-call fragments by index, id and name to complete calls |
//! | [`model`] | the model trait, requests, chunks, responses, models for tests |
//! | [`gate`] | verdicts, budgets and the accounting of attempts |
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//!
//! use graph_nodes::gate::{Decision, GateLedger, GatePolicy, ModelOutcome, Validators, Verdict, decide};
//! use graph_nodes::message::{Message, check_history};
//! use graph_nodes::model::{ChatModel, Request, ScriptedModel, Turn};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let model = ScriptedModel::new([Turn::text("Bern is lovely in May.")]);
//! let validators = Validators::<()>::new().with_fn("names_month", |response, ()| {
//!     match response.text.contains("May") {
//!         true => Verdict::Accept,
//!         false => Verdict::retry("no_month", "name the month"),
//!     }
//! });
//!
//! let mut history = vec![Message::user("Where shall I go, and when?")];
//! let result = model.complete(Request::new(history.clone())).await;
//! let outcome = ModelOutcome::new(model.name(), Duration::from_millis(80), result);
//!
//! let mut ledger = GateLedger::default();
//! let decision = decide(&GatePolicy::new(), &validators, &mut ledger, outcome, &()).await.unwrap();
//! let Decision::Accept { response, .. } = decision else { panic!("the month is named") };
//! history.push(response.to_message());
//! assert_eq!(check_history(&history), Ok(()));
//! assert_eq!((ledger.started(), ledger.tokens()), (1, 110));
//! # });
//! ```

pub mod assemble;
pub mod gate;
pub mod message;
pub mod model;
mod panics;
pub mod stage;
pub mod tool;
