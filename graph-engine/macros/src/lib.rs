//! The macros of `graph-engine`, which re-exports them: [`macro@State`], [`macro@Route`] and [`macro@node`].
//!
//! Each reports all mistakes of one item in one run, every one at its own token.

mod attr;
mod ctxt;
mod node;
mod paths;
mod route;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a struct with named fields the state of a graph.
///
/// ```
/// use graph_engine::{Log, State};
///
/// #[derive(State, Clone, Default)]
/// struct Hotel {
///     city: Option<String>,
///     nights: u32,
///     #[state(append)]
///     notes: Log<String>,
///     #[state(with = add)]
///     total: i64,
///     #[state(transient)]
///     draft: String,
/// }
///
/// fn add(total: &i64, item: i64) -> Result<i64, String> {
///     total.checked_add(item).ok_or_else(|| format!("{total} and {item} are too much"))
/// }
///
/// let update = Hotel::update().city("Oslo").nights(2).notes(["by train", "no pets"]).total(5);
/// let update = update.then(Hotel::update().city(None).total(3));
/// assert_eq!(update.city, Some(None));
/// assert_eq!(update.total.unwrap().items, [5, 3]);
/// assert_eq!(Hotel::NOTES.name(), "notes");
/// ```
///
/// # Words of a field
/// | `#[state(..)]` | writes of one super-step | the setter takes |
/// | --- | --- | --- |
/// | nothing | one task only | the value |
/// | `any` | the last in task order | the value |
/// | `append` | added in task order | items: anything that can be iterated |
/// | `with = path` | folded by `fn(&T, Item) -> Result<T, E>` | one item |
/// | `with = path, item = Type` | the same; `Item` is not the field's own type | one item |
/// | `transient` (beside any of these) | is `Default` at the start of every run, never stored | |
///
/// The error of a reducer is anything that converts to a boxed error: an error type, `String`, `&str`.
///
/// # What it makes of `Hotel`
/// * `HotelUpdate`, with one `Option` per field: the value itself, `Added` or `Reduced`. Values may be secrets,
///   so its `Debug` prints the names of what is written; `#[state(derive(Debug, Clone, PartialEq))]` on the struct
///   puts other derives on it.
/// * One setter per field, under the field's name. Only `String` and `Option` convert: `&str` fits the former, a bare
///   value or `None` the latter. Everything else takes the type itself, so that numbers need no suffix.
/// * `overwrite_notes(value)` for `append` and `with` fields: replaces the value past its rule.
/// * `then(later)`: both updates as one, in this order.
/// * `Hotel::update()`, and one `Field` key per field in upper case: `Hotel::NOTES`.
/// * The impls of the traits `State` and `IntoOutcome<Hotel>`.
///
/// Setters and keys are as visible as their fields, the update as the struct. Its name and the setters' names are
/// fixed: a field can't be called `then`, nor `overwrite_notes` beside a field `notes` with a rule.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    state::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Makes an enum the set of places where a node or router may go.
///
/// ```
/// use graph_engine::{END, Next, Route};
///
/// #[derive(Route)]
/// #[route(stay, direct)]
/// enum FromExplore {
///     CompareAll,
///     Quote(String),
///     #[route(to = "explore-tools")]
///     Tools,
///     #[route(end)]
///     Done,
/// }
///
/// let names: Vec<_> = FromExplore::SPEC.targets.iter().map(|target| target.name).collect();
/// assert_eq!(names, ["compare_all", "quote", "explore-tools", END]);
///
/// let again: Next<FromExplore> = Next::stay("which city?");
/// let quotes = Next::fan_out(["Inn", "Palace"].map(|name| FromExplore::Quote(name.to_owned())));
/// # let _ = (again, quotes);
/// ```
///
/// A variant without a field is a plain target. One with a field sends that value to the target's task, which asks
/// for it with `In<T>`; it needs serde's `Serialize`. The target is the node named like the variant in snake case
/// (`HTTPCall` is `http_call`), the node of `#[route(to = "node")]`, or with `#[route(end)]` the end of the branch.
///
/// `#[route(stay, direct, finish)]` on the enum says which other moves are possible; a move that is not named there
/// doesn't compile. An enum without variants goes nowhere and may still have such moves.
///
/// Nodes and routers may return the enum itself instead of `Next::go` of it.
#[proc_macro_derive(Route, attributes(route))]
pub fn derive_route(input: TokenStream) -> TokenStream {
    route::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Says what is wrong with a node function: which argument, the result, or what keeps its future on one thread.
///
/// rustc alone can only say that the function "cannot be a node". This attribute leaves the function as it is and
/// adds checks that never run. Use it where you like: on every node, or on the one that doesn't compile.
///
/// ```
/// use graph_engine::{Ctx, Snap, State, node};
///
/// #[derive(State, Clone, Default)]
/// struct Hotel {
///     city: String,
/// }
///
/// #[node(Hotel)]
/// async fn shout(hotel: Snap<Hotel>, _: Ctx) -> HotelUpdate {
///     Hotel::update().city(hotel.city.to_uppercase())
/// }
/// ```
///
/// It belongs on free functions; in an `impl` block it has no place.
///
/// ```compile_fail
/// use graph_engine::{State, node};
///
/// #[derive(State, Clone, Default)]
/// struct Hotel {
///     city: String,
/// }
///
/// #[node(Hotel)]
/// async fn shout(city: String) -> HotelUpdate {
///     //               ^^^^^^ a node of a `Hotel` graph cannot ask for `String`
///     Hotel::update().city(city)
/// }
/// ```
#[proc_macro_attribute]
pub fn node(attr: TokenStream, item: TokenStream) -> TokenStream {
    node::expand(attr.into(), item.into()).into()
}
