//! What a `#[tool]` function may ask for beside the arguments of the model.

use std::ops::Deref;

use graph_engine::{Ctx, Need, Res, Snap, State};
use tokio_util::sync::CancellationToken;

use super::{Call, ToolError};

/// An argument of a [`#[tool]`](macro@super::tool) function that doesn't come from the model.
///
/// | argument | what it is |
/// | --- | --- |
/// | [`Snap<S>`] | the state as the super-step found it |
/// | [`Res<T>`] | a resource; found missing when a turn begins |
/// | [`Ctx`] | run metadata, cancellation and events |
/// | [`CancellationToken`] | is cancelled when the call is to stop |
/// | [`CallInfo`] | the call's id, the tool's name, the key for effects outside |
/// | [`Call<'static, S>`](Call) | all of it |
///
/// `#[tool]` knows these by their names. Any other type with this trait is marked `#[tool(inject)]`:
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{Call, FromCall, Tool, ToolError, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     guest: String,
/// }
///
/// struct Guest(String);
///
/// impl FromCall<Trip> for Guest {
///     fn from_call(call: &Call<'_, Trip>) -> Result<Self, ToolError> {
///         match call.state().guest.as_str() {
///             "" => Err("ask for the guest's name first".into()),
///             guest => Ok(Guest(guest.to_owned())),
///         }
///     }
/// }
///
/// /// Greets the guest.
/// #[tool(state = Trip)]
/// async fn greet(#[tool(inject)] guest: Guest) -> String {
///     format!("Hello {}!", guest.0)
/// }
/// assert_eq!(Tool::<Trip>::spec(&greet).name, "greet");
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool over the state `{S}` cannot ask for `{Self}`",
    label = "not an extractor of a tool",
    note = "beside the arguments of the model a tool may ask for `Snap<{S}>`, `Res<resource>`, `Ctx`, \
            `CancellationToken`, `CallInfo`, `Call<'static, {S}>`, and what implements `FromCall<{S}>`",
    note = "`#[tool(state = ..)]` names the state"
)]
pub trait FromCall<S: State>: Sized {
    /// The resources that it asks for, so that they are found missing when a turn begins.
    #[must_use]
    fn needs() -> Vec<Need> {
        Vec::new()
    }

    /// Takes it out of the call.
    ///
    /// # Errors
    /// What the model is told instead of a result; the function isn't called then.
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError>;
}

impl<S: State> FromCall<S> for Snap<S> {
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        Ok(call.snapshot())
    }
}

impl<S: State, T: ?Sized + Send + Sync + 'static> FromCall<S> for Res<T> {
    fn needs() -> Vec<Need> {
        vec![Need::of::<T>()]
    }

    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        call.resource().map(Self::from)
    }
}

impl<S: State> FromCall<S> for Ctx {
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        Ok(call.ctx())
    }
}

impl<S: State> FromCall<S> for CancellationToken {
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        Ok(call.ctx().cancellation())
    }
}

impl<S: State> FromCall<S> for Call<'static, S> {
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        Ok(call.clone().into_owned())
    }
}

/// Which call it is, for a [`#[tool]`](macro@super::tool) function.
///
/// ```
/// use graph_nodes::tool::{CallInfo, tool};
///
/// /// Books the room.
/// #[tool]
/// async fn book(room: String, call: CallInfo) -> String {
///     format!("{room} is booked as {}", call.idempotency_key)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let call = CallInfo { id: "call_1".into(), tool: "book".into(), idempotency_key: "k1".into() };
/// assert_eq!(book("12".into(), call).await, "12 is booked as k1");
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallInfo {
    /// The id of the call, which its answer carries.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// A key for effects outside: the same in every attempt of this call, and in no other call.
    pub idempotency_key: String,
}

impl<S: State> FromCall<S> for CallInfo {
    fn from_call(call: &Call<'_, S>) -> Result<Self, ToolError> {
        let (id, tool) = (call.id().to_owned(), call.name().to_owned());
        Ok(Self { id, tool, idempotency_key: call.idempotency_key() })
    }
}

/// All arguments of the model as one struct, for a [`#[tool]`](macro@super::tool) function: the struct's derives say
/// more of them than a function's arguments can.
///
/// ```
/// use graph_engine::State;
/// use graph_nodes::tool::{Args, Tool, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Stay {
///     #[schemars(range(min = 1, max = 30))]
///     nights: u8,
/// }
///
/// /// Counts breakfasts.
/// #[tool]
/// async fn breakfasts(Args(stay): Args<Stay>) -> String {
///     stay.nights.to_string()
/// }
/// assert_eq!(Tool::<Trip>::spec(&breakfasts).parameters["properties"]["nights"]["maximum"], 30);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args<T>(pub T);

impl<T> Deref for Args<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
