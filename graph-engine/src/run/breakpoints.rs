//! At which nodes turns are told to stop.

use crate::graph::Inner;
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;

/// Nodes at which a turn stops: one name, a list of names, or all.
///
/// ```
/// use graph_engine::BreakAt;
///
/// assert_eq!(BreakAt::from("book"), BreakAt::from(["book"]));
/// assert_ne!(BreakAt::from("book"), BreakAt::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BreakAt {
    /// Every node: the turn makes one super-step at a time.
    All,
    /// The nodes of these names.
    Nodes(Vec<Name>),
}

impl From<&str> for BreakAt {
    fn from(node: &str) -> Self {
        Self::Nodes(vec![node.into()])
    }
}

impl<N: Into<Name>, const COUNT: usize> From<[N; COUNT]> for BreakAt {
    fn from(nodes: [N; COUNT]) -> Self {
        Self::Nodes(nodes.into_iter().map(Into::into).collect())
    }
}

impl<N: Into<Name>> From<Vec<N>> for BreakAt {
    fn from(nodes: Vec<N>) -> Self {
        Self::Nodes(nodes.into_iter().map(Into::into).collect())
    }
}

/// The breakpoints of a turn, or of all turns of a runner.
#[derive(Clone, Debug, Default)]
pub(super) struct Breakpoints {
    pub(super) before: Vec<BreakAt>,
    pub(super) after: Vec<BreakAt>,
}

impl Breakpoints {
    pub(super) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// For each node whether the turn stops before it, and after it, by these breakpoints of its runner and its own; empty
    /// lists when there is nothing to stop at.
    pub(super) fn resolve<S: State>(
        &self,
        own: &Self,
        graph: &Inner<S>,
        thread: &Name,
        stored: bool,
    ) -> Result<(Vec<bool>, Vec<bool>), RunError> {
        let (before, after) = ([&self.before[..], &own.before], [&self.after[..], &own.after]);
        for (places, operation) in [(before, "break_before"), (after, "break_after")] {
            if !stored && places.iter().any(|places| !places.is_empty()) {
                return Err(RunError::NoStore { thread: thread.clone(), operation });
            }
        }
        Ok((marks(before, graph, thread)?, marks(after, graph, thread)?))
    }
}

fn marks<S: State>(places: [&[BreakAt]; 2], graph: &Inner<S>, thread: &Name) -> Result<Vec<bool>, RunError> {
    if places.iter().all(|places| places.is_empty()) {
        return Ok(Vec::new());
    }
    let mut marks = vec![false; graph.names.len()];
    for place in places.into_iter().flatten() {
        match place {
            BreakAt::All => marks.fill(true),
            BreakAt::Nodes(names) => {
                for name in names {
                    let Some(node) = graph.index.get(name) else {
                        let (node, known) = (name.clone(), graph.names.to_vec());
                        return Err(RunError::UnknownNode { thread: thread.clone(), node, known });
                    };
                    marks[node.at()] = true;
                }
            }
        }
    }
    Ok(marks)
}
