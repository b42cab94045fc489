//! A set of tool names, whatever their order.

use std::fmt;

/// A set of distinct tool names, whatever their order: what picks a [group handler](super::GroupHandler).
///
/// ```
/// use graph_nodes::tool::GroupKey;
///
/// assert_eq!(GroupKey::of(["b", "a", "b"]).to_string(), "a,b");
/// assert_eq!(GroupKey::of(["b", "a"]), GroupKey::of(["a", "b"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKey(Vec<String>);

impl GroupKey {
    /// The set of these names.
    pub fn of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        Self(names)
    }

    /// The names, sorted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for GroupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}
