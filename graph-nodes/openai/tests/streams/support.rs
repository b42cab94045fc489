//! Reads bytes in pieces, and compares what came out.

use graph_nodes::assemble::Random;
use graph_nodes::model::{Chunk, Collector, ModelError, Response};
use graph_nodes_openai::StreamReader;

/// What came out of a stream: chunks, then perhaps an error.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) error: Option<ModelError>,
}

impl Read {
    /// Reads the pieces up to an error or to their end.
    pub(crate) fn of<'a>(mut reader: StreamReader, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut chunks = Vec::new();
        for piece in pieces {
            match reader.push(piece) {
                Ok(more) => chunks.extend(more),
                Err(error) => return Self { chunks, error: Some(error) },
            }
        }
        match reader.finish() {
            Ok(more) => chunks.extend(more),
            Err(error) => return Self { chunks, error: Some(error) },
        }
        Self { chunks, error: None }
    }

    pub(crate) fn whole(body: &[u8]) -> Self {
        Self::of(StreamReader::new(), [body])
    }

    /// The response, if it came without an error.
    pub(crate) fn response(self) -> Response {
        assert!(self.error.is_none(), "{:?}", self.error);
        self.collector().finish().expect("lenient")
    }

    pub(crate) fn collector(self) -> Collector {
        let mut collector = Collector::new();
        self.chunks.into_iter().for_each(|chunk| drop(collector.push(chunk)));
        collector
    }

    /// The error's text and what is in it.
    pub(crate) fn told(&self) -> Option<String> {
        self.error.as_ref().map(|error| format!("{error:?}"))
    }

    /// Fails if the other one gave something else.
    pub(crate) fn assert_same(&self, other: &Self, what: impl Fn() -> String) {
        assert!(self.chunks == other.chunks, "{}: {:#?}\n{:#?}", what(), self.chunks, other.chunks);
        assert_eq!(self.told(), other.told(), "{}", what());
    }
}

/// Where to cut so many bytes: a few places, many, or after every few bytes.
pub(crate) fn cuts(length: usize, random: &mut Random) -> Vec<usize> {
    let mut at: Vec<usize> = match random.below(8) {
        0 => Vec::new(),
        1 | 2 => vec![random.below(length + 1)],
        3 | 4 => (0..2 + random.below(8)).map(|_| random.below(length + 1)).collect(),
        5 => (0..length / (1 + random.below(40))).map(|_| random.below(length + 1)).collect(),
        6 => (0..length).step_by(1 + random.below(16)).collect(),
        _ => (0..length).collect(),
    };
    at.sort_unstable();
    at
}

/// The pieces between the cuts, empty ones among them.
pub(crate) fn pieces<'a>(body: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let ends = cuts.iter().copied().chain([body.len()]);
    ends.scan(0, |from, to| {
        let piece = &body[*from..to];
        *from = to;
        Some(piece)
    })
}

/// Checks so many seeds on four threads: the order of seeds doesn't matter. `STREAMS_FROM` and `STREAMS_CASES` choose
/// others, as `scripts/streams` does; a failing one is named.
pub(crate) fn for_seeds(cases: u64, check: impl Fn(u64) + Sync) {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) if !text.is_empty() => text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")),
        _ => default,
    };
    let (from, cases) = (number("STREAMS_FROM", 0), number("STREAMS_CASES", cases));
    let test = std::thread::current().name().unwrap_or("streams").to_owned();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (check, test) = (&check, &test);
            scope.spawn(move || {
                for seed in (from + part..from + cases).step_by(4) {
                    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(seed)));
                    assert!(outcome.is_ok(), "seed {seed}; reproduce it with: scripts/streams --seed {seed} {test}");
                }
            });
        }
    });
}
