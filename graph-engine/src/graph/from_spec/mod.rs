//! From data to a graph: names become registered nodes, routers and reducers, and every mistake is noted.

mod assembly;
mod locate;
mod schema;

use std::sync::Arc;

use super::Graph;
use super::builder::Builder;
use crate::diagnostic::{Diagnostic, Lint};
use crate::name::nearest;
use crate::spec::{GraphSpec, MistakeKind, Problems, Registry, SpecError, read};
use crate::state::dynamic::{DynState, DynUpdate, Schema};
use crate::task::{END, START};
use assembly::Assembly;
use locate::Locator;

impl Graph<DynState> {
    /// Reads a graph from JSON and builds it.
    ///
    /// # Errors
    /// [`SpecError`] with every mistake of the text, each with its line and column: what is wrong with its form, names
    /// that are not registered, configs that are refused, and what the check of the whole graph finds. What can't be
    /// told, because something else could not be read, is not guessed.
    ///
    /// ```
    /// use graph_engine::{Graph, Registry};
    ///
    /// let error = Graph::from_json(r#"{
    ///   "version": 1,
    ///   "name": "trip",
    ///   "nodes": [{ "name": "explore", "use": "say", "dferred": true }],
    ///   "edges": [{ "from": "__start__", "to": "explroe" }]
    /// }"#, &Registry::new()).unwrap_err();
    /// let places: Vec<_> = error.mistakes.iter().map(|mistake| mistake.pointer.as_str()).collect();
    /// assert_eq!(places, ["/nodes/0/use", "/nodes/0/dferred", "/edges/0/to"]);
    /// ```
    pub fn from_json(text: &str, registry: &Registry) -> Result<Self, SpecError> {
        let (spec, problems) = read(text)?;
        build(&spec, registry, problems).map_err(|error| error.located(text))
    }

    /// The fields of the state.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        self.inner().initial.schema()
    }

    /// An empty update: the input of a turn.
    pub fn update(&self) -> DynUpdate {
        self.schema().update()
    }
}

impl GraphSpec {
    /// Builds the graph. Its threads start from a state in which every field has its default.
    ///
    /// # Errors
    /// [`SpecError`] with every mistake; [`SpecError::located`] adds lines and columns of the text it was read from.
    pub fn build(&self, registry: &Registry) -> Result<Graph<DynState>, SpecError> {
        build(self, registry, Problems::default())
    }
}

fn build(spec: &GraphSpec, registry: &Registry, mut problems: Problems) -> Result<Graph<DynState>, SpecError> {
    let schema = schema::schema(spec, registry, &mut problems);
    let mut builder = Builder::new(spec.name.clone(), DynState::new(schema.clone()));
    builder.made_of = Some(Arc::new(spec.clone()));
    let (builder, mut problems) = Assembly { spec, registry, schema, problems, builder }.assemble();
    let compiled = builder.compile();
    if let Err(error) = &compiled {
        let mut locator = Locator::new(spec);
        for finding in error.errors().filter(|finding| can_be_told(finding, &problems)).collect::<Vec<_>>() {
            problems.add(locator.pointer(finding), MistakeKind::Finding(with_hint(finding, spec)));
        }
    }
    match compiled {
        Ok(graph) if problems.is_empty() => Ok(graph),
        _ => Err(problems.into_error(spec)),
    }
}

/// Whether a finding is one of the whole file, and not of what is left when unreadable parts are taken out.
fn can_be_told(finding: &Diagnostic, problems: &Problems) -> bool {
    let names = problems.lost_a_name("/nodes");
    let clusters = problems.lost_any(|at| at.starts_with("/clusters"));
    let lists = ["/edges", "/joins", "/routers"];
    let in_nodes = ["/moves", "/on_error"];
    let ways = names
        || problems.lost_any(|at| lists.iter().any(|list| at.starts_with(list)))
        || problems.lost_any(|at| in_nodes.iter().any(|member| at.contains(member)));
    match finding.lint {
        Lint::UnknownTarget => !names,
        Lint::BadCluster | Lint::PayloadMismatch => !names && !clusters,
        Lint::NoEntry | Lint::Unreachable | Lint::DeadJoin | Lint::UnconditionalCycle => !ways && !clusters,
        _ => true,
    }
}

/// An unknown name is often one that was written wrong.
fn with_hint(finding: &Diagnostic, spec: &GraphSpec) -> Diagnostic {
    let mut finding = finding.clone();
    let Some(name) = finding.nodes.last().filter(|_| finding.lint == Lint::UnknownTarget) else { return finding };
    let meant = match name.to_lowercase().as_str() {
        "start" => Some(START),
        "end" => Some(END),
        _ => nearest(name, spec.nodes.iter().map(|node| node.name.as_str())),
    };
    if let Some(meant) = meant {
        let known = finding.help.take().map(|help| format!("; {help}")).unwrap_or_default();
        finding.help = Some(format!("did you mean `{meant}`{known}"));
    }
    finding
}
