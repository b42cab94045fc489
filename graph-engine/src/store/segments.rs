//! The fields of a checkpoint as they are stored, in a few pieces of memory however many segments there are.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::checkpoint::Segment;
use crate::state::Encoding;

/// Segments one after the other: their bytes are in one piece, each name is there once.
///
/// ```
/// use graph_engine::{Encoding, Segment, Segments};
///
/// let mut fields = Segments::new();
/// fields.push("notes", Encoding::Base, 0..1, b"[1]");
/// fields.push("notes", Encoding::Delta, 1..2, b"[2]");
/// let last = fields.last().unwrap();
/// assert_eq!((last.name, last.items, last.bytes), ("notes", 1..2, &b"[2]"[..]));
/// assert_eq!(fields.into_iter().next(), Some(Segment::new("notes", Encoding::Base, 0..1, b"[1]".to_vec())));
/// ```
#[derive(Clone, Default)]
pub struct Segments {
    names: Vec<Cow<'static, str>>,
    rows: Vec<Row>,
    bytes: Vec<u8>,
}

#[derive(Clone)]
struct Row {
    name: u32,
    encoding: Encoding,
    items: Range<u64>,
    /// Where its bytes end; they begin where those of the row before it end.
    end: usize,
}

/// One of [`Segments`].
///
/// ```
/// use graph_engine::{Encoding, Segment, SegmentRef, Segments};
///
/// let fields = Segments::from(vec![Segment::new("notes", Encoding::Base, 0..2, b"[1,2]".to_vec())]);
/// let notes: SegmentRef<'_> = fields.get(0).unwrap();
/// assert_eq!(notes.bytes, b"[1,2]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentRef<'a> {
    /// The field's name.
    pub name: &'a str,
    /// A base or a delta.
    pub encoding: Encoding,
    /// Which items it holds, for fields that count them.
    pub items: Range<u64>,
    /// JSON.
    pub bytes: &'a [u8],
}

impl SegmentRef<'_> {
    fn to_segment(&self) -> Segment {
        Segment::new(self.name.to_owned(), self.encoding, self.items.clone(), self.bytes.to_vec())
    }
}

impl Segments {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more, with so many bytes together.
    pub fn reserve(&mut self, segments: usize, bytes: usize) {
        self.rows.reserve(segments);
        self.bytes.reserve(bytes);
    }

    /// Adds one at the end.
    pub fn push(&mut self, name: &str, encoding: Encoding, items: Range<u64>, bytes: &[u8]) {
        let name = self.number(name, || Cow::Owned(name.to_owned()));
        self.add(name, encoding, items, bytes);
    }

    /// The same with a name that may be shared.
    #[expect(clippy::ptr_arg, reason = "a name that is static is kept as such")]
    pub(super) fn push_named(&mut self, name: &Cow<'static, str>, encoding: Encoding, items: Range<u64>, bytes: &[u8]) {
        let name = self.number(name, || name.clone());
        self.add(name, encoding, items, bytes);
    }

    fn add(&mut self, name: u32, encoding: Encoding, items: Range<u64>, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.rows.push(Row { name, encoding, items, end: self.bytes.len() });
    }

    /// The number of a name; `own` is kept with its first segment.
    fn number(&mut self, name: &str, own: impl FnOnce() -> Cow<'static, str>) -> u32 {
        // Segments of a field mostly follow each other.
        if let Some(last) = self.rows.last()
            && self.names[last.name as usize] == name
        {
            return last.name;
        }
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(own());
            self.names.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many bytes they have, all together.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// One of them, counted from the first.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<SegmentRef<'_>> {
        (at < self.len()).then(|| self.at(at))
    }

    /// The last one.
    #[must_use]
    pub fn last(&self) -> Option<SegmentRef<'_>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Where the bytes of one begin.
    fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.rows[at - 1].end }
    }

    fn at(&self, at: usize) -> SegmentRef<'_> {
        let start = self.start(at);
        let Row { name, encoding, items, end } = &self.rows[at];
        SegmentRef {
            name: &self.names[*name as usize],
            encoding: *encoding,
            items: items.clone(),
            bytes: &self.bytes[start..*end],
        }
    }

    /// All of them from the first to the last.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SegmentRef<'_>> + ExactSizeIterator + Clone {
        (0..self.len()).map(|at| self.at(at))
    }

    /// The names of the fields, each once.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Of each the place of its name among the [`names`](Self::names), and its encoding.
    pub(crate) fn encodings(&self) -> impl Iterator<Item = (usize, Encoding)> {
        self.rows.iter().map(|row| (row.name as usize, row.encoding))
    }

    /// One of them, with the place of its name among the [`names`](Self::names).
    pub(crate) fn numbered(&self, at: usize) -> Option<(usize, SegmentRef<'_>)> {
        Some((self.rows.get(at)?.name as usize, self.at(at)))
    }

    /// How many deltas follow each other from this one on: of one field, each with the items after those of the one before.
    pub(crate) fn deltas(&self, at: usize) -> usize {
        let rows = self.rows.get(at..).unwrap_or(&[]);
        let follows = |one: &Row, next: &Row| {
            next.name == one.name && next.encoding == Encoding::Delta && next.items.start == one.items.end
        };
        match rows {
            [first, ..] if first.encoding == Encoding::Delta => {
                1 + rows.windows(2).take_while(|pair| follows(&pair[0], &pair[1])).count()
            }
            _ => 0,
        }
    }

    /// The bytes of so many of them, and where among these those of each end.
    pub(crate) fn together(&self, part: Range<usize>) -> (&[u8], Vec<usize>) {
        let start = self.start(part.start);
        let ends: Vec<usize> = self.rows[part].iter().map(|row| row.end - start).collect();
        (&self.bytes[start..start + ends.last().unwrap_or(&0)], ends)
    }

    /// Leaves out those of a field.
    pub(crate) fn remove(&mut self, name: &str) {
        if self.names().any(|known| known == name) {
            *self = self.iter().filter(|segment| segment.name != name).map(|segment| segment.to_segment()).collect();
        }
    }
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Segments {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Segments {}

impl Extend<Segment> for Segments {
    fn extend<I: IntoIterator<Item = Segment>>(&mut self, segments: I) {
        for Segment { name, encoding, items, bytes } in segments {
            self.push(&name, encoding, items, &bytes);
        }
    }
}

impl FromIterator<Segment> for Segments {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        let mut all = Self::new();
        all.extend(segments);
        all
    }
}

impl From<Vec<Segment>> for Segments {
    fn from(segments: Vec<Segment>) -> Self {
        segments.into_iter().collect()
    }
}

impl IntoIterator for Segments {
    type Item = Segment;
    type IntoIter = std::vec::IntoIter<Segment>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().map(|segment| segment.to_segment()).collect::<Vec<_>>().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Segment> {
        let segment = |name: &'static str, encoding, items, bytes: &str| {
            Segment::new(name, encoding, items, bytes.as_bytes().to_vec())
        };
        vec![
            segment("log", Encoding::Base, 0..2, "[1,2]"),
            segment("log", Encoding::Delta, 2..3, "[3]"),
            segment("", Encoding::Base, 0..0, ""),
            segment("log", Encoding::Writes, 0..0, ""),
            segment("gone", Encoding::Removed, 0..u64::MAX, "null"),
        ]
    }

    #[test]
    fn what_was_put_in_comes_out_in_the_same_order() {
        let fields = Segments::from(some());
        assert_eq!(fields.iter().map(|segment| segment.to_segment()).collect::<Vec<_>>(), some());
        assert_eq!(fields.clone().into_iter().collect::<Vec<_>>(), some());
        assert_eq!(fields.names().collect::<Vec<_>>(), ["log", "", "gone"]);
        assert_eq!(fields.encodings().map(|(number, _)| number).collect::<Vec<_>>(), [0, 0, 1, 0, 2]);
        assert_eq!((fields.len(), fields.is_empty(), fields.get(5)), (5, false, None));
        assert_eq!((fields.get(1).unwrap().bytes, fields.last().unwrap().name), (&b"[3]"[..], "gone"));
        assert_eq!((Segments::new().last(), Segments::new().is_empty()), (None, true));
    }

    #[test]
    fn a_field_that_is_taken_out_leaves_the_others() {
        let mut fields = Segments::from(some());
        fields.remove("log");
        fields.remove("unknown");
        let mut left = some();
        left.retain(|segment| segment.name != "log");
        assert_eq!(fields, Segments::from(left));
    }
}
