//! A sentence cut into tokens: lower case, without accents, number words as
//! numbers, and a mark on those that a rule has already used.

use crate::hotel::clean::clean_line;
use crate::hotel::understand::numbers;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters.
    Word,
    /// A number in digits or words.
    Number(u32),
    /// `3rd` or `third`.
    Ordinal(u32),
    /// One sign of punctuation.
    Mark,
}

/// A piece of the sentence.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Lower case, accents folded.
    pub(crate) low: String,
    /// Where it stands in the cleaned source.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// No blank between this and the token before.
    pub(crate) glued: bool,
    /// A hyphen between two letters, or letter and digit, came before.
    pub(crate) hyphen: bool,
    /// A number written in words.
    pub(crate) spelled: bool,
    used: bool,
}

impl Token {
    fn new(kind: Kind, low: String, start: usize, end: usize) -> Self {
        Self { kind, low, start, end, glued: false, hyphen: false, spelled: false, used: false }
    }
}

/// A sentence as tokens.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    source: String,
    tokens: Vec<Token>,
}

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let source: String = clean_line(text).chars().map(plain_sign).collect();
        let tokens = numbers::merge(tokenise(&source));
        Self { source, tokens }
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The token if it exists and no rule used it.
    pub(crate) fn get(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at).filter(|token| !token.used)
    }

    /// The token, used or not.
    pub(crate) fn raw(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(crate) fn is_used(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.used)
    }

    /// The lower case text of an unused token, else nothing.
    pub(crate) fn low(&self, at: usize) -> &str {
        self.get(at).map_or("", |token| token.low.as_str())
    }

    /// The lower case text before `at`, else nothing.
    pub(crate) fn before(&self, at: usize, steps: usize) -> &str {
        at.checked_sub(steps).map_or("", |at| self.low(at))
    }

    pub(crate) fn number(&self, at: usize) -> Option<u32> {
        match self.get(at)?.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn ordinal(&self, at: usize) -> Option<u32> {
        match self.get(at)?.kind {
            Kind::Ordinal(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn is_mark(&self, at: usize, mark: &str) -> bool {
        self.get(at).is_some_and(|token| token.kind == Kind::Mark && token.low == mark)
    }

    pub(crate) fn is_glued(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.glued)
    }

    pub(crate) fn any(&self, at: usize, words: &[&str]) -> bool {
        let low = self.low(at);
        !low.is_empty() && words.contains(&low)
    }

    /// How many tokens the phrase takes if it stands at `at`.
    pub(crate) fn phrase(&self, at: usize, phrase: &str) -> Option<usize> {
        if self.low(at).as_bytes().first() != phrase.as_bytes().first() {
            return None;
        }
        let mut length = 0;
        for word in phrase.split(' ') {
            if self.low(at + length) != word {
                return None;
            }
            length += 1;
        }
        Some(length)
    }

    /// The length of the longest of the phrases that stands at `at`.
    pub(crate) fn longest(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        phrases.iter().filter_map(|phrase| self.phrase(at, phrase)).max()
    }

    /// Whether one of the phrases ends right before `at`.
    pub(crate) fn ends_before(&self, at: usize, phrases: &[&str]) -> bool {
        let last = at.checked_sub(1).map_or("", |before| self.low(before));
        let last = last.as_bytes().last();
        let alike = |phrase: &&&str| last.is_some() && phrase.as_bytes().last() == last;
        phrases.iter().filter(alike).any(|phrase| {
            let length = phrase.split(' ').count();
            at.checked_sub(length).is_some_and(|start| self.phrase(start, phrase).is_some())
        })
    }

    /// Whether one of the phrases stands anywhere among unused tokens.
    pub(crate) fn contains(&self, phrases: &[&str]) -> bool {
        (0..self.len()).any(|at| self.longest(at, phrases).is_some())
    }

    pub(crate) fn take(&mut self, from: usize, to: usize) {
        let to = to.min(self.tokens.len());
        for token in self.tokens.get_mut(from..to).into_iter().flatten() {
            token.used = true;
        }
    }

    /// The words as said, from one token up to but not including another.
    pub(crate) fn said(&self, from: usize, to: usize) -> &str {
        let Some(last) = to.checked_sub(1).and_then(|last| self.tokens.get(last)) else {
            return "";
        };
        self.tokens.get(from).and_then(|first| self.source.get(first.start..last.end)).unwrap_or("")
    }

    /// Whether the token begins with a capital.
    pub(crate) fn capital(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .and_then(|token| self.source.get(token.start..)?.chars().next())
            .is_some_and(char::is_uppercase)
    }

    /// Whether nothing but marks and used tokens is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.tokens.iter().all(|token| token.used || token.kind == Kind::Mark)
    }
}

fn tokenise(source: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut hyphen = false;
    let mut chars = source.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        let mut grow = |accept: &dyn Fn(char, Option<char>) -> bool| {
            while let Some(&(at, next)) = chars.peek() {
                let after = source[at..].chars().nth(1);
                if !accept(next, after) {
                    break;
                }
                end = at + next.len_utf8();
                chars.next();
            }
        };
        let mut token = if c.is_alphabetic() {
            grow(&|c, after| is_letter(c) || (c == '\'' && after.is_some_and(char::is_alphabetic)));
            Token::new(Kind::Word, fold(&source[start..end]), start, end)
        } else if c.is_ascii_digit() {
            grow(&|c, _| c.is_ascii_digit());
            let digits = &source[start..end];
            let number = digits.parse().unwrap_or(u32::MAX);
            Token::new(Kind::Number(number), digits.to_owned(), start, end)
        } else if c.is_ascii_punctuation() || c == '€' || c == '£' {
            let before = tokens.last().filter(|before| before.end == start);
            let after = source[end..].chars().next();
            if c == '-' && before.is_some() && after.is_some_and(char::is_alphabetic) {
                hyphen = true;
                continue;
            }
            Token::new(Kind::Mark, c.to_string(), start, end)
        } else {
            continue;
        };
        token.hyphen = std::mem::take(&mut hyphen);
        token.glued = token.hyphen || tokens.last().is_some_and(|before| before.end == start);
        tokens.push(token);
    }
    tokens
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// One form for each of the signs that keyboards and word processors write in
/// many.
fn plain_sign(c: char) -> char {
    match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ad}' | '\u{fe63}' | '\u{ff0d}' | '→' => '-',
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '`' | '´' => '\'',
        '\u{201c}'..='\u{201f}' | '«' | '»' => '"',
        '…' | '。' => '.',
        '，' | '、' => ',',
        '\u{ff10}'..='\u{ff19}' => {
            let digit = u32::from(c) - 0xff10;
            char::from_digit(digit, 10).unwrap_or(c)
        }
        _ => c,
    }
}

fn fold(word: &str) -> String {
    let letters = word.chars().flat_map(char::to_lowercase);
    letters
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .map(|c| match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' => 'a',
            'ç' => 'c',
            'è' | 'é' | 'ê' | 'ë' | 'ē' => 'e',
            'ì' | 'í' | 'î' | 'ï' | 'ī' => 'i',
            'ñ' => 'n',
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' => 'o',
            'ù' | 'ú' | 'û' | 'ü' | 'ū' => 'u',
            'ý' | 'ÿ' => 'y',
            _ => c,
        })
        .collect()
}
