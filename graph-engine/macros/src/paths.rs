//! Absolute paths into the engine: generated code depends on no import of the user.

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// A public item.
pub(crate) fn engine(item: TokenStream) -> TokenStream {
    quote!(::graph_engine::#item)
}

/// Items that only generated code uses.
pub(crate) fn private(item: TokenStream) -> TokenStream {
    quote!(::graph_engine::__private::#item)
}

/// The same tokens at another place in the source.
pub(crate) fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        token.set_span(at);
        token
    });
    tokens.collect()
}
