//! Numbers in words, ordinals and thousands, each merged into one token.

use crate::hotel::understand::normalise::{Kind, Token};

const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// Merges neighbouring tokens that are one number.
pub(super) fn merge(tokens: Vec<Token>) -> Vec<Token> {
    let mut merged = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let found = ordinal_digits(&tokens, at).or_else(|| thousands(&tokens, at)).or_else(|| words(&tokens, at));
        let Some((kind, length)) = found else {
            merged.push(tokens[at].clone());
            at += 1;
            continue;
        };
        let mut token = tokens[at].clone();
        token.spelled = token.kind == Kind::Word;
        token.kind = kind;
        token.end = tokens[at + length - 1].end;
        for part in &tokens[at + 1..at + length] {
            token.low.push(' ');
            token.low.push_str(&part.low);
        }
        merged.push(token);
        at += length;
    }
    merged
}

fn low(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.low.as_str())
}

/// `3rd`.
fn ordinal_digits(tokens: &[Token], at: usize) -> Option<(Kind, usize)> {
    let Kind::Number(number) = tokens[at].kind else {
        return None;
    };
    let suffix = tokens.get(at + 1).filter(|next| next.glued)?;
    matches!(suffix.low.as_str(), "st" | "nd" | "rd" | "th").then_some((Kind::Ordinal(number), 2))
}

/// `1.200` and `1,200`, but not the day in `03.07.2026`.
fn thousands(tokens: &[Token], at: usize) -> Option<(Kind, usize)> {
    let Kind::Number(head @ 1..=999) = tokens[at].kind else {
        return None;
    };
    let mark = tokens.get(at + 1).filter(|mark| mark.glued)?;
    let tail = tokens.get(at + 2).filter(|tail| tail.glued)?;
    let Kind::Number(rest) = tail.kind else {
        return None;
    };
    let is_group = matches!(mark.low.as_str(), "." | ",") && tail.low.len() == 3;
    is_group.then(|| (Kind::Number(head * 1000 + rest), 3))
}

fn words(tokens: &[Token], at: usize) -> Option<(Kind, usize)> {
    let (first, mut length) = match below_hundred(tokens, at) {
        Some((kind @ Kind::Ordinal(_), length)) => return Some((kind, length)),
        Some((Kind::Number(number), length)) => (number, length),
        _ if matches!(low(tokens, at), "a" | "one") && is_hundred(tokens, at + 1) => (1, 1),
        _ => return None,
    };
    let scale = match low(tokens, at + length) {
        "hundred" => 100,
        "thousand" => 1000,
        _ => return Some((Kind::Number(first), length)),
    };
    length += 1;
    let joined = usize::from(low(tokens, at + length) == "and");
    match below_hundred(tokens, at + length + joined) {
        Some((Kind::Number(rest), more)) => Some((Kind::Number(first * scale + rest), length + joined + more)),
        _ => Some((Kind::Number(first * scale), length)),
    }
}

fn is_hundred(tokens: &[Token], at: usize) -> bool {
    matches!(low(tokens, at), "hundred" | "thousand")
}

fn below_hundred(tokens: &[Token], at: usize) -> Option<(Kind, usize)> {
    let word = low(tokens, at);
    if let Some(number) = place(&UNITS, word) {
        return Some((Kind::Number(number), 1));
    }
    if let Some(number) = place(&ORDINALS, word) {
        return Some((Kind::Ordinal(number), 1));
    }
    match word {
        "twentieth" => return Some((Kind::Ordinal(20), 1)),
        "thirtieth" => return Some((Kind::Ordinal(30), 1)),
        _ => {}
    }
    let tens = 20 + 10 * place(&TENS, word)?;
    let next = low(tokens, at + 1);
    if let Some(unit @ 1..=9) = place(&UNITS, next) {
        return Some((Kind::Number(tens + unit), 2));
    }
    if let Some(unit @ 1..=9) = place(&ORDINALS, next) {
        return Some((Kind::Ordinal(tens + unit), 2));
    }
    Some((Kind::Number(tens), 1))
}

fn place(words: &[&str], word: &str) -> Option<u32> {
    let place = words.iter().position(|known| *known == word)?;
    u32::try_from(place).ok()
}
