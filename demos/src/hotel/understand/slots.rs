//! What a sentence says, in the JSON form of the utterance tables.

use crate::hotel::criteria::{Amenity, City, Feature, RoomType};
use crate::hotel::price::Cents;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The parts that a sentence says. What it does not say is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Slots {
    /// A city with hotels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<City>,
    /// Another city, as said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city_unknown: Option<String>,
    /// The day of arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_in: Option<Date>,
    /// The day of departure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_out: Option<Date>,
    /// The length, if it did not lead to a check-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nights: Option<u32>,
    /// How many people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guests: Option<u32>,
    /// The room type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomType>,
    /// Wanted amenities in the order said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub amenities: Vec<Amenity>,
    /// Words asked for as an amenity that are none, as said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub amenities_unknown: Vec<String>,
    /// Amenities no longer wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop_amenities: Vec<Amenity>,
    /// The most a night may cost.
    #[serde(with = "euros", skip_serializing_if = "Option::is_none")]
    pub budget_max: Option<Cents>,
    /// The least a night may cost.
    #[serde(with = "euros", skip_serializing_if = "Option::is_none")]
    pub budget_min: Option<Cents>,
    /// The budget no longer matters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_budget: bool,
    /// Hotels by name or place in the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hotels: Vec<HotelRef>,
    /// What to compare by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Feature>,
}

impl Slots {
    /// Whether any part of a search is said; hotels and `by` are none.
    #[must_use]
    pub fn has_criteria(&self) -> bool {
        let others = Self { hotels: self.hotels.clone(), by: self.by, ..Self::default() };
        *self != others
    }
}

/// A hotel as a guest refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HotelRef {
    /// Its place in the list: 1 is the first, -1 the last.
    Ordinal(i32),
    /// Its name as said.
    Name(String),
}

/// What the guest wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// Gives or changes criteria.
    Search,
    /// Two or more hotels side by side.
    Compare,
    /// Wants one hotel.
    Book,
    /// Show the offers again or more of them.
    Show,
    /// Start over, or change the search without saying what.
    Back,
    /// Agrees.
    Yes,
    /// Declines.
    No,
    /// Says hello.
    Greet,
    /// Asks what can be done.
    Help,
    /// Says thank you.
    Thanks,
    /// Leaves.
    Quit,
    /// None of these.
    Unknown,
}

/// Something said that cannot be a slot, to be told to the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SlotProblem {
    /// A day that no calendar has.
    #[error("`{said}` is not a day of the calendar, give another date")]
    ImpossibleDate {
        /// The day as said.
        said: String,
    },
    /// An amount in another currency.
    #[error("`{said}` is not in euros, give the budget in euros a night")]
    Currency {
        /// The amount as said.
        said: String,
    },
    /// An amount for the whole stay, whose length is not said.
    #[error("`{said}` is for the whole stay, give the budget in euros a night")]
    WholeStay {
        /// The amount as said.
        said: String,
    },
}

/// A sentence understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Understood {
    /// What it says.
    pub slots: Slots,
    /// What the guest wants.
    pub intent: Intent,
    /// What was said but cannot be taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SlotProblem>,
}

/// Euros as a number: whole where the amount is whole.
mod euros {
    use super::Cents;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(cents: &Option<Cents>, serializer: S) -> Result<S::Ok, S::Error> {
        match cents {
            None => serializer.serialize_none(),
            Some(cents) if cents.0 % 100 == 0 => serializer.serialize_u64(cents.0 / 100),
            Some(cents) => serializer.serialize_f64(to_float(cents.0) / 100.0),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cents>, D::Error> {
        let Some(euros) = Option::<f64>::deserialize(deserializer)? else {
            return Ok(None);
        };
        let text = format!("{:.0}", euros * 100.0);
        let cents =
            text.parse().map_err(|_| D::Error::custom(format!("`{euros}` is no amount of euros, give one above 0")))?;
        Ok(Some(Cents(cents)))
    }

    fn to_float(cents: u64) -> f64 {
        // Amounts said by guests have at most nine digits.
        f64::from(u32::try_from(cents).unwrap_or(u32::MAX))
    }
}
