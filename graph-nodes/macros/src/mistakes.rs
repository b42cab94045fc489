//! Collects every mistake of one function, so that all of them are reported in one run.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// Mistakes found so far.
#[derive(Default)]
#[must_use = "mistakes that nobody reports are hidden"]
pub(crate) struct Mistakes(Vec<Error>);

impl Mistakes {
    /// A mistake at one token.
    pub(crate) fn at(&mut self, at: Span, message: impl Display) {
        self.0.push(Error::new(at, message));
    }

    /// A mistake over several tokens.
    pub(crate) fn over(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.0.push(Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All mistakes as `compile_error!` calls, each at its own token.
    pub(crate) fn report(&self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}
