//! What an accepted structured output does to the state.

use std::any::type_name;
use std::sync::Arc;

use graph_engine::{Name, State};
use serde::de::DeserializeOwned;

use super::StageError;
use crate::schema::clip;

type Compose<S> = Arc<dyn Fn(&str, &S) -> Result<<S as State>::Update, serde_json::Error> + Send + Sync>;

/// Reads the text and makes an update of it.
pub(super) struct Output<S: State> {
    wanted: &'static str,
    compose: Compose<S>,
}

impl<S: State> Output<S> {
    pub(super) fn new<T: DeserializeOwned + 'static>(
        compose: impl Fn(T, &S) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        let compose = move |text: &str, state: &S| Ok(compose(serde_json::from_str(text)?, state));
        Self { wanted: type_name::<T>(), compose: Arc::new(compose) }
    }

    pub(super) fn update(&self, stage: &Name, text: &str, state: &S) -> Result<S::Update, StageError> {
        (self.compose)(text, state).map_err(|error| StageError::Output {
            stage: stage.clone(),
            wanted: self.wanted,
            message: clip(&error.to_string(), 240),
        })
    }
}
