//! The arguments of the tools, from which their schemas are derived.

use crate::hotel::calendar::parse_day;
use crate::hotel::criteria::{Amenity, City, Criteria, Feature, RoomType};
use crate::hotel::price::Cents;
use crate::hotel::understand::Slots;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts of a search. What is left out stays as it is.
///
/// Words are free text here, so that a word that is on no list is answered with
/// the nearest one that is, instead of with a failed schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CriteriaArgs {
    /// The city: Lisbon, Porto, Vienna, Oslo, Kyoto or Edinburgh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The day of arrival, YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_in: Option<String>,
    /// The day of departure, YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_out: Option<String>,
    /// How many nights, if no day of departure is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nights: Option<u32>,
    /// How many people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guests: Option<u32>,
    /// The room type: single, double, twin, family or suite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<String>,
    /// What the hotel must offer, beside what is wanted already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub amenities: Vec<String>,
    /// What the hotel need not offer any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop_amenities: Vec<String>,
    /// The most a night may cost, in euros.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_per_night: Option<f64>,
    /// The least a night may cost, in euros.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_per_night: Option<f64>,
    /// The price does not matter any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_budget: bool,
    /// Forget all criteria before taking these.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub start_over: bool,
}

/// No arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArgs {}

/// Which page of the offers to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowArgs {
    /// Show those that were not shown yet, instead of the list from its beginning.
    pub more: bool,
}

/// Which hotels to compare.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareArgs {
    /// Their names; none for the first offers of the list.
    pub hotels: Vec<String>,
    /// What to compare by; everything if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Feature>,
}

/// Which hotels may have a room, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvailabilityArgs {
    /// Their names; none for all offers.
    pub hotels: Vec<String>,
    /// The day of arrival, YYYY-MM-DD; as in the search if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_in: Option<String>,
    /// The day of departure, YYYY-MM-DD; after as many nights as in the search if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_out: Option<String>,
}

/// Which hotel the guest wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChooseArgs {
    /// Its name, as in the list of offers.
    pub hotel: String,
}

/// The guest's answer to the proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmArgs {
    /// The name of the hotel that was proposed.
    pub hotel: String,
    /// Whether the guest agreed. Never true without the guest's own word.
    pub confirmed: bool,
}

impl CriteriaArgs {
    /// Takes the parts into the criteria; parts that cannot be taken keep their
    /// old value and are returned as sentences.
    pub fn apply(&self, criteria: &mut Criteria, today: Date) -> Vec<String> {
        if self.start_over {
            *criteria = Criteria::default();
        }
        let mut problems = Vec::new();
        let slots = self.slots(&mut problems);
        problems.extend(criteria.apply(&slots, today).iter().map(ToString::to_string));
        for problem in criteria.problems(today).iter().map(ToString::to_string) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems
    }

    fn slots(&self, problems: &mut Vec<String>) -> Slots {
        let mut slots = Slots {
            check_in: keep(self.check_in.as_deref().map(parse_day), problems),
            check_out: keep(self.check_out.as_deref().map(parse_day), problems),
            nights: self.nights,
            guests: self.guests,
            room: keep(self.room.as_deref().map(str::parse::<RoomType>), problems),
            budget_max: self.max_per_night.map(cents),
            budget_min: self.min_per_night.map(cents),
            drop_budget: self.drop_budget,
            ..Slots::default()
        };
        // An impossible day must not move the stay by its other half.
        if !problems.is_empty() && (self.check_in.is_some() || self.check_out.is_some()) {
            (slots.check_in, slots.check_out, slots.nights) = (None, None, None);
        }
        if let Some(city) = self.city.as_deref() {
            match city.parse::<City>() {
                Ok(known) => slots.city = Some(known),
                Err(_) => slots.city_unknown = Some(city.trim().to_owned()),
            }
        }
        for word in &self.amenities {
            match word.parse::<Amenity>() {
                Ok(known) => slots.amenities.push(known),
                Err(_) => slots.amenities_unknown.push(word.trim().to_owned()),
            }
        }
        for word in &self.drop_amenities {
            slots.drop_amenities.extend(keep(Some(word.parse::<Amenity>()), problems));
        }
        slots
    }
}

impl From<&Slots> for CriteriaArgs {
    fn from(slots: &Slots) -> Self {
        let words = |list: &[Amenity]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut amenities = words(&slots.amenities);
        amenities.extend(slots.amenities_unknown.iter().cloned());
        Self {
            city: slots.city.map(|city| city.to_string()).or_else(|| slots.city_unknown.clone()),
            check_in: slots.check_in.map(|day| day.to_string()),
            check_out: slots.check_out.map(|day| day.to_string()),
            nights: slots.nights,
            guests: slots.guests,
            room: slots.room.map(|room| room.to_string()),
            amenities,
            drop_amenities: words(&slots.drop_amenities),
            max_per_night: slots.budget_max.map(euros),
            min_per_night: slots.budget_min.map(euros),
            drop_budget: slots.drop_budget,
            start_over: false,
        }
    }
}

fn keep<T, E: ToString>(read: Option<Result<T, E>>, problems: &mut Vec<String>) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(error.to_string());
            None
        }
    }
}

/// The schema keeps amounts between nothing and a million; anything else counts as one of these.
fn cents(euros: f64) -> Cents {
    let cents = (euros * 100.0).round().clamp(0.0, 100_000_000.0);
    // In range after the clamp; a value that is no number becomes 0.
    Cents(cents as u64)
}

fn euros(amount: Cents) -> f64 {
    amount.0 as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 6, 10);

    fn applied(args: serde_json::Value) -> (Criteria, Vec<String>) {
        let args: CriteriaArgs = serde_json::from_value(args).unwrap();
        let mut criteria = Criteria::default();
        let problems = args.apply(&mut criteria, TODAY);
        (criteria, problems)
    }

    #[test]
    fn each_wrong_word_is_named_and_the_rest_is_taken() {
        let (criteria, problems) = applied(serde_json::json!({
            "city": "lisbon", "amenities": ["wfii", "pool"], "room": "cave", "guests": 9
        }));
        assert_eq!(criteria.city, Some(City::Lisbon));
        assert_eq!(criteria.amenities, [Amenity::Pool]);
        assert_eq!(
            problems,
            [
                "unknown room type `cave`, choose one of: single, double, twin, family, suite",
                "`9` guests do not fit one room, ask for 1 to 5",
                "unknown amenity `wfii`, did you mean `wifi`",
            ]
        );
    }

    #[test]
    fn an_impossible_day_leaves_the_dates_alone() {
        let (criteria, problems) = applied(serde_json::json!({"check_in": "2026-06-29", "check_out": "31 June"}));
        assert_eq!(criteria, Criteria::default());
        assert_eq!(problems, ["`31 June` is not a day of the calendar, give a date such as 2026-07-03"]);
    }

    #[test]
    fn amounts_survive_the_way_through_json() {
        let slots = Slots { budget_max: Some(Cents(9950)), ..Slots::default() };
        let json = serde_json::to_value(CriteriaArgs::from(&slots)).unwrap();
        assert_eq!(json, serde_json::json!({"max_per_night": 99.5}));
        assert_eq!(applied(json).0.budget.max, Some(Cents(9950)));
    }
}
