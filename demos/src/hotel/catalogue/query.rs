//! The questions asked of the catalogue: search, look up by name, compare.

use super::vacancy::full_night;
use super::{Catalogue, CatalogueError, CompareError};
use crate::hotel::calendar::Stay;
use crate::hotel::criteria::{Amenity, City, Criteria, Feature, RoomType};
use crate::hotel::price::{Cents, Quote, quote};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A hotel of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hotel {
    /// The name, distinct in the whole catalogue.
    pub name: String,
    /// Where it is.
    pub city: City,
    /// The part of the city.
    pub area: String,
    /// The street and number.
    pub street: String,
    /// The way to the centre, in metres.
    pub distance_m: u32,
    /// One to five stars.
    pub stars: u32,
    /// The price level, see [`crate::hotel::price::nightly`].
    pub level: u32,
    /// The room types, in the order of their list.
    pub rooms: Vec<RoomType>,
    /// What it offers, in the order of the list.
    pub amenities: Vec<Amenity>,
    /// A sentence about it.
    pub description: String,
}

/// A hotel that answers a search, with its cheapest matching room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The hotel.
    pub hotel: Hotel,
    /// The cheapest room that matches the search.
    pub room: RoomType,
    /// What the stay costs in that room.
    pub quote: Quote,
}

/// Hotels side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The feature that orders the rows, if one was wanted.
    pub by: Option<Feature>,
    /// The hotels, each once.
    pub rows: Vec<ComparisonRow>,
    /// Names that are not in the catalogue, as said.
    pub unknown: Vec<String>,
}

/// One hotel of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// The hotel.
    pub hotel: Hotel,
    /// The cheapest matching room and its price, if the stay is known and a
    /// room matches.
    pub offer: Option<(RoomType, Quote)>,
}

/// Names looked up in a list of offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// The names as the offers write them, each once, in the order said.
    pub found: Vec<String>,
    /// Names that are not among the offers, as said, each once.
    pub unknown: Vec<String>,
}

const COLUMNS: &str = "select h.name, h.city, h.area, h.street, h.distance_m, h.stars, h.level,
    h.description,
    (select group_concat(room) from hotel_room where hotel_id = h.id),
    (select group_concat(amenity) from hotel_amenity where hotel_id = h.id)
    from hotel h";

impl Catalogue {
    /// Every hotel, by city and name.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if the database cannot be read.
    pub fn hotels(&self) -> Result<Vec<Hotel>, CatalogueError> {
        let mut statement = self.db.prepare_cached(&format!("{COLUMNS} order by h.city, h.name"))?;
        collect(statement.query([])?)
    }

    /// The hotels that answer the criteria, cheapest stay first, then by name.
    ///
    /// A hotel must have all amenities, no night on which it is booked out, one of the room types (any if none is
    /// named) that takes the guests (one if not said), and every night within
    /// the budget; the cheapest such room is the offer. Without a city or a
    /// stay nothing can be priced, so the answer is empty.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if the database cannot be read.
    pub fn search(&self, criteria: &Criteria) -> Result<Vec<Offer>, CatalogueError> {
        let (Some(city), Some(stay)) = (criteria.city, criteria.stay) else {
            return Ok(Vec::new());
        };
        let mut statement =
            self.db.prepare_cached(&format!("{COLUMNS} where h.city = ?1 and (?2 is null or h.distance_m < ?2)"))?;
        let hotels = collect(statement.query(params![city.as_str(), criteria.closer_than_m])?)?;
        let mut offers: Vec<Offer> = hotels
            .into_iter()
            .filter(|hotel| has_all(hotel, &criteria.amenities))
            .filter_map(|hotel| cheapest(&hotel, &stay, criteria).map(|(room, quote)| Offer { hotel, room, quote }))
            .collect();
        offers.sort_by(|a, b| (a.quote.total, &a.hotel.name).cmp(&(b.quote.total, &b.hotel.name)));
        Ok(offers)
    }

    /// The hotel with this name: whole name, any case, blanks around ignored.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if the database cannot be read.
    pub fn by_name(&self, name: &str) -> Result<Option<Hotel>, CatalogueError> {
        Ok(self.by_names(&[name.to_owned()])?.pop().flatten())
    }

    /// The hotels with these names, each in the place of its name: one request
    /// for all. Names are looked up as by [`Catalogue::by_name`].
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if the database cannot be read.
    pub fn by_names(&self, names: &[String]) -> Result<Vec<Option<Hotel>>, CatalogueError> {
        // Compared in Rust, because SQLite folds ASCII letters only.
        let all: HashMap<String, Hotel> = self.hotels()?.into_iter().map(|hotel| (fold(&hotel.name), hotel)).collect();
        Ok(names.iter().map(|name| all.get(&fold(name)).cloned()).collect())
    }

    /// Puts hotels side by side. Names are looked up as by
    /// [`Catalogue::by_name`] and taken once; unknown ones are listed. Rows
    /// keep the order said, or follow `by`: cheapest, most rooms, most
    /// amenities or nearest first.
    ///
    /// # Errors
    ///
    /// [`CompareError::NoHotels`] without a name.
    pub fn compare(
        &self,
        names: &[String],
        by: Option<Feature>,
        criteria: &Criteria,
    ) -> Result<Comparison, CompareError> {
        let found = self.by_names(names)?;
        Comparison::of(names.iter().map(String::as_str).zip(found), by, criteria)
    }
}

impl Comparison {
    /// Puts hotels side by side that were looked up already, each beside the name
    /// that it was looked up by: see [`Catalogue::compare`].
    ///
    /// # Errors
    ///
    /// [`CompareError::NoHotels`] without a name.
    pub fn of<'a>(
        found: impl IntoIterator<Item = (&'a str, Option<Hotel>)>,
        by: Option<Feature>,
        criteria: &Criteria,
    ) -> Result<Self, CompareError> {
        let mut comparison = Self { by, rows: Vec::new(), unknown: Vec::new() };
        for (name, hotel) in found.into_iter().map(|(name, hotel)| (name.trim(), hotel)) {
            match hotel {
                Some(hotel) => {
                    let offer = criteria.stay.and_then(|stay| cheapest(&hotel, &stay, criteria));
                    let row = ComparisonRow { hotel, offer };
                    if !comparison.rows.contains(&row) {
                        comparison.rows.push(row);
                    }
                }
                None if name.is_empty() || holds(&comparison.unknown, name) => {}
                None => comparison.unknown.push(name.to_owned()),
            }
        }
        if comparison.rows.is_empty() && comparison.unknown.is_empty() {
            return Err(CompareError::NoHotels);
        }
        comparison.rows.sort_by_key(|row| rank(row, by));
        Ok(comparison)
    }
}

/// Looks names up among the offers: trimmed, any case, each once. An empty
/// list of names is fine and finds nothing.
#[must_use]
pub fn resolve(names: &[String], offers: &[Offer]) -> Resolved {
    let mut resolved = Resolved::default();
    for name in names.iter().map(|name| name.trim()) {
        let offered = offers.iter().map(|offer| &offer.hotel.name).find(|offered| fold(offered) == fold(name));
        match offered {
            Some(found) if !resolved.found.contains(found) => resolved.found.push(found.clone()),
            None if !name.is_empty() && !holds(&resolved.unknown, name) => {
                resolved.unknown.push(name.to_owned());
            }
            _ => {}
        }
    }
    resolved
}

/// The offer with this name, trimmed and in any case.
///
/// # Errors
///
/// [`CompareError::NotOffered`] if no offer has it, so that nothing is booked
/// that was never shown.
pub fn choose<'a>(name: &str, offers: &'a [Offer]) -> Result<&'a Offer, CompareError> {
    offers.iter().find(|offer| fold(&offer.hotel.name) == fold(name)).ok_or_else(|| CompareError::NotOffered {
        names: vec![name.trim().to_owned()],
        offers: offers.iter().map(|offer| offer.hotel.name.clone()).collect(),
    })
}

fn has_all(hotel: &Hotel, wanted: &[Amenity]) -> bool {
    wanted.iter().all(|amenity| hotel.amenities.contains(amenity))
}

pub(super) fn cheapest(hotel: &Hotel, stay: &Stay, criteria: &Criteria) -> Option<(RoomType, Quote)> {
    if full_night(hotel, stay).is_some() {
        return None;
    }
    let guests = criteria.guests.unwrap_or(1);
    hotel
        .rooms
        .iter()
        .filter(|room| criteria.rooms.is_empty() || criteria.rooms.contains(room))
        .filter(|room| room.capacity() >= guests)
        .map(|room| (*room, quote(hotel.level, *room, stay)))
        .filter(|(_, quote)| quote.fits(&criteria.budget))
        .min_by_key(|(room, quote)| (quote.total, *room))
}

fn rank(row: &ComparisonRow, by: Option<Feature>) -> (bool, u64) {
    let fewer_first = |count: usize| u64::MAX - u64::try_from(count).unwrap_or(u64::MAX);
    match by {
        None => (false, 0),
        Some(Feature::Price) => match &row.offer {
            Some((_, quote)) => (false, quote.total.0),
            None => (true, Cents::euros(u64::from(row.hotel.level)).0),
        },
        Some(Feature::Room) => (false, fewer_first(row.hotel.rooms.len())),
        Some(Feature::Amenities) => (false, fewer_first(row.hotel.amenities.len())),
        Some(Feature::Distance) => (false, u64::from(row.hotel.distance_m)),
    }
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

fn holds(names: &[String], name: &str) -> bool {
    names.iter().any(|known| fold(known) == fold(name))
}

fn collect(mut rows: rusqlite::Rows<'_>) -> Result<Vec<Hotel>, CatalogueError> {
    let mut hotels = Vec::new();
    while let Some(row) = rows.next()? {
        hotels.push(read(row)?);
    }
    Ok(hotels)
}

fn read(row: &Row<'_>) -> Result<Hotel, CatalogueError> {
    let city: String = row.get(1)?;
    let rooms: Option<String> = row.get(8)?;
    let amenities: Option<String> = row.get(9)?;
    let mut rooms: Vec<RoomType> = words(rooms.as_deref())?;
    let mut amenities: Vec<Amenity> = words(amenities.as_deref())?;
    rooms.sort_unstable();
    amenities.sort_unstable();
    Ok(Hotel {
        name: row.get(0)?,
        city: city.parse()?,
        area: row.get(2)?,
        street: row.get(3)?,
        distance_m: row.get(4)?,
        stars: row.get(5)?,
        level: row.get(6)?,
        rooms,
        amenities,
        description: row.get(7)?,
    })
}

fn words<T>(list: Option<&str>) -> Result<Vec<T>, CatalogueError>
where
    T: std::str::FromStr<Err = crate::hotel::choice::UnknownChoice>,
{
    list.into_iter().flat_map(|list| list.split(',')).map(|word| word.parse().map_err(CatalogueError::from)).collect()
}
