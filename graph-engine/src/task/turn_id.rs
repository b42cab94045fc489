//! Ids of turns: names, or random numbers that become names when somebody asks.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::checkpoint_id::digits;
use crate::name::Name;

/// The id of a turn, empty where there is none. The text of a random one is made when it is first read: of a turn that is
/// neither stored nor followed it may never be.
#[derive(Default)]
pub(crate) struct TurnId {
    text: OnceLock<Name>,
    drawn: Option<(RandomIds, u64)>,
}

impl TurnId {
    pub(crate) fn name(&self) -> &Name {
        self.text.get_or_init(|| self.drawn.as_ref().map_or_else(Name::default, |(ids, count)| ids.text(*count)))
    }
}

impl From<Name> for TurnId {
    fn from(name: Name) -> Self {
        Self { text: name.into(), drawn: None }
    }
}

/// 128 random bits: what the standard library's keyed hash, whose key is random, makes of a number that comes once, and that
/// number mixed with another key, which gives no two of them the same.
#[derive(Clone)]
pub(crate) struct RandomIds {
    random: RandomState,
    key: u64,
}

impl RandomIds {
    pub(crate) fn new(random: RandomState) -> Self {
        Self { key: random.hash_one(1), random }
    }

    pub(crate) fn turn(&self) -> TurnId {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        TurnId { text: OnceLock::new(), drawn: Some((self.clone(), count)) }
    }

    fn text(&self, count: u64) -> Name {
        let id = u128::from(self.random.hash_one(count)) << 64 | u128::from(mixed(count.wrapping_add(self.key)));
        // Digits are ASCII.
        str::from_utf8(&digits(id)).unwrap_or_default().into()
    }
}

/// Each step can be undone, so two numbers are never mixed to one.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
