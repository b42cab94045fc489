//! What an update holds for fields that several tasks may write.

use serde::{Deserialize, Serialize};

use super::Append;

/// Writes of one update to an `append` field: items to add, or a whole new value.
///
/// ```
/// use graph_engine::Added;
///
/// let mut write = Added::default();
/// write.push_all(vec![5]);
/// write.overwrite(vec![10]);
/// write.push_all(vec![3]);
/// assert_eq!((write.overwrite, write.items), (true, vec![10, 3]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added<T> {
    /// `items` is the whole new value instead of an addition.
    pub overwrite: bool,
    /// What is added.
    pub items: T,
}

impl<T: Append> Added<T> {
    /// Adds items after those already there.
    pub fn push_all(&mut self, items: T) {
        self.items.append(items);
    }

    /// Replaces the whole value; what was added before in this update is gone.
    pub fn overwrite(&mut self, value: T) {
        *self = Self { overwrite: true, items: value };
    }

    /// The same writes as one, `later` last.
    pub fn then(&mut self, later: Self) {
        if later.overwrite { *self = later } else { self.items.append(later.items) }
    }

    /// Carries the writes out.
    pub fn apply(self, field: &mut T) {
        if self.overwrite { *field = self.items } else { field.append(self.items) }
    }
}

/// Writes of one update to a `with` field: items for the reducer, after an optional whole new value.
///
/// ```
/// use graph_engine::Reduced;
///
/// let mut write = Reduced::<i64, i64>::default();
/// write.items.push(5);
/// write.overwrite(10);
/// write.items.push(3);
/// let sum = |total: &i64, item: i64| Ok::<_, std::convert::Infallible>(total + item);
/// assert_eq!(write.fold(&100, sum), Ok(Some(13)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced<T, I = T> {
    /// The value that replaces the field before the items are folded.
    pub overwrite: Option<T>,
    /// Items in the order of their writes.
    pub items: Vec<I>,
}

impl<T, I> Default for Reduced<T, I> {
    fn default() -> Self {
        Self { overwrite: None, items: Vec::new() }
    }
}

impl<T, I> Reduced<T, I> {
    /// Replaces the whole value; earlier items of this update are gone.
    pub fn overwrite(&mut self, value: T) {
        *self = Self { overwrite: Some(value), items: Vec::new() };
    }

    /// The same writes as one, `later` last.
    pub fn then(&mut self, later: Self) {
        if later.overwrite.is_some() { *self = later } else { self.items.extend(later.items) }
    }

    /// The new value of a field that holds `current`, or `None` if nothing was written.
    ///
    /// # Errors
    /// What the reducer says of the first item that it refuses.
    pub fn fold<E>(self, current: &T, reduce: impl Fn(&T, I) -> Result<T, E>) -> Result<Option<T>, E> {
        let mut value = self.overwrite;
        for item in self.items {
            value = Some(reduce(value.as_ref().unwrap_or(current), item)?);
        }
        Ok(value)
    }
}
