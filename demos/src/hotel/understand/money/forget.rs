//! A budget that no longer matters.

use crate::hotel::understand::change::{DROPS, unwanted_after};
use crate::hotel::understand::normalise::Text;

/// Finds a budget that no longer matters and marks the words.
pub(super) fn budget(text: &mut Text) -> bool {
    const MONEY: &[&str] =
        &["budget", "limit", "cap", "ceiling", "price", "prices", "money", "cost", "costs", "spending"];
    const SAID: &[&str] = &[
        "any price",
        "whatever it costs",
        "whatever the price",
        "whatever the cost",
        "no limit",
        "sky's the limit",
        "unlimited budget",
        "no budget",
        "money no object",
        "regardless of price",
        "at any cost",
        "regardless of cost",
        "no matter the price",
        "no matter the cost",
        "no matter what it costs",
        "price no object",
        "open budget",
        "no price limit",
        "sky is the limit",
        "no matter how much",
        "i don't mind the price",
        "no max price",
        "no maximum price",
        "no upper limit",
    ];
    for at in 0..text.len() {
        let verb = text.longest(at, DROPS).or_else(|| {
            let length = text.longest(
                at,
                &[
                    "no",
                    "lift",
                    "clear",
                    "don't mind",
                    "no more",
                    "don't worry about",
                    "don't care",
                    "do not care about",
                    "doesn't have to",
                ],
            );
            length.filter(|_| !text.any(at + 1, &["more"]) || text.any(at + 2, MONEY))
        });
        if let Some(length) = verb {
            let stop = (at + length..at + length + 6)
                .take_while(|next| !matches!(text.low(*next), "," | "." | "and" | "but" | "with" | "for"))
                .find(|next| text.any(*next, MONEY));
            if let Some(stop) = stop {
                let end = stop + 1 + usize::from(text.any(stop + 1, &["limit", "cap", "constraint"]));
                text.take(at, end);
                return true;
            }
        }
        if let Some(length) = text.longest(at, SAID) {
            text.take(at, at + length);
            return true;
        }
        if text.any(at, MONEY)
            && let Some(end) = unwanted_after(text, at + 1)
        {
            text.take(at, end);
            return true;
        }
    }
    false
}
