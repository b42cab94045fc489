//! Deltas of a field that follow each other, to be read in one go.

use std::ops::Range;

/// Several deltas of one field, one behind the other.
///
/// ```
/// use graph_engine::{Deltas, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(append)]
///     notes: Vec<u32>,
/// }
///
/// let mut trip = Trip { notes: vec![1] };
/// let deltas = Deltas::new(b"[2,3][4]", &[5, 8]);
/// assert_eq!(deltas.iter().collect::<Vec<_>>(), [&b"[2,3]"[..], b"[4]"]);
/// trip.decode_deltas(0, deltas)?;
/// assert_eq!(trip.notes, [1, 2, 3, 4]);
/// # Ok::<(), graph_engine::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Deltas<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Deltas<'a> {
    /// The bytes of all of them, and where those of each end. A part that is not there is empty.
    #[must_use]
    pub const fn new(bytes: &'a [u8], ends: &'a [usize]) -> Self {
        Self { bytes, ends }
    }

    /// Each of them, the oldest first.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.parts().map(move |part| self.bytes.get(part).unwrap_or_default())
    }

    /// The same as texts, if all of them are.
    pub(super) fn texts(self) -> Option<impl Iterator<Item = &'a str>> {
        let whole = std::str::from_utf8(self.bytes).ok()?;
        let texts = self.ends.iter().all(|end| whole.is_char_boundary(*end));
        texts.then(|| self.parts().map(move |part| whole.get(part).unwrap_or_default()))
    }

    fn parts(self) -> impl ExactSizeIterator<Item = Range<usize>> {
        let mut start = 0;
        self.ends.iter().map(move |end| std::mem::replace(&mut start, *end)..*end)
    }
}
