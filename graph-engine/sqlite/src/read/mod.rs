//! Questions to a file. Each runs in one transaction, so it sees one moment.

mod blocks;
mod checkpoint;
mod list;
mod load;
mod segments;

pub(crate) use blocks::{Blocks, Loaded};
pub(crate) use checkpoint::{Space, head, indexed, space};
pub(crate) use list::{list, namespaces, threads};
pub(crate) use load::{field, load, load_since, newest, other_content, row, same};
pub(crate) use segments::directory;
