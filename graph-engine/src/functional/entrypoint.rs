//! A plain async function as a graph of one node.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::runner::{WorkflowClock, WorkflowRunner};
use super::{Final, INPUT, OUTPUT, SAVED, Workflow};
use crate::compile_error::CompileError;
use crate::error::NodeError;
use crate::graph::Graph;
use crate::name::Name;
use crate::node::{IntoNode, Node, NodeExt, NodeSpec, Retry};
use crate::state::dynamic::{DynState, Schema, SchemaField};
use crate::state::to_json;
use crate::task::{Ctx, END, Outcome, START, Task};

/// A plain async function with the durability of a graph: of a [`Workflow`] and its input, to its output.
///
/// What it does between two runs of its body is kept by its [tasks](Workflow::task): after an answer, a failure or a crash
/// the function runs again from its first line, and every task that finished gives its stored result at once. Input and
/// output are JSON to the store, and so is what it saves for the next run of its thread: its output, or with
/// [`saving`](Self::saving) something else.
///
/// Behind it is a graph of one node, so threads, stores, retries, events and limits are those of a [`Graph`].
///
/// ```
/// use graph_engine::{Entrypoint, MemoryStore, NodeError, Workflow};
///
/// let count = Entrypoint::new("count", |workflow: Workflow<u32>, word: String| async move {
///     let length = workflow.task("measure", || async { Ok::<_, NodeError>(word.len()) }).await?;
///     Ok(workflow.previous().copied().unwrap_or_default() + length as u32)
/// });
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let thread = count.runner().unwrap().store(MemoryStore::new()).thread("guest-7");
/// assert_eq!(thread.run(&"Oslo".to_owned()).await.unwrap().output, Some(4));
/// assert_eq!(thread.run(&"Bern".to_owned()).await.unwrap().output, Some(8));
/// # });
/// ```
#[must_use = "an entrypoint does nothing until a runner of it runs"]
pub struct Entrypoint<I, O, V = O> {
    name: Name,
    spec: NodeSpec<DynState>,
    types: PhantomData<fn(I) -> (O, V)>,
}

/// What the function returned and saved, as JSON.
type Returned = Result<(Value, Value), NodeError>;

type Body =
    Box<dyn Fn(Ctx, Value, Value, WorkflowClock) -> Pin<Box<dyn Future<Output = Returned> + Send>> + Send + Sync>;

/// The one node.
struct Function(Body);

impl<I, O> Entrypoint<I, O, O>
where
    I: Serialize + DeserializeOwned + Send + 'static,
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// A function whose output is also what it saves.
    pub fn new<F, Fut>(name: impl Into<Name>, body: F) -> Self
    where
        F: Fn(Workflow<O>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
    {
        Self::of(name.into(), body, |output| {
            let output = written("output", &output)?;
            Ok((output.clone(), output))
        })
    }
}

impl<I, O, V> Entrypoint<I, O, V>
where
    I: Serialize + DeserializeOwned + Send + 'static,
    O: Serialize + DeserializeOwned + Send + 'static,
    V: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// A function that saves something else than it returns.
    pub fn saving<F, Fut>(name: impl Into<Name>, body: F) -> Self
    where
        F: Fn(Workflow<V>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Final<O, V>, NodeError>> + Send + 'static,
    {
        Self::of(name.into(), body, |Final { value, save }| {
            Ok((written("output", &value)?, written("saved value", &save)?))
        })
    }

    fn of<F, Fut, R>(name: Name, body: F, split: fn(R) -> Returned) -> Self
    where
        F: Fn(Workflow<V>, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, NodeError>> + Send + 'static,
        R: 'static,
    {
        let function = Function(Box::new(move |ctx, input, saved, WorkflowClock(clock)| {
            let begun: Result<Fut, NodeError> = (|| {
                let input = read::<I>("input", input)?;
                // Saved values are in a list of one, because one may be null.
                let previous = read::<Option<(V,)>>("saved value of the last run", saved)?.map(|(saved,)| saved);
                Ok(body(Workflow::new(ctx, previous, clock), input))
            })();
            Box::pin(async move { split(begun?.await?) })
        }));
        Self { name, spec: function.into_node(), types: PhantomData }
    }

    /// Runs the whole function again when it fails; its finished tasks are not. See [`NodeExt::retry`].
    pub fn retry(self, retry: Retry) -> Self {
        Self { spec: self.spec.retry(retry), ..self }
    }

    /// How long one run of the function may take. See [`NodeExt::timeout`].
    pub fn timeout(self, limit: Duration) -> Self {
        Self { spec: self.spec.timeout(limit), ..self }
    }

    /// A runner without a store and resources.
    ///
    /// # Errors
    /// If the name can't be that of a graph and its node.
    pub fn runner(self) -> Result<WorkflowRunner<I, O>, CompileError> {
        let fields = [INPUT, OUTPUT, SAVED].map(SchemaField::new);
        // Three different names are always a schema.
        let schema = Schema::new(fields).unwrap_or_default();
        let graph = Graph::starting_from(self.name.clone(), DynState::new(schema))
            .node(self.name.clone(), self.spec)
            .edge(START, self.name.clone())
            .edge(self.name, END)
            .compile()?;
        Ok(WorkflowRunner::new(graph.runner()))
    }
}

#[async_trait]
impl Node<DynState> for Function {
    async fn run(&self, task: &Task<DynState>) -> Result<Outcome<DynState>, NodeError> {
        let state = task.state();
        let get = |field| state.get(field).cloned().map_err(NodeError::fatal);
        // `WorkflowRunner` provides it.
        let clock = task.resource::<WorkflowClock>().ok_or_else(|| NodeError::fatal("the workflow has no clock"))?;
        let (output, saved) = (self.0)(task.ctx(), get(INPUT)?, get(SAVED)?, (*clock).clone()).await?;
        let write = || state.update().set(OUTPUT, output)?.set(SAVED, Value::from(vec![saved]));
        Ok(Outcome::of(write().map_err(NodeError::fatal)?))
    }
}

fn written(what: &str, value: &impl Serialize) -> Result<Value, NodeError> {
    to_json(value)
        .map_err(|why| NodeError::fatal(format!("the {what} of the workflow can't be written as JSON: {why}")))
}

fn read<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, NodeError> {
    serde_json::from_value(value).map_err(|e| {
        let wanted = std::any::type_name::<T>();
        NodeError::fatal(format!(
            "the {what} that is stored is no `{wanted}`: {e}; use another thread, or read the old type"
        ))
    })
}

impl<I, O, V> Clone for Entrypoint<I, O, V> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), spec: self.spec.clone(), types: PhantomData }
    }
}

impl<I, O, V> fmt::Debug for Entrypoint<I, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entrypoint").field("name", &self.name).finish_non_exhaustive()
    }
}
