//! What the tools report to the model, as data: the JSON of the tool messages.

use crate::hotel::calendar::Stay;
use crate::hotel::catalogue::Offer;
use crate::hotel::criteria::{Criteria, Missing, RoomType};
use crate::hotel::price::Cents;
use crate::hotel::table::distance;
use graph_nodes::batch::BatchReport;
use serde::{Deserialize, Serialize};

/// How many offers one answer lists.
pub const PAGE: usize = 5;

/// The criteria after a sentence was taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// Everything known so far.
    pub criteria: Criteria,
    /// What must still be asked.
    pub missing: Vec<Missing>,
    /// What could not be taken, and why.
    pub problems: Vec<String>,
    /// Whether anything was said about the criteria.
    pub changed: bool,
}

/// One page of a list of offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// How many hotels answer the criteria.
    pub found: usize,
    /// The place of the first one listed here, from 1.
    pub from: usize,
    /// What was searched for.
    pub criteria: Criteria,
    /// The offers of this page.
    pub offers: Vec<OfferLine>,
}

/// One offer of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferLine {
    /// Its place in the whole list, from 1.
    pub place: usize,
    /// The hotel's name.
    pub name: String,
    /// The part of the city.
    pub area: String,
    /// One to five stars.
    pub stars: u32,
    /// The way to the centre, in words.
    pub distance: String,
    /// The cheapest matching room.
    pub room: RoomType,
    /// How many nights.
    pub nights: u32,
    /// What the stay costs.
    pub total: Cents,
}

/// A search without results, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingFound {
    /// What was searched for.
    pub criteria: Criteria,
    /// Which single part, left out, would give results.
    pub without: Vec<Without>,
}

/// A part of the criteria that keeps hotels away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Without {
    /// The part in words, such as `the pool`.
    pub part: String,
    /// How many hotels there would be.
    pub found: usize,
}

/// Hotels side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compared {
    /// The table, ready to be shown.
    pub table: String,
    /// The hotels in the order of the table.
    pub hotels: Vec<String>,
}

/// Which hotels have a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Availability {
    /// The nights that were asked for.
    pub stay: Stay,
    /// Each hotel with its [`Vacancy`](crate::hotel::catalogue::Vacancy).
    pub report: BatchReport,
}

/// What would be booked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The hotel's name.
    pub hotel: String,
    /// The part of the city.
    pub area: String,
    /// The room.
    pub room: RoomType,
    /// The nights.
    pub stay: Stay,
    /// How many people.
    pub guests: u32,
    /// What the stay costs.
    pub total: Cents,
}

impl Offered {
    /// The page that begins with the place `from`, counted from 1.
    #[must_use]
    pub fn page(offers: &[Offer], from: usize, criteria: &Criteria) -> Self {
        let listed = offers.iter().enumerate().skip(from.saturating_sub(1)).take(PAGE);
        let lines = listed.map(|(at, offer)| OfferLine {
            place: at + 1,
            name: offer.hotel.name.clone(),
            area: offer.hotel.area.clone(),
            stars: offer.hotel.stars,
            distance: distance(offer.hotel.distance_m),
            room: offer.room,
            nights: u32::try_from(offer.quote.nights.len()).unwrap_or(u32::MAX),
            total: offer.quote.total,
        });
        Self { found: offers.len(), from, criteria: criteria.clone(), offers: lines.collect() }
    }
}
