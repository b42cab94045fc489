//! Which calls of one response are executed.

use std::ops::Range;

use crate::message::ToolCall;

/// Which calls of one response are executed. The others are answered with a text that says so, so that every call has
/// its answer even with a provider that can't be kept from sending several.
///
/// ```
/// use graph_nodes::stage::SeveralCalls;
///
/// assert_eq!(SeveralCalls::default(), SeveralCalls::All);
/// assert_eq!(SeveralCalls::priority(["end", "book"]), SeveralCalls::Priority(vec!["end".into(), "book".into()]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeveralCalls {
    /// All of them.
    #[default]
    All,
    /// The first one.
    First,
    /// One: the first call of the tool that stands first in this list. Without a call of a listed tool the first one.
    Priority(Vec<String>),
}

impl SeveralCalls {
    /// One call, chosen by this list of tools.
    pub fn priority<N: Into<String>>(tools: impl IntoIterator<Item = N>) -> Self {
        Self::Priority(tools.into_iter().map(Into::into).collect())
    }

    /// The calls that are executed: neighbours, of which there is at least one if there is a call.
    pub(super) fn kept(&self, calls: &[ToolCall]) -> Range<usize> {
        let one = match self {
            Self::All => return 0..calls.len(),
            Self::First => 0,
            Self::Priority(tools) => {
                let first = |tool: &String| calls.iter().position(|call| call.name == *tool);
                tools.iter().find_map(first).unwrap_or_default()
            }
        };
        one..calls.len().min(one + 1)
    }
}
