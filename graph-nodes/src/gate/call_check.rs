//! Arguments of calls against schemas and against the state.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::builtin::reject_if_any;
use super::{CheckError, Code, Validator, Verdict};
use crate::message::ToolCall;
use crate::model::{Response, ToolSpec};
use crate::schema::{Schema, clip};

/// The longest id or name of a call that is told to the model, in characters.
const LONGEST_NAME: usize = 80;

/// How a call is told of.
pub(super) fn call_of(call: &ToolCall) -> String {
    format!("call `{}` of `{}`", clip(&call.id, LONGEST_NAME), clip(&call.name, LONGEST_NAME))
}

/// Rejects a response with a call whose arguments can't be read or don't fit the schema of its tool. Code `arguments`.
/// Without it such a call is answered with an error, while its siblings run. Tools without a schema here are
/// [`AllowedTools`](super::AllowedTools)' business.
///
/// ```
/// use graph_nodes::gate::{ArgumentsFit, Validator};
/// use graph_nodes::message::ToolCall;
/// use graph_nodes::model::{Response, ToolSpec};
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"nights": {"type": "integer"}}});
/// let fit = ArgumentsFit::new([ToolSpec::new("book", "Books.", schema)])?;
/// let response = Response::from_calls([ToolCall::from_text("c1", "book", r#"{"nights": "two"}"#)]);
/// let verdict = fit.validate(&response, &());
/// assert_eq!(
///     format!("{verdict:?}"),
///     r#"Retry { code: Code("arguments"), feedback: Some("call `c1` of `book`: at `/nights`: value is not of type \"integer\"") }"#,
/// );
/// # Ok::<(), graph_nodes::gate::CheckError>(())
/// ```
#[derive(Clone)]
pub struct ArgumentsFit {
    schemas: Arc<BTreeMap<String, Schema>>,
}

impl ArgumentsFit {
    /// The tools with their schemas, as a model is told of them.
    ///
    /// # Errors
    /// [`CheckError::Schema`].
    pub fn new(tools: impl IntoIterator<Item = ToolSpec>) -> Result<Self, CheckError> {
        let compile = |tool: ToolSpec| match Schema::compile(&tool.parameters) {
            Ok(schema) => Ok((tool.name, schema)),
            Err((place, message)) => {
                Err(CheckError::Schema { of: format!("the arguments of `{}`", tool.name), place, message })
            }
        };
        let schemas = tools.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { schemas: Arc::new(schemas) })
    }

    fn fault(&self, call: &ToolCall) -> Option<String> {
        if let Some(fault) = call.fault() {
            return Some(fault.to_string());
        }
        let schema = self.schemas.get(&call.name)?;
        let arguments = Value::Object(call.arguments.parsed().ok()?.clone());
        let faults = schema.faults(&arguments);
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

impl<S: ?Sized> Validator<S> for ArgumentsFit {
    fn name(&self) -> &str {
        "arguments_fit"
    }

    fn validate(&self, response: &Response, _: &S) -> Verdict {
        let faults = response.calls.iter().filter_map(|call| Some(format!("{}: {}", call_of(call), self.fault(call)?)));
        reject_if_any(Code::ARGUMENTS, faults.collect())
    }
}

impl fmt::Debug for ArgumentsFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArgumentsFit").field(&self.schemas.keys()).finish()
    }
}

/// A closure over the arguments of one tool and the state.
pub(super) struct CallCheck<T, F> {
    tool: String,
    name: String,
    check: F,
    reads: PhantomData<fn() -> T>,
}

impl<T, F> CallCheck<T, F> {
    pub(super) fn new(tool: String, check: F) -> Self {
        Self { name: format!("arguments of `{tool}`"), tool, check, reads: PhantomData }
    }
}

impl<S, T, F> Validator<S> for CallCheck<T, F>
where
    S: ?Sized,
    T: DeserializeOwned + 'static,
    F: Fn(T, &S) -> Result<(), String> + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn validate(&self, response: &Response, state: &S) -> Verdict {
        let fault = |call: &ToolCall| {
            let arguments = match call.arguments.parsed() {
                Ok(arguments) => Value::Object(arguments.clone()),
                Err(error) => return Some(error.to_string()),
            };
            match T::deserialize(arguments) {
                Ok(arguments) => (self.check)(arguments, state).err(),
                Err(error) => Some(clip(&error.to_string(), 240)),
            }
        };
        let faults = response
            .calls
            .iter()
            .filter(|call| call.name == self.tool)
            .filter_map(|call| Some(format!("{}: {}", call_of(call), fault(call)?)));
        reject_if_any(Code::ARGUMENTS, faults.collect())
    }
}
