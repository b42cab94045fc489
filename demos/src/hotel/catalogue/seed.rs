//! The built-in list of invented hotels, one a line in `hotels.txt`.

use super::CatalogueError;
use crate::hotel::criteria::{Amenity, City, RoomType};
use rusqlite::{Connection, params};

const LIST: &str = include_str!("hotels.txt");

/// The name of every hotel of the list, in its order.
pub fn catalogue_names() -> impl Iterator<Item = &'static str> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('|')).map(|(name, _)| name)
}

/// Writes the whole list into the empty tables.
pub(super) fn fill(db: &Connection) -> Result<(), CatalogueError> {
    for (index, line) in LIST.lines().enumerate() {
        if !line.starts_with('#') && !line.is_empty() {
            insert(db, line, index + 1)?;
        }
    }
    Ok(())
}

fn insert(db: &Connection, line: &str, number: usize) -> Result<(), CatalogueError> {
    let malformed = |reason: String| CatalogueError::Seed { line: number, reason };
    let fields: Vec<&str> = line.split('|').collect();
    let &[name, city, area, street, distance, stars, level, rooms, amenities, description] = fields.as_slice() else {
        return Err(malformed(format!("it has `{}` fields, give 10", fields.len())));
    };
    let count =
        |text: &str| text.parse::<u32>().map_err(|_| malformed(format!("`{text}` is not a number, give digits")));
    let unknown = |error: crate::hotel::choice::UnknownChoice| malformed(error.to_string());
    let city: City = city.parse().map_err(unknown)?;
    db.prepare_cached(
        "insert into hotel (name, city, area, street, distance_m, stars, level, description)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        name,
        city.as_str(),
        area,
        street,
        count(distance)?,
        count(stars)?,
        count(level)?,
        description
    ])?;
    let id = db.last_insert_rowid();
    for room in rooms.split(',') {
        let room: RoomType = room.parse().map_err(unknown)?;
        db.prepare_cached("insert into hotel_room (hotel_id, room) values (?1, ?2)")?
            .execute(params![id, room.as_str()])?;
    }
    for amenity in amenities.split(',') {
        let amenity: Amenity = amenity.parse().map_err(unknown)?;
        db.prepare_cached("insert into hotel_amenity (hotel_id, amenity) values (?1, ?2)")?
            .execute(params![id, amenity.as_str()])?;
    }
    Ok(())
}
