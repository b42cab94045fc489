//! The state of the scripted graphs: a field of every kind.

use std::collections::BTreeMap;

use graph_engine::{Log, State};

/// A field of every merge rule and way of being stored.
#[derive(State, Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The input of each turn.
    #[state(append)]
    pub inputs: Log<u32>,
    /// What was done.
    #[state(append)]
    pub log: Log<String>,
    /// In which step each thing was last done.
    #[state(append)]
    pub seen: BTreeMap<String, u64>,
    /// How much was done.
    #[state(with = add)]
    pub total: i64,
    /// Who was last.
    #[state(any)]
    pub last: String,
    /// Rounds of this turn.
    pub count: u32,
    /// Lives for one turn.
    #[state(transient)]
    pub scratch: Vec<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "reducers may fail")]
fn add(total: &i64, item: i64) -> Result<i64, String> {
    Ok(total.wrapping_mul(3).wrapping_add(item))
}
