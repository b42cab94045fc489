//! What one task is given of its own: a value that travels by pointer and is serialised only at a commit.

use std::any::{Any, TypeId, type_name};
use std::fmt::{self, Display};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::NodeError;
use crate::state::to_json;

/// The type of a payload, as sender and receiver publish it.
///
/// ```
/// use graph_engine::PayloadType;
///
/// assert_eq!(PayloadType::of::<u32>(), PayloadType::of::<u32>());
/// assert_ne!(PayloadType::of::<u32>(), PayloadType::of::<i32>());
/// assert_eq!(PayloadType::of::<u32>().name(), "u32");
/// ```
#[derive(Clone, Copy)]
pub struct PayloadType {
    id: TypeId,
    name: fn() -> &'static str,
}

impl PayloadType {
    /// The type `T`.
    #[must_use]
    pub const fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T> }
    }

    /// The type's name as rustc writes it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        (self.name)()
    }
}

impl PartialEq for PayloadType {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for PayloadType {}

impl fmt::Debug for PayloadType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value for one task. Cloning it copies one pointer.
///
/// ```
/// use graph_engine::Payload;
///
/// let payload = Payload::new(7_u32);
/// assert_eq!(*payload.get::<u32>().unwrap(), 7);
/// assert!(payload.get::<String>().is_err());
/// ```
#[derive(Clone)]
pub struct Payload(Arc<dyn Value>);

trait Value: Any + Send + Sync {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    fn to_raw(&self) -> Result<Box<RawValue>, String>;
    fn type_name(&self) -> &'static str;
    fn stored(&self) -> Option<&RawValue> {
        None
    }
}

impl<T: Serialize + Send + Sync + 'static> Value for T {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn to_raw(&self) -> Result<Box<RawValue>, String> {
        to_json(self).and_then(|value| serde_json::value::to_raw_value(&value).map_err(|e| e.to_string()))
    }

    fn type_name(&self) -> &'static str {
        type_name::<T>()
    }
}

/// A payload as a checkpoint holds it: decoded when the task asks for it.
struct Stored(Box<RawValue>);

impl Value for Stored {
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn to_raw(&self) -> Result<Box<RawValue>, String> {
        Ok(self.0.clone())
    }

    fn type_name(&self) -> &'static str {
        "a stored value"
    }

    fn stored(&self) -> Option<&RawValue> {
        Some(&self.0)
    }
}

impl Payload {
    /// Wraps a value.
    pub fn new<T: Serialize + Send + Sync + 'static>(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// A payload read from a checkpoint.
    pub(crate) fn stored(json: Box<RawValue>) -> Self {
        Self(Arc::new(Stored(json)))
    }

    /// The value, if it is a `T`. A payload that comes from a checkpoint, or is JSON where a node asks for another type,
    /// is decoded.
    ///
    /// # Errors
    /// A fatal error that names both types, or what serde says of the stored value.
    pub fn get<T: DeserializeOwned + Send + Sync + 'static>(&self) -> Result<Arc<T>, NodeError> {
        self.get_of("the stored payload")
    }

    /// The same; an error calls a payload that comes from a checkpoint so.
    pub(crate) fn get_of<T: DeserializeOwned + Send + Sync + 'static>(
        &self,
        stored: impl Display,
    ) -> Result<Arc<T>, NodeError> {
        if let Some(json) = self.0.stored() {
            return serde_json::from_str(json.get())
                .map(Arc::new)
                .map_err(|e| NodeError::fatal(format!("{stored} has not the type `{}`: {e}", type_name::<T>())));
        }
        let name = self.0.type_name();
        let other = match self.0.clone().as_any().downcast() {
            Ok(value) => return Ok(value),
            Err(other) => other,
        };
        let wanted = type_name::<T>();
        match other.downcast_ref::<serde_json::Value>() {
            Some(json) => T::deserialize(json)
                .map(Arc::new)
                .map_err(|e| NodeError::fatal(format!("the payload is JSON, but not of the type `{wanted}`: {e}"))),
            None => Err(NodeError::fatal(format!(
                "the payload has type `{name}`, but the node asks for type `{wanted}`; make both the same"
            ))),
        }
    }

    /// The value as JSON.
    pub(crate) fn to_raw(&self) -> Result<Box<RawValue>, String> {
        self.0.to_raw()
    }
}

impl Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_raw().map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Payload {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::stored)
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({})", self.0.type_name())
    }
}
