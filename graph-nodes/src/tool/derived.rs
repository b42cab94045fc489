//! What the code that `#[tool]` makes calls. Not part of the API.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use graph_engine::{Need, State};
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde::de::value::Error as DeError;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Serialize, forward_to_deserialize_any};
use serde_json::{Map, Value, json};

use super::FromCall;
pub use super::{Args, Call, Confirm, IntoToolReply, Tool, ToolError, ToolReply, schema_of};
pub use crate::model::ToolSpec;
use crate::schema::settings;

/// A type that a model can give as an argument.
#[diagnostic::on_unimplemented(
    message = "a model cannot give a `{Self}` as the argument of a tool",
    label = "not an argument of a tool",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "what the call provides instead of the model is marked `#[tool(inject)]`"
)]
pub trait ToolArgument: JsonSchema + DeserializeOwned + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + DeserializeOwned + Send + 'static> ToolArgument for T {}

pub type ArgumentMap = Map<String, Value>;
pub type Answer<S> = Result<ToolReply<S>, ToolError>;
pub type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One argument of the model. The bound is on [`argument`] alone, so that what lacks it is told once.
pub struct Argument<T> {
    name: &'static str,
    description: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: fn(Option<&Value>) -> Result<T, String>,
    default: Option<Default<T>>,
}

struct Default<T> {
    make: fn() -> T,
    json: fn() -> Option<Value>,
}

pub fn argument<T: ToolArgument>(name: &'static str, description: &'static str) -> Argument<T> {
    Argument { name, description, schema: SchemaGenerator::subschema_for::<T>, read: read::<T>, default: None }
}

impl<T> Argument<T> {
    #[must_use]
    pub fn or(mut self, make: fn() -> T, json: fn() -> Option<Value>) -> Self {
        self.default = Some(Default { make, json });
        self
    }
}

/// A default as the schema shows it.
pub fn shown(value: impl Serialize) -> Option<Value> {
    serde_json::to_value(value).ok()
}

fn read<T: DeserializeOwned>(value: Option<&Value>) -> Result<T, String> {
    match value {
        Some(value) => T::deserialize(value).map_err(|error| error.to_string()),
        None => T::deserialize(Missing).map_err(|error| error.to_string()),
    }
}

/// A value that is not there: `None` to what can do without.
struct Missing;

impl<'de> Deserializer<'de> for Missing {
    type Error = DeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, DeError> {
        Err(DeError::custom("it is missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeError> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// An argument, whatever its type.
pub trait Property {
    fn add(&self, generator: &mut SchemaGenerator, properties: &mut Map<String, Value>, required: &mut Vec<Value>);
}

impl<T> Property for Argument<T> {
    fn add(&self, generator: &mut SchemaGenerator, properties: &mut Map<String, Value>, required: &mut Vec<Value>) {
        let mut schema = (self.schema)(generator);
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), self.description.into());
        }
        match &self.default {
            Some(default) => {
                if let Some(value) = (default.json)() {
                    schema.insert("default".to_owned(), value);
                }
            }
            None if (self.read)(None).is_err() => required.push(self.name.into()),
            None => {}
        }
        properties.insert(self.name.to_owned(), schema.to_value());
    }
}

/// The schema of a function's arguments.
pub fn object_schema(arguments: &[&dyn Property]) -> Value {
    let mut generator = settings().into_generator();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments {
        argument.add(&mut generator, &mut properties, &mut required);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    schema
}

/// Reads the arguments of one call, and collects what can't be read.
pub struct Reader<'a> {
    tool: &'a str,
    arguments: &'a Map<String, Value>,
    faults: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn new<S: State>(call: &'a Call<'_, S>) -> Self {
        Self { tool: call.name(), arguments: call.arguments(), faults: Vec::new() }
    }

    pub fn take<T>(&mut self, argument: &Argument<T>) -> Option<T> {
        let value = self.arguments.get(argument.name);
        if let (None, Some(default)) = (value, &argument.default) {
            return Some((default.make)());
        }
        match (argument.read)(value) {
            Ok(value) => Some(value),
            Err(error) => {
                self.faults.push(format!("at `/{}`: {error}", argument.name));
                None
            }
        }
    }

    /// All arguments of one struct.
    pub fn whole<T>(&mut self, argument: &Whole<T>) -> Option<Args<T>> {
        match (argument.read)(&Value::Object(self.arguments.clone())) {
            Ok(value) => Some(Args(value)),
            Err(error) => {
                self.faults.push(error);
                None
            }
        }
    }

    #[must_use]
    pub fn fault(self) -> ToolError {
        super::args_fault::unreadable(self.tool, &self.faults.join("; ")).into()
    }
}

/// All arguments as one struct.
pub struct Whole<T> {
    schema: fn() -> Value,
    read: fn(&Value) -> Result<T, String>,
}

pub fn whole<T: ToolArgument>() -> Whole<T> {
    Whole { schema: schema_of::<T>, read: |value| T::deserialize(value).map_err(|error| error.to_string()) }
}

impl<T> Whole<T> {
    #[must_use]
    pub fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// One argument that the call provides.
pub struct Injected<S: State, T> {
    needs: fn() -> Vec<Need>,
    take: fn(&Call<'_, S>) -> Result<T, ToolError>,
}

pub fn injected<S: State, T: FromCall<S>>() -> Injected<S, T> {
    Injected { needs: T::needs, take: T::from_call }
}

impl<S: State, T> Injected<S, T> {
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        (self.needs)()
    }

    pub fn take(&self, call: &Call<'_, S>) -> Result<T, ToolError> {
        (self.take)(call)
    }
}

pub fn into_reply<S: State, R: IntoToolReply<S>>(result: R) -> Answer<S> {
    result.into_tool_reply()
}

macro_rules! opaque {
    ($($name:ident<$($param:ident $(: $bound:ident)?),*>),*) => {$(
        impl<$($param $(: $bound)?),*> fmt::Debug for $name<$($param),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}
opaque!(Argument<T>, Whole<T>, Injected<S: State, T>);

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("tool", &self.tool).finish_non_exhaustive()
    }
}
