//! Panics of users' code: what they said, and how they are kept from leaving the engine.

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// The message of a caught panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}

/// What a future gives, or what its panic said. What panicked is never polled again.
pub(crate) async fn no_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    no_panic_in(pin!(future)).await
}

/// The same for a large future that stays where it is.
pub(crate) fn no_panic_in<T>(mut future: Pin<&mut impl Future<Output = T>>) -> impl Future<Output = Result<T, String>> {
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic_text(&*panic).to_owned())),
    })
}

/// Drops what holds values of the user's, whose `Drop` may panic: then there is nothing left to be said.
pub(crate) fn let_go<T>(what: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(what)));
}

/// The text of a user's value, whose `Display` may panic.
pub(crate) fn text_of(value: &impl fmt::Display) -> String {
    catch_unwind(AssertUnwindSafe(|| value.to_string()))
        .unwrap_or_else(|panic| format!("(its text can't be read, because that panicked: {})", panic_text(&*panic)))
}
