//! Closed lists of words: the enums of the domain, and the error for a word
//! that is not on its list, which names the nearest one that is.

/// A word that is not on a closed list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {list} `{value}`, {hint}", hint = self.hint())]
pub struct UnknownChoice {
    /// What the list holds, such as `amenity`.
    pub list: &'static str,
    /// The word as said.
    pub value: String,
    /// The nearest word of the list, if one is near.
    pub nearest: Option<&'static str>,
    /// Every word of the list.
    pub allowed: Vec<&'static str>,
}

impl UnknownChoice {
    fn hint(&self) -> String {
        match self.nearest {
            Some(word) => format!("did you mean `{word}`"),
            None => format!("choose one of: {}", self.allowed.join(", ")),
        }
    }
}

/// The word of `allowed` with the smallest edit distance to `value`, the first
/// one of equals; `None` if even that one differs in more than half of its
/// letters.
#[must_use]
pub fn nearest(value: &str, allowed: &[&'static str]) -> Option<&'static str> {
    let value = value.trim().to_lowercase();
    allowed
        .iter()
        .map(|word| (edit_distance(&value, word), *word))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, word)| distance * 2 <= word.chars().count())
        .map(|(_, word)| word)
}

/// How many letters must be inserted, removed, replaced or swapped with their
/// neighbour to turn one word into the other.
#[must_use]
pub fn edit_distance(left: &str, right: &str) -> usize {
    // Longer words are never near a word of our lists; the cut bounds the work.
    let left: Vec<char> = left.chars().take(64).collect();
    let right: Vec<char> = right.chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut next = vec![i];
        for j in 1..=right.len() {
            let cost = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (row[j] + 1).min(next[j - 1] + 1).min(row[j - 1] + cost);
            let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

/// Defines an enum of fixed words with `ALL`, `as_str`, `Display`, `FromStr`
/// (trimmed, any case) and the serde and schema forms of the same words.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident, $list:literal { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word of the list.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::hotel::choice::UnknownChoice;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let allowed: &[&'static str] = &[$($word,)+];
                let text = text.trim();
                Self::ALL
                    .iter()
                    .find(|value| value.as_str().eq_ignore_ascii_case(text))
                    .copied()
                    .ok_or_else(|| $crate::hotel::choice::UnknownChoice {
                        list: $list,
                        value: text.to_owned(),
                        nearest: $crate::hotel::choice::nearest(text, allowed),
                        allowed: allowed.to_vec(),
                    })
            }
        }
    };
}

pub(crate) use choice;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_single_steps_and_swaps() {
        assert_eq!(edit_distance("", "pool"), 4);
        assert_eq!(edit_distance("pool", "pool"), 0);
        assert_eq!(edit_distance("poool", "pool"), 1);
        assert_eq!(edit_distance("pol", "pool"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("wfii", "wifi"), 1);
    }

    #[test]
    fn nearest_is_none_when_nothing_is_near() {
        assert_eq!(nearest("Gim", &["gym", "spa"]), Some("gym"));
        assert_eq!(nearest("helipad", &["gym", "spa"]), None);
    }
}
