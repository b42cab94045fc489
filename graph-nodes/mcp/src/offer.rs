//! A graph, described as a tool for other programs.

use std::fmt;
use std::sync::Arc;

use graph_engine::{Runner, State, TurnEnd};
use graph_nodes::tool::schema_of;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::serve_error::OfferError;

/// The argument that names the thread of a call.
pub(crate) const THREAD: &str = "thread";

type Input<S> = Arc<dyn Fn(Value) -> Result<<S as State>::Update, String> + Send + Sync>;
type Reply<S> = Arc<dyn Fn(&TurnEnd<S>) -> String + Send + Sync>;

/// A graph as a tool: its name, what it does, what its input makes of the state, and what is told of the end of a turn.
///
/// ```
/// use graph_engine::{Graph, MemoryStore, START, State};
/// use graph_nodes_mcp::ToolOffer;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     wish: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Wish {
///     /// What the guest wants.
///     text: String,
/// }
///
/// let graph = Graph::<Trip>::builder("trip").node("plan", async || {}).edge(START, "plan").compile().unwrap();
/// let runner = graph.runner().store(MemoryStore::new());
/// let offer = ToolOffer::new(&runner, "concierge", "Plans trips.", |wish: Wish| Trip::update().wish(wish.text))
///     .reply(|end| format!("planned: {}", end.state.wish));
/// # let _ = offer;
/// ```
#[must_use = "an offer does nothing until a server has it"]
pub struct ToolOffer<S: State> {
    pub(crate) runner: Runner<S>,
    pub(crate) name: String,
    pub(crate) description: String,
    schema: Value,
    pub(crate) input: Input<S>,
    pub(crate) reply: Reply<S>,
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
}

impl<S: State> ToolOffer<S> {
    /// An offer whose input is a type: its schema is what the model of the other program is told, and arguments that
    /// aren't one are refused. The schema must not have a property `thread`, which is added to it.
    pub fn new<I: JsonSchema + DeserializeOwned>(
        runner: &Runner<S>,
        name: impl Into<String>,
        description: impl Into<String>,
        input: impl Fn(I) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        let read = move |value| serde_json::from_value::<I>(value).map(&input).map_err(|error| error.to_string());
        Self::with_schema(runner, name, description, schema_of::<I>(), read)
    }

    /// An offer whose input is JSON of this schema; an error of the closure is told to whoever called.
    pub fn with_schema(
        runner: &Runner<S>,
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        input: impl Fn(Value) -> Result<S::Update, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            runner: runner.clone(),
            name: name.into(),
            description: description.into(),
            schema,
            input: Arc::new(input),
            reply: Arc::new(first_reply),
            read_only: false,
            destructive: true,
        }
    }

    /// What is told of a turn that ended (default: its first reply; a text as it is, anything else as JSON).
    pub fn reply(mut self, reply: impl Fn(&TurnEnd<S>) -> String + Send + Sync + 'static) -> Self {
        self.reply = Arc::new(reply);
        self
    }

    /// Says that a call changes nothing outside of its thread.
    pub fn read_only(mut self) -> Self {
        (self.read_only, self.destructive) = (true, false);
        self
    }

    /// Says that a call adds things and destroys none.
    pub fn additive(mut self) -> Self {
        self.destructive = false;
        self
    }

    /// The schema with the argument that names the thread.
    pub(crate) fn whole_schema(&self) -> Result<Map<String, Value>, OfferError> {
        let name = || self.name.clone();
        let Value::Object(mut schema) = self.schema.clone() else { return Err(OfferError::NoObject { tool: name() }) };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(OfferError::NoObject { tool: name() });
        }
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(properties) = properties else { return Err(OfferError::NoObject { tool: name() }) };
        let about = "Continues this conversation. Without it a new one begins, and the answer names it.";
        if properties.insert(THREAD.to_owned(), json!({"type": "string", "description": about})).is_some() {
            return Err(OfferError::ThreadTaken { tool: name() });
        }
        Ok(schema)
    }
}

fn first_reply<S>(end: &TurnEnd<S>) -> String {
    match end.reply() {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

impl<S: State> fmt::Debug for ToolOffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOffer")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
