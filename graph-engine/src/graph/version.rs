//! The version of a state's schema, and how a state of an older one becomes one of this.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::BoxError;
use crate::panic::panic_text;
use crate::state::StoredFields;

type Migrate = Box<dyn Fn(u32, &mut StoredFields) -> Result<(), BoxError> + Send + Sync>;

/// The version of the program, and the step to it from those before.
#[derive(Default)]
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(super) migrate: Option<Migrate>,
}

impl Version {
    /// Whether something is to be done for a checkpoint of that version.
    pub(crate) fn migrates(&self, from: u32) -> bool {
        from < self.number && self.migrate.is_some()
    }

    /// Asks the migration, which is the user's and may panic.
    pub(crate) fn migrate(&self, from: u32, stored: &mut StoredFields) -> Result<(), BoxError> {
        let Some(migrate) = &self.migrate else { return Ok(()) };
        catch_unwind(AssertUnwindSafe(|| migrate(from, stored)))
            .unwrap_or_else(|panic| Err(format!("it panicked: {}", panic_text(&*panic)).into()))
    }
}
