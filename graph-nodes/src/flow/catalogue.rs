//! Which models there are, by name, and what each can be asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::FlowProblem;
use crate::model::{ChatModel, ChunkStream, ModelError, Request, Response};

/// Which models the stages of a [`Flow`](super::Flow) may name.
///
/// A name that is not here, a name that is here twice, and a parameter that a model doesn't support are errors when
/// the flow is built. The name of the entry is what every attempt is accounted under.
///
/// ```
/// use graph_nodes::flow::{Catalogue, ModelEntry};
/// use graph_nodes::model::{ScriptedModel, Turn};
///
/// let catalogue = Catalogue::new()
///     .with(ModelEntry::new("small", ScriptedModel::new([Turn::text("hi")])).provider("offline"))
///     .with(ModelEntry::provided("large").supports(["temperature", "seed"]));
/// assert_eq!(catalogue.names().collect::<Vec<_>>(), ["large", "small"]);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Catalogue {
    entries: BTreeMap<String, ModelEntry>,
    twice: Vec<String>,
}

/// One model of a [`Catalogue`].
///
/// ```
/// use graph_nodes::flow::ModelEntry;
///
/// let entry = ModelEntry::provided("large").provider("acme").id("acme-large-3").supports(["temperature"]);
/// assert!(entry.can("temperature") && !entry.can("seed"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelEntry {
    name: String,
    provider: Option<String>,
    id: Option<String>,
    parameters: BTreeSet<String>,
    model: Option<Arc<dyn ChatModel>>,
}

impl Catalogue {
    /// No models.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a model.
    pub fn with(mut self, entry: ModelEntry) -> Self {
        let name = entry.name.clone();
        if self.entries.insert(name.clone(), entry).is_some() {
            self.twice.push(name);
        }
        self
    }

    /// The names of all models, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The model with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ModelEntry> {
        self.entries.get(name)
    }

    pub(super) fn problems(&self) -> impl Iterator<Item = FlowProblem> {
        self.twice.iter().map(|model| FlowProblem::DuplicateModel { model: model.clone() })
    }
}

impl ModelEntry {
    /// A model under a name.
    pub fn new(name: impl Into<String>, model: impl ChatModel) -> Self {
        Self { model: Some(Arc::new(model)), ..Self::provided(name) }
    }

    /// The model that the runner provides as a `dyn ChatModel`: found missing when a turn begins. It is accounted
    /// under its own name.
    pub fn provided(name: impl Into<String>) -> Self {
        Self { name: name.into(), provider: None, id: None, parameters: BTreeSet::new(), model: None }
    }

    /// Who serves it, for diagrams and reports.
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// What the provider calls it; becomes [`Request::model`].
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The parameters that it takes beside messages and tools.
    pub fn supports<N: Into<String>>(mut self, parameters: impl IntoIterator<Item = N>) -> Self {
        self.parameters.extend(parameters.into_iter().map(Into::into));
        self
    }

    /// The name in the catalogue.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who serves it, if that was said.
    #[must_use]
    pub fn provider_name(&self) -> Option<&str> {
        self.provider.as_deref()
    }

    /// Whether it takes the parameter.
    #[must_use]
    pub fn can(&self, parameter: &str) -> bool {
        self.parameters.contains(parameter)
    }

    /// The parameters that it takes, sorted.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(String::as_str)
    }

    /// The model, unless the runner provides it.
    pub(super) fn model(&self) -> Option<Catalogued> {
        let inner = self.model.clone()?;
        Some(Catalogued { name: self.name.clone(), inner })
    }

    pub(super) fn provider_id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

impl fmt::Debug for ModelEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelEntry")
            .field("name", &self.name)
            .field("provider", &self.provider)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// A model under the name of its entry.
pub(super) struct Catalogued {
    name: String,
    inner: Arc<dyn ChatModel>,
}

#[async_trait]
impl ChatModel for Catalogued {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: Request) -> Result<ChunkStream, ModelError> {
        self.inner.stream(request).await
    }

    async fn complete(&self, request: Request) -> Result<Response, ModelError> {
        self.inner.complete(request).await
    }
}
