//! What the guest wants: the closed lists and the criteria of a search.

use crate::hotel::calendar::{Stay, StayError};
use crate::hotel::choice::{UnknownChoice, choice};
use crate::hotel::merge::Pending;
use crate::hotel::price::Cents;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most people one room takes; see [`RoomType::capacity`].
pub const MAX_GUESTS: u32 = 5;

choice! {
    /// A city with hotels.
    City, "city" {
        /// Lisbon.
        Lisbon = "Lisbon",
        /// Porto.
        Porto = "Porto",
        /// Vienna.
        Vienna = "Vienna",
        /// Oslo.
        Oslo = "Oslo",
        /// Kyoto.
        Kyoto = "Kyoto",
        /// Edinburgh.
        Edinburgh = "Edinburgh",
    }
}

choice! {
    /// A kind of room.
    RoomType, "room type" {
        /// One bed for one.
        Single = "single",
        /// One bed for two.
        Double = "double",
        /// Two beds.
        Twin = "twin",
        /// Room for parents and children.
        Family = "family",
        /// More than one room.
        Suite = "suite",
    }
}

choice! {
    /// Something a hotel offers beside the room.
    Amenity, "amenity" {
        /// Wireless internet.
        Wifi = "wifi",
        /// Breakfast.
        Breakfast = "breakfast",
        /// A swimming pool.
        Pool = "pool",
        /// A place for the car.
        Parking = "parking",
        /// A fitness room.
        Gym = "gym",
        /// Spa and sauna.
        Spa = "spa",
        /// Pets may come.
        Pets = "pets",
        /// Cooled rooms.
        AirConditioning = "air conditioning",
        /// A restaurant in the house.
        Restaurant = "restaurant",
        /// A bar in the house.
        Bar = "bar",
        /// A kitchen or kitchenette in the room.
        Kitchen = "kitchen",
        /// A bus between airport and hotel.
        AirportShuttle = "airport shuttle",
    }
}

choice! {
    /// What hotels are compared by.
    Feature, "comparison feature" {
        /// What the stay costs.
        Price = "price",
        /// The room types.
        Room = "room",
        /// What the hotel offers.
        Amenities = "amenities",
        /// How far it is to the centre.
        Distance = "distance",
    }
}

impl RoomType {
    /// How many people the room takes.
    #[must_use]
    pub const fn capacity(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Double | Self::Twin => 2,
            Self::Suite => 4,
            Self::Family => MAX_GUESTS,
        }
    }
}

/// Bounds on the price of one night, both inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// No night may cost less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Cents>,
    /// No night may cost more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Cents>,
}

impl Budget {
    /// Whether a night at this price is within the bounds.
    #[must_use]
    pub fn allows(&self, price: Cents) -> bool {
        self.min.is_none_or(|min| price >= min) && self.max.is_none_or(|max| price <= max)
    }

    /// Checks that the bounds do not cross.
    ///
    /// # Errors
    ///
    /// [`CriteriaError::BudgetCrossed`] if the minimum exceeds the maximum.
    pub fn check(&self) -> Result<(), CriteriaError> {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => Err(CriteriaError::BudgetCrossed { min, max }),
            _ => Ok(()),
        }
    }
}

/// What is known so far of the wanted stay. Every part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Criteria {
    /// Where.
    pub city: Option<City>,
    /// When.
    pub stay: Option<Stay>,
    /// How many people.
    pub guests: Option<u32>,
    /// Acceptable room types; empty means any.
    pub rooms: Vec<RoomType>,
    /// What the hotel must offer, all of it.
    pub amenities: Vec<Amenity>,
    /// Bounds on the price of a night.
    pub budget: Budget,
    /// The hotel must lie strictly closer to the centre than this, in metres.
    pub closer_than_m: Option<u32>,
    /// Parts of dates that do not make a stay yet.
    #[serde(skip_serializing_if = "Pending::is_empty")]
    pub pending: Pending,
}

/// A part of the criteria that a search cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The city.
    City,
    /// The check-in, or the check-out, or both.
    Dates,
    /// The number of people.
    Guests,
}

/// Why criteria cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CriteriaError {
    /// A word is not on its list.
    #[error(transparent)]
    Unknown(#[from] UnknownChoice),
    /// The dates are not a stay.
    #[error(transparent)]
    Stay(#[from] StayError),
    /// The lower bound is above the upper one.
    #[error("budget minimum `{min}` is above the maximum `{max}`, swap or change one of them")]
    BudgetCrossed {
        /// The lower bound.
        min: Cents,
        /// The upper bound.
        max: Cents,
    },
    /// Nobody, or more people than one room takes.
    #[error("`{guests}` guests do not fit one room, ask for 1 to {MAX_GUESTS}")]
    Guests {
        /// How many were asked for.
        guests: u32,
    },
    /// No room of the wanted types takes so many people.
    #[error("a `{room}` room takes at most {capacity}, not `{guests}`, choose a larger room")]
    RoomTooSmall {
        /// The largest wanted room type.
        room: RoomType,
        /// How many it takes.
        capacity: u32,
        /// How many are coming.
        guests: u32,
    },
}

impl Criteria {
    /// What must still be asked, in the order in which to ask.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        [
            (self.city.is_none(), Missing::City),
            (self.stay.is_none(), Missing::Dates),
            (self.guests.is_none(), Missing::Guests),
        ]
        .into_iter()
        .filter_map(|(open, part)| open.then_some(part))
        .collect()
    }

    /// Every problem of the criteria as they stand, not only the first.
    #[must_use]
    pub fn problems(&self, today: Date) -> Vec<CriteriaError> {
        let mut found = Vec::new();
        if let Some(Err(error)) = self.stay.map(|stay| stay.check_today(today)) {
            found.push(error.into());
        }
        if let Some(guests) = self.guests {
            found.extend(check_guests(guests).err());
            found.extend(self.check_room(guests).err());
        }
        found.extend(self.budget.check().err());
        found
    }

    fn check_room(&self, guests: u32) -> Result<(), CriteriaError> {
        match self.rooms.iter().max_by_key(|room| room.capacity()) {
            Some(room) if room.capacity() < guests && guests <= MAX_GUESTS => {
                Err(CriteriaError::RoomTooSmall { room: *room, capacity: room.capacity(), guests })
            }
            _ => Ok(()),
        }
    }
}

/// Checks a number of people against [`MAX_GUESTS`].
///
/// # Errors
///
/// [`CriteriaError::Guests`] for nobody or too many.
pub fn check_guests(guests: u32) -> Result<u32, CriteriaError> {
    match guests {
        1..=MAX_GUESTS => Ok(guests),
        _ => Err(CriteriaError::Guests { guests }),
    }
}
