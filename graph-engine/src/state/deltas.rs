//! Deltas of a field that follow each other, to be read in one go.

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
        let mut start = 0;
        self.ends.iter().map(move |end| self.bytes.get(std::mem::replace(&mut start, *end)..*end).unwrap_or(&[]))
    }

    /// All bytes as one text of as many lists, if that is what they look like.
    pub(super) fn as_lists(self) -> Option<&'a str> {
        let whole = self.ends.last() == Some(&self.bytes.len());
        let lists = whole && self.iter().all(|bytes| matches!(bytes, [b'[', .., b']']));
        if lists { std::str::from_utf8(self.bytes).ok() } else { None }
    }
}
