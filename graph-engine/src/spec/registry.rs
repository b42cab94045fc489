//! What the names in a file stand for.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{BoxError, NodeError};
use crate::name::Name;
use crate::node::{IntoNode, NodeSpec};
use crate::panic::{panic_text, text_of};
use crate::state::dynamic::{DynState, ReducerFn, Schema};
use crate::task::{IntoNamedNext, NamedNext};

/// What a router of a file decides.
pub(crate) type RouterChoice = Box<dyn Fn(&DynState) -> Result<NamedNext, NodeError> + Send + Sync>;

type MakeNode = Box<dyn Fn(&Value, &Arc<Schema>) -> Result<NodeSpec<DynState>, BoxError> + Send + Sync>;
type MakeRouter = Box<dyn Fn(&Value, &Arc<Schema>) -> Result<RouterChoice, BoxError> + Send + Sync>;
type Predicate = Arc<dyn Fn(&NodeError) -> bool + Send + Sync>;

/// The nodes, routers, reducers and predicates that files may name.
///
/// A constructor is called once for each node or router of a file, with its `config` read by serde. What it refuses is
/// reported with the place of the config. A name that is registered again gets its new meaning.
///
/// ```
/// use graph_engine::{DynState, FieldError, Graph, IntoNode, NodeError, Registry, Snap};
/// use serde::Deserialize;
/// use serde_json::{Value, json};
///
/// #[derive(Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Say {
///     into: String,
///     text: String,
/// }
///
/// let registry = Registry::new().node_in("say", |config: Say, schema| {
///     // A field that there is not is a mistake of the file, and not one of the first run.
///     schema.position(&config.into)?;
///     let say = move |state: Snap<DynState>| {
///         let update = state.update().append(&config.into, [&config.text]);
///         async move { update }
///     };
///     Ok::<_, FieldError>(say)
/// });
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let graph = Graph::from_json(r#"{
///     "version": 1,
///     "name": "greeting",
///     "fields": [{ "name": "lines", "merge": "append" }],
///     "nodes": [{ "name": "hello", "use": "say", "config": { "into": "lines", "text": "Good evening." } }],
///     "edges": [{ "from": "__start__", "to": "hello" }, { "from": "hello", "to": "__end__" }]
/// }"#, &registry).unwrap();
/// let end = graph.runner().thread("guest-7").run(Default::default()).await.unwrap();
/// assert_eq!(end.state.get("lines").unwrap(), &json!(["Good evening."]));
/// # });
/// ```
#[derive(Default)]
#[must_use = "a registry does nothing until a graph is built with it"]
pub struct Registry {
    nodes: BTreeMap<Name, MakeNode>,
    routers: BTreeMap<Name, MakeRouter>,
    reducers: BTreeMap<Name, ReducerFn>,
    predicates: BTreeMap<Name, Predicate>,
}

impl Registry {
    /// Nothing is registered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a kind of node. Its constructor is given the config of each node of this kind. A node without one
    /// gives `()`, or a struct whose fields all have defaults.
    pub fn node<T, N, E, M>(
        self,
        name: impl Into<Name>,
        make: impl Fn(T) -> Result<N, E> + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned,
        N: IntoNode<DynState, M>,
        E: Into<NodeError>,
    {
        self.node_in(name, move |config, _| make(config))
    }

    /// The same for a constructor that looks at the fields of the graph's state.
    pub fn node_in<T, N, E, M>(
        mut self,
        name: impl Into<Name>,
        make: impl Fn(T, &Arc<Schema>) -> Result<N, E> + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned,
        N: IntoNode<DynState, M>,
        E: Into<NodeError>,
    {
        let make = move |config: &Value, schema: &Arc<Schema>| {
            let node = make(config_of(config)?, schema).map_err(source)?;
            Ok(node.into_node())
        };
        self.nodes.insert(name.into(), Box::new(make));
        self
    }

    /// Registers a router. Its constructor is given the config of each router of this name and returns the function
    /// that decides, which must be a pure function of the state.
    ///
    /// ```
    /// use graph_engine::{DynState, NamedNext, NodeError, Registry};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct ByField {
    ///     field: String,
    ///     set: String,
    ///     unset: String,
    /// }
    ///
    /// let registry = Registry::new().router("by_field", |config: ByField| {
    ///     Ok::<_, NodeError>(move |state: &DynState| {
    ///         let is_set = !state.get(&config.field)?.is_null();
    ///         Ok::<_, NodeError>(NamedNext::go(if is_set { &config.set } else { &config.unset }.as_str()))
    ///     })
    /// });
    /// # let _ = registry;
    /// ```
    pub fn router<T, F, N, E>(
        self,
        name: impl Into<Name>,
        make: impl Fn(T) -> Result<F, E> + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned,
        F: Fn(&DynState) -> N + Send + Sync + 'static,
        N: IntoNamedNext,
        E: Into<NodeError>,
    {
        self.router_in(name, move |config, _| make(config))
    }

    /// The same for a constructor that looks at the fields of the graph's state.
    pub fn router_in<T, F, N, E>(
        mut self,
        name: impl Into<Name>,
        make: impl Fn(T, &Arc<Schema>) -> Result<F, E> + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned,
        F: Fn(&DynState) -> N + Send + Sync + 'static,
        N: IntoNamedNext,
        E: Into<NodeError>,
    {
        let make = move |config: &Value, schema: &Arc<Schema>| {
            let choose = make(config_of(config)?, schema).map_err(source)?;
            Ok(Box::new(move |state: &DynState| choose(state).into_named_next()) as RouterChoice)
        };
        self.routers.insert(name.into(), Box::new(make));
        self
    }

    /// Registers a reducer: the new value of a field, from its value and an item.
    ///
    /// ```
    /// use graph_engine::Registry;
    /// use serde_json::{Value, json};
    ///
    /// fn sum(total: &Value, item: Value) -> Result<Value, String> {
    ///     Ok(json!(total.as_i64().unwrap_or(0) + item.as_i64().ok_or("not a number")?))
    /// }
    ///
    /// let registry = Registry::new().reducer("sum", sum);
    /// # let _ = registry;
    /// ```
    pub fn reducer<E: Into<BoxError>>(
        mut self,
        name: impl Into<Name>,
        reduce: impl Fn(&Value, Value) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        self.reducers.insert(name.into(), Arc::new(move |value, item| reduce(value, item).map_err(Into::into)));
        self
    }

    /// Registers a predicate: which failures a retry policy tries again.
    pub fn predicate(
        mut self,
        name: impl Into<Name>,
        accept: impl Fn(&NodeError) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.predicates.insert(name.into(), Arc::new(accept));
        self
    }

    /// A node of a kind; the known kinds if there is none of the name, or the text of why it can't be made.
    pub(crate) fn make_node(
        &self,
        kind: &Name,
        config: &Value,
        schema: &Arc<Schema>,
    ) -> Result<NodeSpec<DynState>, Refused> {
        let make = self.nodes.get(kind).ok_or_else(|| Refused::Unknown(names(&self.nodes)))?;
        guarded(|| make(config, schema))
    }

    /// The same for a router.
    pub(crate) fn make_router(
        &self,
        name: &Name,
        config: &Value,
        schema: &Arc<Schema>,
    ) -> Result<RouterChoice, Refused> {
        let make = self.routers.get(name).ok_or_else(|| Refused::Unknown(names(&self.routers)))?;
        guarded(|| make(config, schema))
    }

    pub(crate) fn find_reducer(&self, name: &Name) -> Option<ReducerFn> {
        self.reducers.get(name).cloned()
    }

    pub(crate) fn reducer_names(&self) -> Vec<String> {
        names(&self.reducers)
    }

    /// A predicate, or the known ones.
    pub(super) fn find_predicate(&self, name: &Name) -> Result<Predicate, Vec<String>> {
        self.predicates.get(name).cloned().ok_or_else(|| names(&self.predicates))
    }
}

/// Why there is no node or router.
pub(crate) enum Refused {
    /// Nothing has the name; these have.
    Unknown(Vec<String>),
    /// Its config is wrong.
    Config(String),
}

fn names<T>(registered: &BTreeMap<Name, T>) -> Vec<String> {
    registered.keys().map(|name| name.to_string()).collect()
}

/// The constructor is the user's: a panic in it is a mistake like another.
fn guarded<T>(make: impl FnOnce() -> Result<T, BoxError>) -> Result<T, Refused> {
    match catch_unwind(AssertUnwindSafe(make)) {
        Ok(made) => made.map_err(|error| Refused::Config(text_of(&error))),
        Err(panic) => Err(Refused::Config(format!("it panicked: {}", panic_text(&*panic)))),
    }
}

fn source(error: impl Into<NodeError>) -> BoxError {
    error.into().into_parts().1
}

/// A config that is left out reads as `()` or as an object without members.
fn config_of<T: DeserializeOwned>(config: &Value) -> Result<T, BoxError> {
    match T::deserialize(config) {
        Err(_) if config.is_null() => Ok(T::deserialize(Value::Object(serde_json::Map::new()))?),
        read => Ok(read?),
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("nodes", &self.nodes.keys())
            .field("routers", &self.routers.keys())
            .field("reducers", &self.reducers.keys())
            .field("predicates", &self.predicates.keys())
            .finish()
    }
}
