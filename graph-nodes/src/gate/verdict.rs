//! What one check says about a response.

use super::Code;
use crate::model::Response;

/// What one check says about a response.
///
/// ```
/// use graph_nodes::gate::{Code, Verdict};
///
/// let verdict = Verdict::retry("no_price", "name the price of each room");
/// assert_eq!(verdict.code(), Some(&Code::new("no_price")));
/// assert_eq!(Verdict::Accept.code(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Fine as it is.
    Accept,
    /// Fine with a change. Checks that come later see the changed response.
    AcceptWith {
        /// What replaces the response.
        replacement: Replacement,
        /// What was changed and why.
        note: String,
    },
    /// Rejected; the model may try again.
    Retry {
        /// Why, for counters and caps.
        code: Code,
        /// Why, for the model; none to try again blindly.
        feedback: Option<String>,
    },
    /// Rejected; trying again is pointless.
    Fatal {
        /// Why, for counters.
        code: Code,
        /// Why, for people.
        reason: String,
    },
    /// Not for this gate to settle: go along an edge.
    Escalate {
        /// The edge.
        edge: String,
        /// Why, for counters.
        code: Code,
        /// Why, for people.
        reason: String,
    },
}

/// What [`Verdict::AcceptWith`] puts in the place of a response.
///
/// ```
/// use graph_nodes::gate::Replacement;
/// use graph_nodes::model::Response;
///
/// let whole = Replacement::from(Response::from_text("hi"));
/// assert_ne!(whole, Replacement::Text("hi".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Replacement {
    /// Another text; everything else, calls too, stays.
    Text(String),
    /// Another response.
    Response(Box<Response>),
}

impl From<Response> for Replacement {
    fn from(response: Response) -> Self {
        Self::Response(Box::new(response))
    }
}

impl Verdict {
    /// Rejects with a reason for the model.
    pub fn retry(code: impl Into<Code>, feedback: impl Into<String>) -> Self {
        Self::Retry { code: code.into(), feedback: Some(feedback.into()) }
    }

    /// Rejects for good.
    pub fn fatal(code: impl Into<Code>, reason: impl Into<String>) -> Self {
        Self::Fatal { code: code.into(), reason: reason.into() }
    }

    /// Hands over to an edge.
    pub fn escalate(edge: impl Into<String>, code: impl Into<Code>, reason: impl Into<String>) -> Self {
        Self::Escalate { edge: edge.into(), code: code.into(), reason: reason.into() }
    }

    /// Accepts with another text.
    pub fn accept_text(text: impl Into<String>, note: impl Into<String>) -> Self {
        Self::AcceptWith { replacement: Replacement::Text(text.into()), note: note.into() }
    }

    /// The code of a rejection.
    pub fn code(&self) -> Option<&Code> {
        match self {
            Self::Accept | Self::AcceptWith { .. } => None,
            Self::Retry { code, .. } | Self::Fatal { code, .. } | Self::Escalate { code, .. } => Some(code),
        }
    }
}
