//! Questions to a file. Each runs in one transaction, so it sees one moment.

mod checkpoint;
mod list;
mod load;
mod segments;

pub(crate) use checkpoint::{Found, find, head, space};
pub(crate) use list::{list, namespaces, threads};
pub(crate) use load::{field, load, row};
pub(crate) use segments::own;
