//! Spans and events as text.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer};

/// All fields of all spans and events, as text.
#[derive(Clone, Debug, Default)]
pub struct Traced(Arc<Mutex<String>>);

impl Traced {
    /// What was traced so far; it is empty afterwards.
    pub fn take(&self) -> String {
        std::mem::take(&mut self.text())
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // A text takes every write.
        let _ = writeln!(self.0, "{}={value:?}", field.name());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Traced {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        attributes.record(&mut Text(&mut self.text()));
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut Text(&mut self.text()));
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut Text(&mut self.text()));
    }
}
