//! Names that are used twice, reserved, or unknown, and clusters without an entry of their own.

use super::{Plan, is_reserved};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::name::quoted;
use crate::state::{FieldSet, State};

impl Plan {
    pub(super) fn check_names<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        let mut clusters: Vec<_> = builder.clusters.iter().map(|draft| &draft.name).collect();
        clusters.sort();
        let nodes = if self.odd_names { builder.nodes.iter().map(|draft| &draft.name).collect() } else { Vec::new() };
        for (what, names) in [("node", nodes), ("cluster", clusters)] {
            for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
                let message = format!("the {what} `{}` is declared twice", pair[0]);
                found.push(Diagnostic::new(Lint::DuplicateName, [pair[0]], message).help("rename one of them"));
            }
            for name in names.iter().filter(|name| is_reserved(name)) {
                let message = match name.is_empty() {
                    true => format!("a {what} has an empty name"),
                    false => format!("`{name}` can't be the name of a {what}"),
                };
                let help = "names are not empty and don't begin with `__`, which is kept for the engine";
                found.push(Diagnostic::new(Lint::ReservedName, [*name], message).help(help));
            }
        }
        for exit in builder.exits.iter().filter(|exit| self.index.get(exit).is_some()) {
            let message = format!("`{exit}` is declared as an exit, but is a node of this graph");
            let help = "an exit names a node of the graph around this one; rename one of them";
            found.push(Diagnostic::new(Lint::DuplicateName, [exit], message).help(help));
        }
        let mut known = None;
        for (from, to, what) in &self.unknown {
            let message = if from == to {
                format!("a declared {what} begins at `{from}`, which is no node")
            } else if *what == "cluster" {
                format!("the entry of cluster `{from}` is `{to}`, which is no node")
            } else {
                format!("a declared {what} leads from `{from}` to `{to}`, which is no node")
            };
            if self.exits.contains(to) {
                let help = "only commands and routers leave a graph; let the node go there";
                let message = format!("a declared {what} leads from `{from}` to `{to}`, which is outside of the graph");
                found.push(Diagnostic::new(Lint::UnknownTarget, [from, to], message).help(help));
                continue;
            }
            let help = known.get_or_insert_with(|| match quoted(self.names().iter().map(AsRef::as_ref)) {
                none if none.is_empty() => "add the node".to_owned(),
                known => format!("the nodes are {known}"),
            });
            found.push(Diagnostic::new(Lint::UnknownTarget, [from, to], message).help(&**help));
        }
        for (at, draft) in builder.clusters.iter().enumerate() {
            let inside = |mut cluster: Option<usize>| {
                while let Some(here) = cluster {
                    if here == at {
                        return true;
                    }
                    cluster = builder.clusters[here].parent;
                }
                false
            };
            let entry = self.index.get(&draft.entry).and_then(|entry| self.draft(builder, entry.at()));
            if entry.is_some_and(|node| !inside(node.cluster)) {
                let message = format!("the entry `{}` of cluster `{}` is outside of it", draft.entry, draft.name);
                let help = "add the entry with `node` inside the cluster";
                found.push(Diagnostic::new(Lint::BadCluster, [&draft.name, &draft.entry], message).help(help));
            }
        }
        let fields = builder.initial.fields().len();
        if fields > FieldSet::MAX_FIELDS {
            let message = format!("the state has {fields} fields; at most {} are possible", FieldSet::MAX_FIELDS);
            let help = "group fields that belong together into a struct";
            found.push(Diagnostic::new::<&str>(Lint::TooManyFields, [], message).help(help));
        }
        if !self.problems {
            return;
        }
        for draft in &builder.nodes {
            for problem in &draft.rest.info.problems {
                let message = format!("`{}` can't run: {problem}", draft.name);
                found.push(Diagnostic::new(Lint::NodeProblem, [&draft.name], message));
            }
            if let (Some(why), Some(_)) = (draft.rest.info.no_retry, &draft.rest.policy.retry) {
                let message = format!("`{}` has a retry policy, but {why}", draft.name);
                found.push(
                    Diagnostic::new(Lint::DoubleRetry, [&draft.name], message).help("remove `.retry(..)` from it"),
                );
            }
        }
    }
}
