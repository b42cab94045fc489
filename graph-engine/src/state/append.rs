//! What `#[state(append)]` needs of a field's type, for the standard collections.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use super::codec::{CodecError, Encoding, Persist, decode_field, decode_items, decode_lists, encode_field};
use super::deltas::Deltas;
use super::log::Log;

/// A collection to which tasks add items.
///
/// The order of items is the order of tasks, so `push` and `append` must not lose or reorder anything. A map or a
/// set keeps the last item of equal keys.
///
/// ```
/// use graph_engine::Append;
///
/// let mut list = vec![1];
/// Append::append(&mut list, vec![2, 3]);
/// Append::push(&mut list, 4);
/// assert_eq!(list, [1, 2, 3, 4]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be appended to",
    label = "not a collection that tasks can add to",
    note = "use `Log<T>`, `Vec<T>`, a map or a set, implement `Append`, or name a reducer: `#[state(with = path)]`"
)]
pub trait Append: Default {
    /// One item.
    type Item;

    /// Adds one item at the end.
    fn push(&mut self, item: Self::Item);

    /// Adds all items of another collection, in their order.
    fn append(&mut self, more: Self);

    /// Adds items one after the other.
    fn push_all(&mut self, items: impl IntoIterator<Item = Self::Item>) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

/// An [`Append`] collection that a checkpoint can hold, as a base or as a delta since a mark.
///
/// ```
/// use graph_engine::{Encoding, PersistAppend};
///
/// let list = vec![1, 2, 3];
/// let mut out = Vec::new();
/// assert_eq!(list.encode("list", Some(2), &mut out)?, Encoding::Delta);
/// assert_eq!(out, b"[3]");
/// # Ok::<(), graph_engine::CodecError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be stored in a checkpoint",
    label = "its items need `Serialize` and `Deserialize`",
    note = "derive serde's traits for the items, or mark the field `#[state(append, transient)]`"
)]
pub trait PersistAppend: Append {
    /// Whether a mark tells what was added since. Where it doesn't, a checkpoint holds the writes themselves, and
    /// [`encode`](Self::encode) is only asked for the whole value.
    const MARKED: bool = true;

    /// Where the collection stands now. A collection that can't tell what was added since returns 0. One that is read
    /// back stands where the written one did.
    fn mark(&self) -> u64;

    /// Appends JSON to `out`: the items after the mark, or everything.
    ///
    /// # Errors
    /// [`CodecError`] if an item can't be stored.
    fn encode(&self, field: &str, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError>;

    /// The reverse: a base replaces the collection, a delta is added.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are not items of this collection.
    fn decode(&mut self, field: &str, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError>;

    /// Adds several deltas, as so many calls of [`decode`](Self::decode) do. They may cost less together.
    ///
    /// # Errors
    /// That of the first one that can't be read. The collection is of no use then.
    fn decode_deltas(&mut self, field: &str, deltas: Deltas<'_>) -> Result<(), CodecError> {
        deltas.iter().try_for_each(|bytes| self.decode(field, Encoding::Delta, bytes))
    }
}

/// The items from `since` on, or all of them if the mark is not one of this list.
fn encode_tail<T: serde::Serialize>(
    field: &str,
    len: usize,
    since: Option<u64>,
    tail: impl FnOnce(usize) -> T,
    out: &mut Vec<u8>,
) -> Result<Encoding, CodecError> {
    let since = since.and_then(|since| usize::try_from(since).ok()).filter(|since| *since <= len);
    encode_field(field, &tail(since.unwrap_or(0)), out)?;
    Ok(if since.is_some() { Encoding::Delta } else { Encoding::Base })
}

fn decode_into<T: Append + Persist>(
    target: &mut T,
    field: &str,
    encoding: Encoding,
    bytes: &[u8],
) -> Result<(), CodecError> {
    let items: T = decode_field(field, bytes)?;
    match encoding {
        Encoding::Base => *target = items,
        // The engine merges writes itself, so only a delta comes here.
        _ => target.append(items),
    }
    Ok(())
}

impl<T> Append for Vec<T> {
    type Item = T;

    fn push(&mut self, item: T) {
        Self::push(self, item);
    }

    fn append(&mut self, mut more: Self) {
        if self.is_empty() { *self = more } else { Self::append(self, &mut more) }
    }

    fn push_all(&mut self, items: impl IntoIterator<Item = T>) {
        self.extend(items);
    }
}

impl<T: Persist> PersistAppend for Vec<T> {
    fn mark(&self) -> u64 {
        self.len() as u64
    }

    fn encode(&self, field: &str, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError> {
        encode_tail(field, self.len(), since, |from| &self[from..], out)
    }

    fn decode(&mut self, field: &str, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError> {
        if encoding == Encoding::Base {
            return decode_into(self, field, encoding, bytes);
        }
        decode_items(field, bytes, |item| self.push(item))
    }

    fn decode_deltas(&mut self, field: &str, deltas: Deltas<'_>) -> Result<(), CodecError> {
        decode_lists(field, deltas, |item| self.push(item))
    }
}

impl<T: Clone> Append for Log<T> {
    type Item = T;

    fn push(&mut self, item: T) {
        Self::push(self, item);
    }

    fn append(&mut self, more: Self) {
        Self::append(self, more);
    }

    fn push_all(&mut self, items: impl IntoIterator<Item = T>) {
        self.extend(items);
    }
}

impl<T: Clone + Persist> PersistAppend for Log<T> {
    fn mark(&self) -> u64 {
        self.len() as u64
    }

    fn encode(&self, field: &str, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError> {
        encode_tail(field, self.len(), since, |from| self.tail(from), out)
    }

    fn decode(&mut self, field: &str, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError> {
        if encoding == Encoding::Base {
            return decode_into(self, field, encoding, bytes);
        }
        decode_items(field, bytes, |item| self.push(item))
    }

    fn decode_deltas(&mut self, field: &str, deltas: Deltas<'_>) -> Result<(), CodecError> {
        let mut filling = self.fill();
        decode_lists(field, deltas, |item| filling.push(item))
    }
}

/// Collections whose additions can't be told from their length: writes are stored, or the whole value.
macro_rules! stored_by_writes {
    ($([$($generics:tt)*] $type:ty { $item:ty, $self:ident, $value:ident => $insert:expr })*) => {
        $(
            impl<$($generics)*> Append for $type {
                type Item = $item;

                fn push(&mut $self, $value: $item) {
                    $insert;
                }

                fn append(&mut self, more: Self) {
                    if self.is_empty() { *self = more } else { self.extend(more) }
                }
            }

            impl<$($generics)*> PersistAppend for $type
            where
                $type: Persist,
            {
                const MARKED: bool = false;

                fn mark(&self) -> u64 {
                    0
                }

                fn encode(&self, field: &str, _: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError> {
                    encode_field(field, self, out)?;
                    Ok(Encoding::Base)
                }

                fn decode(&mut self, field: &str, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError> {
                    decode_into(self, field, encoding, bytes)
                }
            }
        )*
    };
}

stored_by_writes! {
    [T] VecDeque<T> { T, self, item => self.push_back(item) }
    [T: Ord] BTreeSet<T> { T, self, item => { self.replace(item); } }
    [K: Ord, V] BTreeMap<K, V> { (K, V), self, item => { self.insert(item.0, item.1); } }
    [T: Eq + Hash, B: BuildHasher + Default] HashSet<T, B> { T, self, item => { self.replace(item); } }
    [K: Eq + Hash, V, B: BuildHasher + Default] HashMap<K, V, B> { (K, V), self, item => { self.insert(item.0, item.1); } }
}

impl Append for String {
    type Item = String;

    fn push(&mut self, item: String) {
        self.push_str(&item);
    }

    fn append(&mut self, more: Self) {
        if self.is_empty() { *self = more } else { self.push_str(&more) }
    }
}

impl PersistAppend for String {
    fn mark(&self) -> u64 {
        self.len() as u64
    }

    fn encode(&self, field: &str, since: Option<u64>, out: &mut Vec<u8>) -> Result<Encoding, CodecError> {
        let since = since.and_then(|since| self.get(usize::try_from(since).ok()?..));
        encode_field(field, since.unwrap_or(self), out)?;
        Ok(if since.is_some() { Encoding::Delta } else { Encoding::Base })
    }

    fn decode(&mut self, field: &str, encoding: Encoding, bytes: &[u8]) -> Result<(), CodecError> {
        decode_into(self, field, encoding, bytes)
    }
}
