//! What `compile()` finds, as texts.

use graph_engine::{Builder, CompileError, State};

/// Everything that `compile()` finds, warnings included.
#[must_use]
pub fn findings<S: State>(builder: Builder<S>) -> Vec<String> {
    let found = match builder.compile() {
        Ok(graph) => graph.warnings().to_vec(),
        Err(CompileError { diagnostics, .. }) => diagnostics,
    };
    found.iter().map(ToString::to_string).collect()
}
