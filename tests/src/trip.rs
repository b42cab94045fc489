//! The state of most tests: one field of every kind.

use graph_engine::State;

/// One field of every merge rule.
#[derive(State, Clone, Debug, Default, PartialEq)]
pub struct Trip {
    /// One writer a super-step.
    pub city: String,
    /// The last writer in task order wins.
    #[state(any)]
    pub last: String,
    /// Items in task order.
    #[state(append)]
    pub log: Vec<String>,
    /// A sum that refuses 13 and panics at 666.
    #[state(with = add)]
    pub total: i64,
    /// Lives for one turn.
    #[state(transient)]
    pub draft: String,
}

fn add(total: &i64, item: i64) -> Result<i64, String> {
    match item {
        13 => Err("13 brings bad luck".to_owned()),
        666 => panic!("the beast"),
        _ => Ok(total + item),
    }
}
