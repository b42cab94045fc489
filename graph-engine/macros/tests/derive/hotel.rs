//! A state with every kind of field.
use std::collections::BTreeMap;

use graph_engine::{Log, State};
use serde::{Deserialize, Serialize};

/// What a guest wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// Where.
    pub city: String,
    /// How much.
    pub budget: u32,
}

/// Not serde.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft(pub u8);

/// The state.
#[derive(State, Clone, Debug, Default)]
#[state(derive(Clone, Debug, PartialEq))]
pub struct Hotel {
    /// One writer.
    pub criteria: Option<Criteria>,
    /// Text.
    pub city: Option<String>,
    /// Number.
    pub nights: u32,
    /// Optional number.
    pub stars: Option<u8>,
    /// Float.
    pub price: f64,
    /// Plain text.
    #[state(any)]
    pub title: String,
    /// Log of text.
    #[state(append)]
    pub messages: Log<String>,
    /// Map.
    #[state(append)]
    pub quotes: BTreeMap<String, u32>,
    /// Sum.
    #[state(with = add)]
    pub total: i64,
    /// Longest text.
    #[state(with = crate::hotel::longest, item = String)]
    pub longest: Option<String>,
    /// Not stored.
    #[state(transient)]
    pub draft: Option<Draft>,
    /// Not stored, appended.
    #[state(append, transient)]
    pub steps: Vec<Draft>,
    /// Not stored, reduced.
    #[state(with = Self::count, item = Draft, transient)]
    pub count: u8,
    /// A raw name.
    #[state(append)]
    pub r#type: Vec<u8>,
}

impl Hotel {
    #[expect(clippy::trivially_copy_pass_by_ref, clippy::needless_pass_by_value, reason = "a reducer")]
    fn count(count: &u8, item: Draft) -> Result<u8, &'static str> {
        count.checked_add(item.0).ok_or("too many drafts")
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "a reducer")]
fn add(total: &i64, item: i64) -> Result<i64, String> {
    if item < 0 { Err(format!("{item} is negative")) } else { Ok(total + item) }
}

/// Keeps the longest text.
#[expect(clippy::ref_option, clippy::unnecessary_wraps, reason = "a reducer")]
pub(crate) fn longest(current: &Option<String>, item: String) -> Result<Option<String>, std::convert::Infallible> {
    Ok(current.clone().filter(|current| current.len() >= item.len()).or(Some(item)))
}

/// One super-step with these updates, as the engine does it.
pub(crate) fn step(
    state: &mut Hotel,
    updates: impl IntoIterator<Item = HotelUpdate>,
) -> Result<(), graph_engine::ReduceError> {
    let mut updates: Vec<_> = updates.into_iter().collect();
    let mut staged = <Hotel as State>::Staged::default();
    for update in &mut updates {
        state.stage(&mut staged, update)?;
    }
    for update in updates {
        state.apply(update);
    }
    state.settle(staged);
    Ok(())
}

/// The field's index.
pub(crate) fn field(name: &str) -> usize {
    Hotel::default().fields().iter().position(|field| field.name == name).expect("the field exists")
}
