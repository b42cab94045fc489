//! What can go wrong with the catalogue and with a choice of hotels.

use std::path::PathBuf;

/// Why the catalogue cannot be opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The file is no catalogue, or a damaged one.
    #[error("`{path}` is not a usable hotel catalogue, remove the file to have it made again", path = path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said, if it said anything.
        source: Option<rusqlite::Error>,
    },
    /// The file was made by another version of the program.
    #[error("`{path}` has catalogue version `{found}`, this program reads `{expected}`, remove the file to have it made again", path = path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i32,
        /// The version this program reads.
        expected: i32,
    },
    /// A line of the built-in list cannot be read.
    #[error("line `{line}` of the built-in hotel list is malformed, {reason}")]
    Seed {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and how to right it.
        reason: String,
    },
    /// The database refused.
    #[error("the hotel catalogue cannot be read or written, check the file and the disk")]
    Database(#[from] rusqlite::Error),
    /// Something stored is not on its list.
    #[error("the hotel catalogue holds an unknown word, remove the file to have it made again")]
    Stored(#[from] crate::hotel::choice::UnknownChoice),
}

/// Why hotels cannot be compared or chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No name was given.
    #[error("no hotel to compare was named, name at least one of the offers")]
    NoHotels,
    /// None of the names is an offer.
    #[error("`{}` {are} not among the offers, choose one of: {}", names.join("`, `"), offers.join(", "), are = if names.len() == 1 { "is" } else { "are" })]
    NotOffered {
        /// The names as said.
        names: Vec<String>,
        /// The names that can be chosen.
        offers: Vec<String>,
    },
    /// The catalogue failed.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}
