//! The catalogue of hotels: an embedded SQLite database that is filled on
//! first use, and the questions that the concierge's tools ask of it.

mod error;
mod query;
mod schema;
mod seed;
mod vacancy;

pub use error::{CatalogueError, CompareError};
pub use query::{Comparison, ComparisonRow, Hotel, Offer, Resolved, choose, resolve};
pub use schema::{Catalogue, SCHEMA_VERSION};
pub use seed::catalogue_names;
pub use vacancy::Vacancy;
