//! The acceptance gate: accepts or rejects one whole model response before any
//! effect of it.
//!
//! The core is pure: no clock, no I/O, no engine. A vertex (or a loop in a test)
//! calls the model, hands the [`ModelOutcome`] to [`decide`], and does what the
//! [`Decision`] says; everything worth keeping is in the [`GateLedger`], which is
//! plain data and lives in the state. [`Gated`] is that loop: it asks, waits on
//! tokio's clock and shows text while it arrives.
//!
//! | part | what it is |
//! | --- | --- |
//! | [`Validator`], [`AsyncValidator`], [`Validators`] | what is checked |
//! | [`Verdict`] | what one check says |
//! | [`GatePolicy`] | how often, how long, for how many tokens, what then |
//! | [`ModelOutcome`] | what the model call gave: a response, or an error as data |
//! | [`decide`], [`Decision`] | what happens next |
//! | [`GateLedger`] | every attempt and token |
//! | [`retry_messages`] | what the model is sent on the next attempt |
//! | [`Gated`], [`Streaming`] | the whole of it around one model call, as a plain async function |
//!
//! The checks that come with the library:
//!
//! | check | rejects | code |
//! | --- | --- | --- |
//! | [`StructuredOutput`] | a text that is no JSON, or of another shape | `parse`, `schema` |
//! | [`NonEmptyText`] | a response without text | `empty` |
//! | [`CleanFinish`] | a text that was cut off | `truncated` |
//! | [`Length`] | a text that is too short or too long | `too_short`, `too_long` |
//! | [`ForbiddenPatterns`] | a text with something in it that must not be there | `forbidden` |
//! | [`AllowedTools`] | a call of another tool | `unknown_tool` |
//! | [`ArgumentsParse`], [`ArgumentsFit`] | arguments that can't be read, or don't fit the tool's schema | `arguments` |
//! | [`Validators::with_call_check`] | arguments that don't fit the state | `arguments` |
//! | [`Validators::with_fn`], [`Validators::with_async_fn`] | what a function says | its own |
//! | [`LlmJudge`] | what another model says | `judged` |
//!
//! How each outcome is counted:
//!
//! | outcome | tokens | counter | next |
//! | --- | --- | --- | --- |
//! | accepted | accepted | - | accept |
//! | a validator rejects | rejected | its code | retry |
//! | neither text nor calls | rejected | `empty` | retry |
//! | structured output is no JSON, or of another shape | rejected | `parse`, `schema` | retry |
//! | error of the model | as reported, else 0 | `invocation` | retry, if the error is retryable |
//! | refusal or content filter | rejected | `blocked` | escalate, never a retry |
//! | cut off, with calls | rejected | `truncated` | retry; the calls never run |
//! | a text without a finish reason | rejected | `truncated` | retry; it may be half of one |
//! | cancelled | as reported | `cancelled` | cancelled; the attempt counts as started, not as finished |
//! | the deadline cut it | as reported | `deadline` | exhausted; as started, not as finished |
//! | a judge was asked | judge | - | no attempt of its own |
//! | a check can't do its work, or panics | rejected | `validator_failed` | as [`PanicPolicy`] says: retry |
//! | rejected in shadow mode | accepted | `shadow:` and the code | accept |
//! | a limit is reached, and there is a fallback model | rejected | the last code | one attempt with that model, which is final |
//! | the best of the rejected, when a limit is reached | move from rejected to accepted, once | its code stays | accept |

mod ask;
mod async_check;
mod attempt;
mod backoff;
mod best;
mod budget;
mod builtin;
mod call_check;
mod check_error;
mod code;
mod core_check;
mod correction;
mod decide;
mod decision;
mod fallback;
mod fingerprint;
mod gated;
mod gated_error;
mod gated_round;
mod ledger;
mod length;
mod llm_judge;
mod outcome;
mod patterns;
mod policy;
mod release;
mod repair;
mod review;
mod sink;
mod streaming;
mod structured;
pub(crate) mod table;
pub(crate) mod trace;
mod validator;
mod validators;
mod verdict;

pub(crate) use ask::{Progress, ask, decide_in_time};
pub use async_check::CheckFn;
pub use attempt::{Attempt, AttemptOutcome, Modification, Reason};
pub use backoff::Backoff;
pub use best::{BestOf, Candidate};
pub use budget::{AttemptInfo, ExhaustedBy};
pub use builtin::{AllowedTools, ArgumentsParse, CleanFinish, NonEmptyText};
pub use call_check::ArgumentsFit;
pub use check_error::CheckError;
pub use code::Code;
pub use correction::{retry_messages, retry_request};
pub use decide::decide;
pub(crate) use decision::attempts;
pub use decision::{Decision, GateError, GateFailure};
pub use fallback::FallbackUse;
pub use fingerprint::Fingerprint;
pub use gated::{Gated, GatedAnswer};
pub use gated_error::{GatedError, GatedFailure};
pub use gated_round::GatedRound;
pub use ledger::GateLedger;
pub use length::Length;
pub use llm_judge::LlmJudge;
pub use outcome::{ModelOutcome, ModelResult};
pub use patterns::ForbiddenPatterns;
pub use policy::{Exhaustion, FeedbackMode, GatePolicy, PanicPolicy};
pub(crate) use release::Release;
pub use repair::Repair;
pub use sink::{GateSink, GatedEvent, Retracted, shown};
pub use streaming::{Checkpoint, Streaming};
pub use structured::StructuredOutput;
pub use validator::{AsyncValidator, Cost, Judgement, Validator};
pub use validators::Validators;
pub use verdict::{Replacement, Verdict};
