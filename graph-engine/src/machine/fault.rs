//! Whether what a node handed back is what it declared.

use crate::graph::Inner;
use crate::name::quoted;
use crate::state::State;
use crate::task::{Goto, NodeIx, Outcome, Rare};

/// What is wrong with an outcome that the node thinks is fine.
#[inline]
pub(crate) fn fault<S: State>(graph: &Inner<S>, state: &S, node: NodeIx, outcome: &Outcome<S>) -> Option<String> {
    // Most nodes declare no fields and leave by what is declared.
    if graph.at(node).info.writes.is_none() && matches!(outcome.goto, Goto::Declared) {
        return None;
    }
    declared_fault(graph, state, node, outcome)
}

fn declared_fault<S: State>(graph: &Inner<S>, state: &S, node: NodeIx, outcome: &Outcome<S>) -> Option<String> {
    let vertex = graph.at(node);
    if let Some(allowed) = vertex.info.writes {
        let beyond = state.written(&outcome.update).without(allowed);
        if let Some(field) = beyond.iter().next() {
            let name = &state.fields()[field].name;
            return Some(format!("it wrote field `{name}`, which it doesn't declare; add it to `.writes(..)`"));
        }
    }
    let unknown = |name: &str| {
        let known = graph.hop(&vertex.targets, name).is_some();
        if known && vertex.declares(name) {
            return None;
        }
        let declared = quoted(vertex.declared());
        let what = if known { "which it doesn't declare" } else { "which is no node" };
        Some(if declared.is_empty() {
            format!("it goes to `{name}`, {what}; it declares no targets, add them to its route")
        } else {
            format!("it goes to `{name}`, {what}; its declared targets are {declared}")
        })
    };
    let undeclared = |what: &str, declared: bool| {
        let told = declared || vertex.info.dynamic;
        (!told).then(|| format!("it {what}, which it doesn't declare; say so in `describe`"))
    };
    match &outcome.goto {
        Goto::Declared => None,
        Goto::Go(to) => unknown(to.name),
        Goto::Rare(rare) => match &**rare {
            // Many sends mostly go to one node: each run of equal names is looked up once.
            Rare::Many(hops, _) => {
                let runs = hops.chunk_by(|a, b| std::ptr::eq(a.to.name(), b.to.name()));
                runs.filter_map(|run| run.first()).find_map(|hop| unknown(hop.to.name()))
            }
            Rare::Stay(_) => undeclared("stays", vertex.info.stay),
            Rare::Direct(_) => undeclared("replies directly", vertex.info.direct),
            Rare::Finish(_) => undeclared("finishes the thread", vertex.info.finish),
            // Only the engine makes one, after this check.
            Rare::Rescue(_) => Some("it takes over from itself".into()),
            Rare::Invalid(error) => Some(format!("its reply or feedback can't be written as JSON: {error}")),
        },
    }
}
