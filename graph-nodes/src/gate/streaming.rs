//! When the text of a response is shown.

use std::num::NonZeroUsize;

/// When the text of a response is shown to whoever waits for it.
///
/// Only [`HoldAll`](Self::HoldAll) never has to take something back, so it alone is possible where the model is asked
/// in one vertex and judged in another. Tool calls are never run before the whole response is accepted.
///
/// ```
/// use graph_nodes::gate::Streaming;
///
/// assert_eq!(Streaming::default(), Streaming::HoldAll);
/// assert_eq!(Streaming::every_chars(0), Streaming::every_chars(1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Streaming {
    /// Nothing before the response is accepted; then all of it.
    #[default]
    HoldAll,
    /// Piece by piece: what has arrived is shown up to a checkpoint as soon as every cheap check accepts the text up to
    /// there as if it were the whole answer. What no check accepts waits for the next checkpoint, and in the end for
    /// the verdict on the whole. Structured output is held back whole.
    Checkpoint(Checkpoint),
    /// Every piece at once.
    PassThrough,
}

/// Where a text may be shown up to.
///
/// Checkpoints of a long text lie further apart, at least a 64th of what came before, so that all checks together take
/// time that is linear in its length.
///
/// ```
/// use graph_nodes::gate::{Checkpoint, Streaming};
///
/// assert_eq!(Streaming::every_sentence(), Streaming::Checkpoint(Checkpoint::Sentence));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoint {
    /// After so many characters.
    Chars(NonZeroUsize),
    /// After a sentence: a line break, or `.`, `!`, `?`, `…` and white space.
    Sentence,
}

impl Streaming {
    /// A checkpoint after so many characters, at least one.
    pub fn every_chars(chars: usize) -> Self {
        Self::Checkpoint(Checkpoint::Chars(NonZeroUsize::new(chars).unwrap_or(NonZeroUsize::MIN)))
    }

    /// A checkpoint after each sentence.
    pub fn every_sentence() -> Self {
        Self::Checkpoint(Checkpoint::Sentence)
    }
}

/// Finds the checkpoints of a text that is given one character after the other.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Characters before the latest checkpoint, and since.
    before: usize,
    since: usize,
    sentence_ends: bool,
}

impl Checkpoints {
    /// Whether there is a checkpoint behind this character.
    pub(super) fn is_behind(&mut self, next: char, checkpoint: Checkpoint) -> bool {
        self.since += 1;
        let (is_place, least) = match checkpoint {
            Checkpoint::Chars(chars) => (true, chars.get()),
            Checkpoint::Sentence => {
                let ended = next == '\n' || (self.sentence_ends && next.is_whitespace());
                self.sentence_ends = matches!(next, '.' | '!' | '?' | '…' | '。' | '！' | '？');
                (ended, 1)
            }
        };
        let is_behind = is_place && self.since >= least.max(self.before / 64);
        if is_behind {
            self.before += std::mem::take(&mut self.since);
        }
        is_behind
    }
}
