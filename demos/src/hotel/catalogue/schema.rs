//! The database file: its tables, its version, and how it is opened.

use super::{CatalogueError, seed};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The version of the tables and of the built-in list.
pub const SCHEMA_VERSION: i32 = 1;

/// Marks a SQLite file as ours ("HTLC").
const APPLICATION_ID: i32 = 0x4854_4C43;

const TABLES: &str = "
create table hotel (
    id integer primary key,
    name text not null unique collate nocase,
    city text not null,
    area text not null,
    street text not null,
    distance_m integer not null check (distance_m >= 0),
    stars integer not null check (stars between 1 and 5),
    level integer not null check (level > 0),
    description text not null
) strict;
create index hotel_city on hotel (city);
create table hotel_room (
    hotel_id integer not null references hotel (id),
    room text not null,
    primary key (hotel_id, room)
) strict, without rowid;
create table hotel_amenity (
    hotel_id integer not null references hotel (id),
    amenity text not null,
    primary key (hotel_id, amenity)
) strict, without rowid;
";

/// An open catalogue. One connection, so not to be shared between threads
/// without a lock.
#[derive(Debug)]
pub struct Catalogue {
    pub(super) db: Connection,
}

impl Catalogue {
    /// A catalogue in memory, filled with the built-in list.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if SQLite refuses.
    pub fn in_memory() -> Result<Self, CatalogueError> {
        let mut db = Connection::open_in_memory()?;
        create(&mut db)?;
        Ok(Self { db })
    }

    /// Opens the catalogue in `path`; a missing or empty file is filled with
    /// the built-in list first.
    ///
    /// # Errors
    ///
    /// [`CatalogueError::Corrupt`] if the file is something else or damaged,
    /// [`CatalogueError::Version`] if another version made it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CatalogueError> {
        let path = path.as_ref();
        let corrupt = |source| CatalogueError::Corrupt { path: path.to_owned(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags)?;
        if is_empty(&db).map_err(|error| damaged(error, &corrupt))? {
            create(&mut db)?;
            return Ok(Self { db });
        }
        if pragma(&db, "application_id")? != APPLICATION_ID {
            return Err(corrupt(None));
        }
        let found = pragma(&db, "user_version")?;
        if found != SCHEMA_VERSION {
            return Err(CatalogueError::Version { path: path.to_owned(), found, expected: SCHEMA_VERSION });
        }
        let verdict: String =
            db.query_row("pragma quick_check(1)", [], |row| row.get(0)).map_err(|error| damaged(error, &corrupt))?;
        if verdict != "ok" {
            return Err(corrupt(None));
        }
        Ok(Self { db })
    }
}

/// Tells a damaged file from a disk or a lock that refuses.
fn damaged(error: rusqlite::Error, corrupt: &impl Fn(Option<rusqlite::Error>) -> CatalogueError) -> CatalogueError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => corrupt(Some(error)),
        _ => error.into(),
    }
}

fn is_empty(db: &Connection) -> Result<bool, rusqlite::Error> {
    db.query_row("select count(*) from sqlite_schema", [], |row| row.get::<_, i64>(0)).map(|count| count == 0)
}

fn pragma(db: &Connection, name: &str) -> Result<i32, rusqlite::Error> {
    db.pragma_query_value(None, name, |row| row.get(0))
}

/// Makes and fills the tables in one transaction, so that a crash leaves an
/// empty file and not half a catalogue.
fn create(db: &mut Connection) -> Result<(), CatalogueError> {
    let change = db.transaction()?;
    change.execute_batch(TABLES)?;
    seed::fill(&change)?;
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    change.commit()?;
    Ok(())
}
