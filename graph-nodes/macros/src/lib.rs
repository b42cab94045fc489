//! The macro of `graph-nodes`, which re-exports it: [`macro@tool`].
//!
//! It reports all mistakes of one function in one run, every one at its own token.

mod argument;
mod doc;
mod expand;
mod mistakes;
mod signature;
mod words;

use proc_macro::TokenStream;

/// Makes an async function a tool.
///
/// ```
/// use graph_engine::{Res, Snap, State};
/// use graph_nodes::tool::{ToolBox, ToolReply, tool};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// struct Cities(Vec<&'static str>);
///
/// /// Saves the city of the trip.
/// #[tool]
/// async fn capture_city(
///     trip: Snap<Trip>,
///     cities: Res<Cities>,
///     /// As the guest wrote it.
///     city: String,
///     nights: Option<u8>,
/// ) -> Result<ToolReply<Trip>, String> {
///     if !cities.0.contains(&&*city) {
///         return Err(format!("`{city}` has no hotels; offer {:?}", cities.0));
///     }
///     let text = format!("{city} instead of {:?}, {nights:?}", trip.city);
///     Ok(ToolReply::text(text).update(Trip::update().city(city)))
/// }
///
/// let tools = ToolBox::builder().tool(capture_city).build().unwrap();
/// let spec = &tools.specs()[0];
/// assert_eq!((&*spec.name, &*spec.description), ("capture_city", "Saves the city of the trip."));
/// assert_eq!(spec.parameters["required"], serde_json::json!(["city"]));
///
/// // In a test it is called like any function.
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let cities = Cities(vec!["Oslo"]);
/// let error = capture_city(Trip::default().into(), cities.into(), "Bern".into(), None).await.unwrap_err();
/// assert_eq!(error, r#"`Bern` has no hotels; offer ["Oslo"]"#);
/// # });
/// ```
///
/// # What it makes of `capture_city`
/// A value of the same name, which is the tool and can be called like the function (it is a unit struct that derefs to
/// a `fn` with a boxed future; a place that wants an `impl Fn` takes `*capture_city`).
///
/// # What the model is told
/// * The name is the function's; letters, digits, `_` and `-`, at most 64, because providers refuse others.
/// * The description is the doc comment up to its first heading, so that `# Errors` and `# Examples` stay for people.
/// * Each argument that is no extractor is a property of the schema, described by its own doc comment. `Option<T>` may
///   be left out. Properties that the schema doesn't name are ignored, also those that bear the name of an extractor.
///
/// # Words
/// | on the function | |
/// | --- | --- |
/// | `name = "text"` | another name |
/// | `description = "text"` | instead of the doc comment |
/// | `state = Trip` | the state, where neither `Snap<Trip>`, `Call<'static, Trip>` nor `ToolReply<Trip>` names it; a tool without any serves every state |
/// | `concurrency_safe` | a call may run beside its neighbours |
/// | `read_only` | a call changes nothing that another call could notice |
/// | `confirm` | a person is asked before each call |
///
/// | on an argument | |
/// | --- | --- |
/// | `default`, `default = value` | what it is when the model leaves it out; shown in the schema |
/// | `inject` | it comes from the call: a type with the trait `FromCall` |
///
/// Write `#[tool(..)]` on an argument as on the function. A single `Args<T>` stands for all arguments of the model, and
/// the derives of `T` say what they are.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attr.into(), item.into()).into()
}
