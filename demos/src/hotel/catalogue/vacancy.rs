//! Whether hotels have a room on given days.

use super::query::{Hotel, cheapest};
use super::{Catalogue, CatalogueError};
use crate::hotel::calendar::Stay;
use crate::hotel::criteria::{Criteria, RoomType};
use crate::hotel::price::is_holiday;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What a hotel has for a stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "vacancy")]
pub enum Vacancy {
    /// A room that the guest wants: the cheapest one, and what the stay costs.
    Room {
        /// The room.
        room: RoomType,
        /// What the stay costs, in words.
        total: String,
    },
    /// The hotel is booked out.
    Full {
        /// The first such night.
        night: Date,
    },
    /// No room that the guest wants, for so many people and within the budget.
    NoRoom,
}

impl Catalogue {
    /// What each of these hotels has for a stay, by the names as given: one
    /// request for all. Names are looked up as by [`Catalogue::by_name`]; unknown
    /// ones are left out. Of the criteria the room types, the guests and the
    /// budget count.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if the database cannot be read.
    pub fn vacancies(
        &self,
        names: &[String],
        stay: &Stay,
        criteria: &Criteria,
    ) -> Result<HashMap<String, Vacancy>, CatalogueError> {
        let found = names.iter().cloned().zip(self.by_names(names)?);
        Ok(found.filter_map(|(name, hotel)| Some((name, vacancy(&hotel?, stay, criteria)))).collect())
    }
}

fn vacancy(hotel: &Hotel, stay: &Stay, criteria: &Criteria) -> Vacancy {
    if let Some(night) = full_night(hotel, stay) {
        return Vacancy::Full { night };
    }
    match cheapest(hotel, stay, criteria) {
        Some((room, quote)) => Vacancy::Room { room, total: quote.total.to_string() },
        None => Vacancy::NoRoom,
    }
}

/// The first night of the stay on which the hotel is booked out: on holidays the
/// houses with at most two stars are.
pub(super) fn full_night(hotel: &Hotel, stay: &Stay) -> Option<Date> {
    if hotel.stars > 2 {
        return None;
    }
    stay.days().find(|night| is_holiday(*night))
}
