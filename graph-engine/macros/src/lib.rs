//! The macros of `graph-engine`, which re-exports them: [`macro@State`], [`macro@Route`] and [`macro@node`].

mod attr;
mod ctxt;
mod node;
mod paths;
mod route;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// State.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    state::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Route.
#[proc_macro_derive(Route, attributes(route))]
pub fn derive_route(input: TokenStream) -> TokenStream {
    route::derive(parse_macro_input!(input as DeriveInput)).into()
}

/// Node.
#[proc_macro_attribute]
pub fn node(attr: TokenStream, item: TokenStream) -> TokenStream {
    node::expand(attr.into(), item.into()).into()
}
