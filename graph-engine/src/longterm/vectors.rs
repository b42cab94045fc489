//! The vectors of an item: how they are kept, and how near one is to another.

/// The vectors of one item, one for each embedded field.
///
/// ```
/// use graph_engine::longterm::backend::Vectors;
///
/// let vectors = Vectors::new(2, [vec![1.0, 0.0], vec![0.0, 2.0]]);
/// assert_eq!(Vectors::from_bytes(&vectors.to_bytes()).as_ref(), Some(&vectors));
/// assert_eq!(vectors.score(&[0.0, 1.0]), Some(1.0));
/// assert_eq!(vectors.score(&[1.0]), None);
/// assert_eq!(Vectors::from_bytes(b"cut"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    dims: usize,
    numbers: Vec<f32>,
}

impl Vectors {
    /// These vectors, all of one length.
    #[must_use]
    pub fn new(dims: usize, vectors: impl IntoIterator<Item = Vec<f32>>) -> Self {
        Self { dims, numbers: vectors.into_iter().flatten().collect() }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The form in which a database keeps them: the length of each, then all numbers, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let dims = u32::try_from(self.dims).unwrap_or(u32::MAX);
        let numbers = self.numbers.iter().flat_map(|number| number.to_le_bytes());
        dims.to_le_bytes().into_iter().chain(numbers).collect()
    }

    /// Reads that form; `None` if it is damaged.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (dims, numbers) = bytes.split_first_chunk::<4>()?;
        let dims = usize::try_from(u32::from_le_bytes(*dims)).ok()?;
        let whole = dims > 0 && numbers.len() % 4 == 0 && (numbers.len() / 4) % dims == 0;
        let numbers: Vec<f32> = numbers.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        (whole && numbers.iter().all(|number| number.is_finite())).then_some(Self { dims, numbers })
    }

    /// The cosine of the vector that is nearest to this one; `None` without vectors of its length. It is computed here,
    /// in the same order of additions for every store, so that all of them give the same score.
    #[must_use]
    pub fn score(&self, query: &[f32]) -> Option<f64> {
        if self.dims != query.len() || query.is_empty() {
            return None;
        }
        self.numbers.chunks_exact(self.dims).map(|vector| cosine(vector, query)).max_by(f64::total_cmp)
    }
}

/// 0 if one of them has no direction.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let (mut product, mut a_squares, mut b_squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (f64::from(*a), f64::from(*b));
        product += a * b;
        a_squares += a * a;
        b_squares += b * b;
    }
    let lengths = a_squares.sqrt() * b_squares.sqrt();
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_ignores_lengths_and_knows_opposites() {
        let cases: [(&[f32], &[f32], f64); 5] = [
            (&[1.0, 0.0], &[5.0, 0.0], 1.0),
            (&[1.0, 0.0], &[0.0, 3.0], 0.0),
            (&[1.0, 0.0], &[-2.0, 0.0], -1.0),
            (&[0.0, 0.0], &[1.0, 0.0], 0.0),
            (&[3.0, 4.0], &[4.0, 3.0], 0.96),
        ];
        for (a, b, expected) in cases {
            assert_eq!(cosine(a, b), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_nearest_vector_of_an_item_counts() {
        let vectors = Vectors::new(2, [vec![1.0, 0.0], vec![0.0, 1.0]]);
        assert_eq!(vectors.score(&[0.0, 9.0]), Some(1.0));
        assert_eq!(Vectors::default().score(&[1.0]), None);
        assert_eq!(vectors.score(&[]), None);
    }

    #[test]
    fn damaged_bytes_are_no_vectors() {
        let bytes = Vectors::new(2, [vec![1.0, 0.5]]).to_bytes();
        assert_eq!(bytes.len(), 12);
        for end in [0, 3, 5, 8, 11] {
            assert_eq!(Vectors::from_bytes(&bytes[..end]), None, "{end}");
        }
        let mut other = bytes.clone();
        other[0] = 0;
        assert_eq!(Vectors::from_bytes(&other), None);
        let nan = [&bytes[..4], &f32::NAN.to_le_bytes(), &bytes[8..]].concat();
        assert_eq!(Vectors::from_bytes(&nan), None);
    }
}
