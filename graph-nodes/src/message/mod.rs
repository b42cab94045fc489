//! Messages of a conversation and the rules a history keeps.
//!
//! The serde form is close to OpenAI's chat format, so that a stored history
//! can be read by eye and converted by an adapter with little work:
//!
//! | here | serde form | OpenAI's chat format |
//! | --- | --- | --- |
//! | [`Message::id`] | `id`, left out when absent | has no such field: drop it |
//! | [`Message::role`] | `role`: `system`, `user`, `assistant`, `tool` | the same |
//! | no content block | `content: null` | the same; some servers want `""` |
//! | one [`Content::Text`] | `content: "text"` | the same |
//! | other content | `content: [block, ..]` | the same list |
//! | [`Content::Text`] | `{"type":"text","text":..}` | the same |
//! | [`Content::Image`] | `{"type":"image_url","image_url":{"url":..}}` | the same |
//! | [`Content::Refusal`] | `{"type":"refusal","refusal":..}` | the same |
//! | [`Content::Reasoning`] | `{"type":"reasoning","reasoning":JSON}` | provider specific: send back as the provider asks, or drop |
//! | [`Content::Artifact`] | `{"type":"artifact","artifact":{"artifact":uri,..}}` | drop it: a text block of the message says the same |
//! | [`Message::calls`] | `tool_calls: [ToolCall, ..]`, left out when empty | the same |
//! | [`ToolCall`] | `{"id":..,"type":"function","function":{"name":..,"arguments":"text"}}` | the same |
//! | [`Message::usage`] | `usage`, left out when absent | belongs to the response: drop it |
//! | [`Message::call_id`] | `tool_call_id` | the same |
//! | [`Message::tool_name`] | `name` | drop it where it is refused |
//! | [`Message::removal`], [`Message::removal_of_all`] | `role`: `removal` with `removes`, `removal_of_all` | never sent: [`add_messages`] carries them out |
//! | [`Message::status`] | `status: "error"`, left out when `ok` | has no such field: drop it |

mod add_messages;
mod arguments;
mod artifact;
mod call;
mod chat_message;
mod content;
mod finish;
mod history;
mod role;
mod strict_json;
mod usage;
mod wire;

pub use add_messages::{HistoryEditError, add_messages};
pub use arguments::{Arguments, ArgumentsError};
pub use artifact::Artifact;
pub use call::{CallFault, ToolCall};
pub use chat_message::{Message, MessageKind};
pub use content::{Content, ImageRef};
pub use finish::FinishReason;
pub use history::{HistoryError, HistoryProblem, check_history};
pub use role::{CallStatus, Role};
pub use usage::Usage;
