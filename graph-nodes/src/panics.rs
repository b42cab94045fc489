//! A panic in a validator or a tool becomes a value.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

/// Runs `check`; a panic is its message.
///
/// Unwind safety is asserted: what runs gets shared references only, and its
/// result is thrown away if it panics.
pub(crate) fn guarded<T>(check: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|payload| message(payload.as_ref()))
}

/// Awaits `check`; a panic is its message.
pub(crate) async fn guarded_async<T>(check: impl Future<Output = T>) -> Result<T, String> {
    let mut check = pin!(check);
    poll_fn(|context| match guarded(|| check.as_mut().poll(context)) {
        Ok(poll) => poll.map(Ok),
        Err(message) => std::task::Poll::Ready(Err(message)),
    })
    .await
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
