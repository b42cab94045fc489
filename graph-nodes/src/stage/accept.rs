//! Where an accepted text leads.

use graph_engine::Name;

/// Where an accepted text leads.
///
/// ```
/// use graph_nodes::stage::Accepted;
///
/// assert_eq!(Accepted::default(), Accepted::Direct);
/// assert_eq!(Accepted::from("summary"), Accepted::Go("summary".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accepted {
    /// The caller gets the text, and the branch ends.
    #[default]
    Direct,
    /// This node runs; it finds the text at the end of the history.
    Go(Name),
}

impl From<&str> for Accepted {
    fn from(node: &str) -> Self {
        Self::Go(node.into())
    }
}

impl From<Name> for Accepted {
    fn from(node: Name) -> Self {
        Self::Go(node)
    }
}
