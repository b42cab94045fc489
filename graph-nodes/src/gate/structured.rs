//! Structured output: a text that has to be JSON of a given shape.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::repair::repair;
use super::{CheckError, Code, Reason, Repair};
use crate::model::{Request, Response};
use crate::schema::{Schema, clip, schema_of};

/// Says why a text is not of a type.
type Reads = fn(&str) -> Result<(), String>;

/// What the text of a response without calls has to be: JSON that fits a schema.
///
/// A part of [`Validators`](super::Validators::with_structured). The model is told of the schema by
/// [`request`](Self::request), and on a rejection of the paths that don't fit; what it wrote is not quoted.
///
/// ```
/// use graph_nodes::gate::StructuredOutput;
/// use graph_nodes::model::{Request, Response};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Offer {
///     hotel: String,
///     price: u32,
/// }
///
/// let offer = StructuredOutput::of::<Offer>()?;
/// assert_eq!(offer.request(Request::default()).response_schema.as_ref(), Some(offer.schema()));
/// assert_eq!(offer.check(&Response::from_text(r#"{"hotel": "Inn", "price": 90}"#)), Ok(()));
/// let reason = offer.check(&Response::from_text(r#"{"hotel": "Inn", "price": "90"}"#)).unwrap_err();
/// assert_eq!(
///     reason.to_string(),
///     "`schema` (the answer doesn't fit its schema: at `/price`: value is not of type \"integer\"; correct it)",
/// );
/// # Ok::<(), graph_nodes::gate::CheckError>(())
/// ```
#[derive(Clone)]
pub struct StructuredOutput {
    schema: Arc<Value>,
    compiled: Arc<Schema>,
    /// Whether a value that fits the schema is the type, too.
    reads: Option<Reads>,
    repair: bool,
}

impl StructuredOutput {
    /// JSON that fits this schema.
    ///
    /// # Errors
    /// [`CheckError::Schema`].
    pub fn new(schema: Value) -> Result<Self, CheckError> {
        let compiled = Schema::compile(&schema).map_err(|(place, message)| CheckError::Schema {
            of: "the structured output".to_owned(),
            place,
            message,
        })?;
        Ok(Self { schema: Arc::new(schema), compiled: Arc::new(compiled), reads: None, repair: false })
    }

    /// JSON that can be read as a `T`: it fits the type's schema, and the type takes it.
    ///
    /// # Errors
    /// [`CheckError::Schema`], if the type describes itself by something that is no schema.
    pub fn of<T: JsonSchema + DeserializeOwned>() -> Result<Self, CheckError> {
        Ok(Self::new(schema_of::<T>())?.read_as::<T>())
    }

    /// Also demands that the type takes it.
    pub(crate) fn read_as<T: DeserializeOwned>(mut self) -> Self {
        self.reads = Some(|text| match serde_json::from_str::<T>(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        });
        self
    }

    /// Sets syntax right that models get wrong around JSON, before it is judged: a code fence around the whole text,
    /// commas before a closing bracket. Nothing else, and never of a response that was cut off. What was done is in
    /// the ledger ([`Attempt::repaired`](super::Attempt::repaired)); the repaired text is what is accepted.
    ///
    /// ```
    /// use graph_nodes::gate::{Repair, StructuredOutput};
    /// use graph_nodes::model::Response;
    ///
    /// let lenient = StructuredOutput::new(serde_json::json!({"type": "object"}))?.with_repair();
    /// let (text, done) = lenient.repair(&Response::from_text("```json\n{\"a\": 1,}\n```")).unwrap();
    /// assert_eq!((text.as_str(), done), ("{\"a\": 1}", vec![Repair::CodeFence, Repair::TrailingCommas]));
    /// # Ok::<(), graph_nodes::gate::CheckError>(())
    /// ```
    #[must_use]
    pub fn with_repair(mut self) -> Self {
        self.repair = true;
        self
    }

    /// The schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The request that tells a model of the schema.
    #[must_use]
    pub fn request(&self, request: Request) -> Request {
        request.with_response_schema(self.schema().clone())
    }

    /// What is wrong with the text: no JSON (code `parse`) or another shape (code `schema`).
    ///
    /// # Errors
    /// The reason, for the model.
    pub fn check(&self, response: &Response) -> Result<(), Reason> {
        let value = parse(&response.text)?;
        let mut faults = self.compiled.faults(&value);
        if faults.is_empty() {
            // The error of serde may quote what it read.
            faults.extend(self.reads.and_then(|reads| reads(&response.text).err()).map(|error| clip(&error, 240)));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let message = format!("the answer doesn't fit its schema: {}; correct it", faults.join("; "));
        Err(Reason { code: Code::SCHEMA, validator: None, message: Some(message) })
    }

    /// The repaired text and what was done, where repair was asked for, the text is no JSON as it is, and is JSON then.
    pub fn repair(&self, response: &Response) -> Option<(String, Vec<Repair>)> {
        if !self.repair || response.cut_off().is_some() || parse(&response.text).is_ok() {
            return None;
        }
        repair(&response.text).filter(|(text, _)| parse(text).is_ok())
    }
}

/// What the gate checks of structured output: everything where it knows what it has to be, else that it is JSON.
pub(super) fn structured_fault(expected: Option<&StructuredOutput>, response: &Response) -> Option<Reason> {
    // A response that calls tools has no structured output yet.
    if !response.calls.is_empty() {
        return None;
    }
    match (expected, response.structured_output()) {
        (Some(expected), _) => expected.check(response).err(),
        (None, Some(text)) => parse(text).err(),
        (None, None) => None,
    }
}

fn parse(text: &str) -> Result<Value, Reason> {
    // The parser stops at 128 levels, so that depth can't overflow the stack.
    serde_json::from_str(text).map_err(|error| {
        let message = format!("the answer is not valid JSON ({error}); send JSON alone");
        Reason { code: Code::PARSE, validator: None, message: Some(message) }
    })
}

impl fmt::Debug for StructuredOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StructuredOutput")
            .field("schema", &self.schema)
            .field("repair", &self.repair)
            .finish_non_exhaustive()
    }
}
