//! The macros of `graph-engine`.

mod attr;
mod ctxt;
mod paths;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// State.
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(input: TokenStream) -> TokenStream {
    state::derive(parse_macro_input!(input as DeriveInput)).into()
}
