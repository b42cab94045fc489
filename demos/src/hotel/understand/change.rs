//! Changes of mind: words that correct what was said before, and words that
//! take something away.

use crate::hotel::understand::normalise::Text;

const CORRECTIONS: &[&str] = &[
    "no",
    "nope",
    "actually",
    "sorry",
    "wait",
    "rather",
    "mean",
    "meant",
    "instead",
    "scratch",
    "correction",
    "oops",
    "make",
    "hang",
    "hold",
    "oh",
    "better",
    "change",
    "hmm",
    "erm",
    "er",
];

/// Whether the words from one token up to another take back what came before.
/// Only the last dozen count, which also bounds the work.
pub(super) fn is_correction(text: &Text, from: usize, to: usize) -> bool {
    (from.max(to.saturating_sub(12))..to)
        .any(|at| text.raw(at).is_some_and(|token| CORRECTIONS.contains(&token.low.as_str())))
}

/// Words that take away whatever follows them in the clause.
pub(super) const DROPS: &[&str] = &[
    "without",
    "forget",
    "forget about",
    "drop",
    "skip",
    "remove",
    "lose",
    "ditch",
    "minus",
    "never mind",
    "nevermind",
    "instead of",
    "rather than",
    "leave out",
    "take out",
    "take off",
    "scrap",
    "don't need",
    "do not need",
    "dont need",
    "don't want",
    "do not want",
    "dont want",
    "no need for",
    "no longer need",
    "no longer want",
    "don't care about",
    "not bothered about",
    "don't really need",
    "don't actually need",
    "won't need",
    "needn't have",
    "no more need for",
    "can do without",
    "could do without",
    "get rid of",
    "delete",
    "exclude",
    "excluding",
    "except",
    "cancel",
    "swap",
    "replace",
    "exchange",
    "ignore",
    "not interested in",
    "cut",
    "don't require",
    "don't insist on",
    "doesn't need",
    "doesn't have to have",
    "can live without",
    "doesn't need to have",
    "didn't need",
    "no longer require",
    "no longer looking for",
];

/// Words that take away only the thing right after them.
pub(super) const DENIALS: &[&str] = &["no", "not", "nor", "neither"];

/// Words that end what [`DROPS`] began.
pub(super) const WANTS: &[&str] = &[
    "with",
    "add",
    "want",
    "need",
    "but",
    "plus",
    "like",
    "have",
    "has",
    "having",
    "prefer",
    "rather",
    "just",
    "only",
    "instead",
    "give",
    "keep",
    "include",
    "including",
    "for",
    "looking",
    ".",
    "!",
    "?",
    ";",
    "must",
    "should",
    "love",
    "get",
    "also",
];

/// Words after a thing which say that it is not wanted.
pub(super) const UNWANTED: &[&str] = &[
    "not needed",
    "not necessary",
    "not important",
    "not required",
    "isn't needed",
    "isn't necessary",
    "isn't important",
    "isn't required",
    "doesn't matter",
    "does not matter",
    "no longer",
    "don't matter",
    "do not matter",
    "aren't needed",
    "aren't important",
    "aren't necessary",
    "can go",
    "unnecessary",
    "optional",
    "not essential",
    "isn't essential",
    "needed no more",
    "off the list",
    "not a must",
    "isn't a must",
    "no object",
    "irrelevant",
    "not an issue",
    "isn't an issue",
    "no issue",
    "isn't a problem",
    "no problem",
    "flexible",
    "not a problem",
    "not a concern",
    "isn't a concern",
    "no concern",
    "not matter",
];

/// Whether the thing that ends before `at` is said to be unwanted.
pub(super) fn unwanted_after(text: &Text, at: usize) -> Option<usize> {
    let mut start = at;
    while start < at + 3 && text.any(start, &["is", "are", "really", "any", "limit", "that's", "was", "just"]) {
        start += 1;
    }
    text.longest(start, UNWANTED).map(|length| start + length)
}
