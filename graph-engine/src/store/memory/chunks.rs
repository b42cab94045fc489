//! Lists that never move what is in them, so that growing copies nothing and touches no memory twice.

/// Items in chunks, each as long as all before it together.
#[derive(Clone)]
pub(super) struct Chunks<T> {
    /// The only one of most threads.
    first: Vec<T>,
    chunks: Vec<Vec<T>>,
    len: usize,
}

/// Items of the first chunk: a thread of a short turn needs no other.
const FIRST: usize = 8;

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { first: Vec::new(), chunks: Vec::new(), len: 0 }
    }
}

impl<T> Chunks<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self[at])
    }

    pub(super) fn push(&mut self, item: T) {
        if self.len < FIRST {
            self.first.reserve_exact(FIRST - self.len);
            self.first.push(item);
        } else {
            // Not by the room that a chunk has: that of a copy has none.
            let (chunk, _) = place(self.len);
            if chunk == self.chunks.len() {
                self.chunks.push(Vec::with_capacity(self.len));
            }
            self.chunks[chunk].push(item);
        }
        self.len += 1;
    }
}

/// Where an item behind the first chunk is.
fn place(at: usize) -> (usize, usize) {
    let chunk = (at / FIRST).ilog2();
    (chunk as usize, at - (FIRST << chunk))
}

impl<T> std::ops::Index<usize> for Chunks<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        if at < FIRST {
            return &self.first[at];
        }
        let (chunk, at) = place(at);
        &self.chunks[chunk][at]
    }
}

/// Bytes of many rows, each in one piece.
#[derive(Clone, Default)]
pub(super) struct Bytes {
    /// The only chunk of most threads.
    first: Vec<u8>,
    chunks: Vec<Vec<u8>>,
    len: usize,
}

/// Where bytes are: see [`Bytes::LONGEST`].
#[derive(Clone, Copy)]
pub(super) struct Span {
    chunk: u32,
    start: u32,
    len: u32,
}

impl Span {
    pub(super) fn len(self) -> usize {
        self.len as usize
    }

    /// A part of it; nothing if it isn't.
    pub(super) fn part(self, part: std::ops::Range<usize>) -> Self {
        let fits = part.start <= part.end && part.end <= self.len();
        let part = if fits { part } else { 0..0 };
        // No more than its own numbers.
        Self { start: self.start + part.start as u32, len: part.len() as u32, ..self }
    }
}

impl Bytes {
    /// Bytes of the first chunk, and of those that come when there are many.
    const LEAST: usize = 512;
    const MOST: usize = 64 * 1024;

    /// What may be added at once, so that 32 bits say where it is.
    pub(super) const LONGEST: usize = u32::MAX as usize;

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds no more than [`LONGEST`](Self::LONGEST).
    pub(super) fn add(&mut self, bytes: &[u8]) -> Span {
        let room = self.len.clamp(Self::LEAST, Self::MOST).max(bytes.len());
        let full = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() < bytes.len();
        if self.len == 0 {
            self.first.reserve_exact(room);
        } else if full(self.chunks.last().unwrap_or(&self.first)) {
            self.chunks.push(Vec::with_capacity(room));
        }
        // There are no 2^32 chunks of half a kilobyte.
        let number = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        let chunk = self.chunks.last_mut().unwrap_or(&mut self.first);
        let start = chunk.len();
        chunk.extend_from_slice(bytes);
        self.len += bytes.len();
        // A chunk is longer than `MOST` only if it holds one row.
        Span { chunk: number, start: start as u32, len: bytes.len() as u32 }
    }

    pub(super) fn get(&self, span: Span) -> &[u8] {
        // The first one has the number 0.
        let chunk = (span.chunk as usize).checked_sub(1).map_or(&self.first, |at| &self.chunks[at]);
        &chunk[span.start as usize..][..span.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_where_they_were_put() {
        let mut chunks = Chunks::default();
        for item in 0..10_000_usize {
            assert_eq!(chunks.len(), item);
            chunks.push(item);
        }
        assert!((0..10_000).all(|at| chunks[at] == at));
        let sizes: Vec<usize> = chunks.chunks.iter().map(Vec::len).collect();
        assert_eq!((chunks.first.len(), &sizes[..4]), (8, &[8, 16, 32, 64][..]));
        for len in 0..100 {
            let mut short = Chunks::default();
            (0..len).for_each(|item| short.push(item));
            let mut copy = short.clone();
            (len..200).for_each(|item| copy.push(item));
            assert!((0..200).all(|at| copy[at] == at) && short.len() == len);
        }
    }

    #[test]
    fn bytes_stay_in_one_piece() {
        let mut bytes = Bytes::default();
        let texts: Vec<Vec<u8>> = (0..2_000_usize).map(|n| vec![n as u8; n * 37 % 400]).collect();
        let mut spans: Vec<Span> = texts.iter().map(|text| bytes.add(text)).collect();
        let large = vec![7; 3 * Bytes::MOST];
        spans.push(bytes.add(&large));
        spans.push(bytes.add(b"after"));
        for (text, span) in texts.iter().map(Vec::as_slice).chain([&*large, b"after"]).zip(&spans) {
            assert_eq!(bytes.get(*span), text);
        }
        assert_eq!(bytes.len(), texts.iter().map(Vec::len).sum::<usize>() + large.len() + 5);
        let last = spans[spans.len() - 1];
        assert_eq!((bytes.get(last.part(1..3)), bytes.get(last.part(0..5))), (&b"ft"[..], &b"after"[..]));
        for outside in [0..6, 5..9, usize::MAX..usize::MAX] {
            assert_eq!(bytes.get(last.part(outside)), b"");
        }
    }
}
