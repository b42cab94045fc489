//! Collects every mistake of one macro call, so that all of them are reported in one run.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use syn::Error;

/// Mistakes found so far. It must be handed to [`finish`](Self::finish): one that is dropped without would hide
/// them, and panics in debug builds.
pub(crate) struct Ctxt {
    /// `None` once finished.
    errors: RefCell<Option<Vec<Error>>>,
}

impl Ctxt {
    pub(crate) fn new() -> Self {
        Self { errors: RefCell::new(Some(Vec::new())) }
    }

    /// A mistake at one token.
    pub(crate) fn error(&self, at: Span, message: impl Display) {
        self.push(Error::new(at, message));
    }

    pub(crate) fn push(&self, error: Error) {
        if let Some(errors) = self.errors.borrow_mut().as_mut() {
            errors.push(error);
        }
    }

    /// Takes over the mistakes of one part; `true` if there were none.
    pub(crate) fn absorb(&self, part: Self) -> bool {
        let errors = part.errors.take().unwrap_or_default();
        let valid = errors.is_empty();
        errors.into_iter().for_each(|error| self.push(error));
        valid
    }

    /// All mistakes as `compile_error!` calls, each at its own token.
    pub(crate) fn finish(self) -> TokenStream {
        self.errors.take().unwrap_or_default().iter().map(Error::to_compile_error).collect()
    }
}

impl Drop for Ctxt {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            debug_assert!(self.errors.borrow().is_none(), "the macro forgot to report its errors");
        }
    }
}
