//! Lists that never move what is in them, so that growing copies nothing and touches no memory twice.

/// Items in chunks, each as long as all before it together.
#[derive(Clone)]
pub(super) struct Chunks<T> {
    /// Those that are full.
    full: Vec<Vec<T>>,
    /// The last one, which is the only one of most threads, and how many items are before it.
    last: Vec<T>,
    before: usize,
}

/// Items of the first chunk: a thread of a short turn needs no other.
const FIRST: usize = 8;

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Self { full: Vec::new(), last: Vec::new(), before: 0 }
    }
}

impl<T> Chunks<T> {
    pub(super) fn len(&self) -> usize {
        self.before + self.last.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&T> {
        (at < self.len()).then(|| &self[at])
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        // Not by the room that a chunk has: that of a copy has none.
        if self.last.is_empty() || self.last.len() == self.before.max(FIRST) {
            self.begin_chunk();
        }
        self.last.push(item);
    }

    #[cold]
    fn begin_chunk(&mut self) {
        let len = self.len();
        let chunk = std::mem::replace(&mut self.last, Vec::with_capacity(len.max(FIRST)));
        if !chunk.is_empty() {
            self.full.push(chunk);
        }
        self.before = len;
    }
}

/// Where an item of a chunk that is full is.
fn place(at: usize) -> (usize, usize) {
    match (at / FIRST).checked_ilog2() {
        None => (0, at),
        Some(chunk) => (chunk as usize + 1, at - (FIRST << chunk)),
    }
}

impl<T> std::ops::Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        // What is looked at is mostly new.
        match at.checked_sub(self.before) {
            Some(at) => &self.last[at],
            None => {
                let (chunk, at) = place(at);
                &self.full[chunk][at]
            }
        }
    }
}

/// Bytes of many rows, each in one piece.
#[derive(Clone, Default)]
pub(super) struct Bytes {
    /// Those that have no room for the next.
    full: Vec<Vec<u8>>,
    /// The last one, which is the only one of most threads.
    last: Vec<u8>,
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
    #[inline]
    pub(super) fn add(&mut self, bytes: &[u8]) -> Span {
        if self.last.capacity() - self.last.len() < bytes.len() {
            self.begin_chunk(bytes.len());
        }
        // There are no 2^32 chunks of half a kilobyte.
        let chunk = u32::try_from(self.full.len()).unwrap_or(u32::MAX);
        let start = self.last.len();
        self.last.extend_from_slice(bytes);
        self.len += bytes.len();
        // A chunk is longer than `MOST` only if it holds one row.
        Span { chunk, start: start as u32, len: bytes.len() as u32 }
    }

    #[cold]
    fn begin_chunk(&mut self, least: usize) {
        let room = self.len.clamp(Self::LEAST, Self::MOST).max(least);
        let chunk = std::mem::replace(&mut self.last, Vec::with_capacity(room));
        if !chunk.is_empty() {
            self.full.push(chunk);
        }
    }

    pub(super) fn get(&self, span: Span) -> &[u8] {
        let chunk = self.full.get(span.chunk as usize).unwrap_or(&self.last);
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
        let sizes: Vec<usize> = chunks.full.iter().map(Vec::len).collect();
        assert_eq!(sizes[..5], [8, 8, 16, 32, 64]);
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
