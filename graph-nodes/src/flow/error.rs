//! What is wrong with a flow.

use std::fmt;

use graph_engine::{CompileError, Name};

use super::ModelEntry;
use crate::prompt::TemplateError;
use crate::tool::ToolBoxError;

/// Why a flow can't be built: everything that is wrong at once.
///
/// ```
/// use graph_engine::{Log, State};
/// use graph_nodes::flow::{Cursor, Flow, FlowError, Stage};
/// use graph_nodes::message::Message;
/// use graph_nodes::stage::{Draft, GateBook, Seat};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     history: Log<Message>,
///     draft: Option<Draft>,
///     book: GateBook,
///     cursor: Cursor,
/// }
///
/// let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
/// let flow = Flow::new("trip", seat, Trip::CURSOR)
///     .stage(Stage::new("explore").model("small"))
///     .stage(Stage::new("explore").template("Plan {{", |_: &Trip| ()));
/// let FlowError::Problems(problems) = flow.build().unwrap_err() else { panic!("it compiles") };
/// let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
/// assert_eq!(texts[0], "there are two stages `explore`; give each its own name");
/// let unknown = "stage `explore`: there is no model `small`; the catalogue has none; name one of these, or add it with `Catalogue::with`";
/// assert_eq!(texts[1], unknown);
/// assert_eq!(texts.len(), 3);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// The description doesn't hold together.
    #[error("the flow can't be built: {}", Listed(.0))]
    Problems(Vec<FlowProblem>),
    /// The graph that it stands for doesn't compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

/// One thing that is wrong with a flow.
///
/// ```
/// use graph_nodes::flow::FlowProblem;
///
/// let problem = FlowProblem::DuplicateModel { model: "small".into() };
/// assert_eq!(problem.to_string(), "the catalogue has two models `small`; give each its own name");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowProblem {
    /// There is no stage at all.
    #[error("there are no stages; add one with `Flow::stage`")]
    NoStages,
    /// Two stages have one name.
    #[error("there are two stages `{stage}`; give each its own name")]
    DuplicateStage {
        /// The name.
        stage: Name,
    },
    /// The stage that a thread begins in is none.
    #[error("a thread begins in stage `{stage}`, which there is not; the stages are {}", listed(known.iter().map(Name::as_str)))]
    UnknownStart {
        /// The name.
        stage: Name,
        /// The stages.
        known: Vec<Name>,
    },
    /// Two models have one name.
    #[error("the catalogue has two models `{model}`; give each its own name")]
    DuplicateModel {
        /// The name.
        model: String,
    },
    /// A stage names a model that there is not.
    #[error("stage `{stage}`: there is no model `{model}`; the catalogue has {}; name one of these, or add it with `Catalogue::with`", listed(known.iter().map(String::as_str)))]
    UnknownModel {
        /// The stage.
        stage: Name,
        /// The name.
        model: String,
        /// The models.
        known: Vec<String>,
    },
    /// A stage falls back to the model that the runner provides, which it asks anyway.
    #[error(
        "stage `{stage}`: the fallback `{model}` is the model that the runner provides; give its entry a model with `ModelEntry::new`"
    )]
    ProvidedFallback {
        /// The stage.
        stage: Name,
        /// The model.
        model: String,
    },
    /// A stage sets a parameter that its model doesn't take.
    #[error("stage `{stage}`: the model `{model}` doesn't take `{parameter}`; it takes {}; leave it out, or let the entry say it with `ModelEntry::supports`", listed(supported.iter().map(String::as_str)))]
    UnsupportedParameter {
        /// The stage.
        stage: Name,
        /// The model.
        model: String,
        /// The parameter.
        parameter: String,
        /// Those that it takes.
        supported: Vec<String>,
    },
    /// A stage's prompt is no template.
    #[error("stage `{stage}`: {reason}")]
    Template {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: TemplateError,
    },
    /// A stage offers tools that there are not.
    #[error("stage `{stage}`: {reason}")]
    Tools {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: ToolBoxError,
    },
    /// A hook is a node that can't be one.
    #[error("stage `{stage}`: {reason}")]
    Hook {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: String,
    },
    /// The numbers of a compaction make no sense.
    #[error("stage `{stage}`, compaction: {reason}")]
    Compaction {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: String,
    },
    /// A stage without a model is told something that only one with a model can do.
    #[error("stage `{stage}` asks no model, so it has no {what}; take it away, or make the stage with `Stage::new`")]
    NoModelStage {
        /// The stage.
        stage: Name,
        /// What it was told.
        what: &'static str,
    },
    /// Something leads into a stage past its first vertex, which moves the cursor and runs the hooks.
    #[error("`{from}` leads to `{to}` inside of stage `{stage}`, past its cursor and hooks; lead to `{stage}`")]
    PastBeginning {
        /// The stage.
        stage: Name,
        /// What leads there.
        from: Name,
        /// Where it leads.
        to: Name,
    },
    /// What a vertex of the stage finds wrong when it is made.
    #[error("{reason}")]
    Vertex {
        /// The stage.
        stage: Name,
        /// What is wrong.
        reason: String,
    },
}

impl FlowProblem {
    pub(super) fn unsupported(stage: &Name, entry: &ModelEntry, parameter: &str) -> Self {
        Self::UnsupportedParameter {
            stage: stage.clone(),
            model: entry.name().to_owned(),
            parameter: parameter.to_owned(),
            supported: entry.parameters().map(str::to_owned).collect(),
        }
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

struct Listed<'a>(&'a [FlowProblem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if at == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
