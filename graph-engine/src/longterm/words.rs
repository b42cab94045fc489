//! Texts as words, the same on every store.

use std::collections::BTreeMap;

use serde_json::Value;

/// Longer words are cut: no language has them, and no index wants them.
const LONGEST: usize = 64;

/// What of a value is indexed, in bytes of its words.
const MOST: usize = 200_000;

/// How often each word occurs in texts: runs of letters and digits in lower case, cut to 64 characters. After 200,000
/// bytes of words the rest isn't looked at.
pub(super) fn words<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, u32> {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    let mut bytes = 0;
    for text in texts {
        for word in text.split(|letter: char| !is_part(letter)).filter(|word| !word.is_empty()) {
            let word: String = word.chars().take(LONGEST).collect::<String>().to_lowercase();
            bytes += word.len();
            if bytes > MOST {
                return found;
            }
            *found.entry(word).or_default() += 1;
        }
    }
    found
}

/// Letters, digits, and the signs that stand on or within the letters of a word without being any.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric()
        || match u32::from(letter) {
            // Accents of their own, Hebrew and Arabic points, Thai and Lao tones, joiners.
            0x300..=0x36F | 0x591..=0x5C7 | 0x64B..=0x65F | 0xE31..=0xE4E | 0xEB1..=0xECD | 0x200C | 0x200D => true,
            // The scripts of India have their dots and vowel killers at equal places.
            sign @ 0x900..=0xD7F => matches!(sign & 0x7F, 0x3C | 0x4D),
            _ => false,
        }
}

/// The words of all texts in a value, keys of objects aside.
pub(super) fn words_of(value: &Value) -> BTreeMap<String, u32> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    words(texts)
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect(value, texts)),
        Value::Object(map) => map.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        let found: Vec<_> = words(["Ålesund's 2nd-best HOTEL, hotel!", "東京 ¿no?"]).into_iter().collect();
        let expected = [("2nd", 1), ("best", 1), ("hotel", 2), ("no", 1), ("s", 1), ("ålesund", 1), ("東京", 1)];
        assert_eq!(found, expected.map(|(word, times)| (word.to_owned(), times)));
    }

    #[test]
    fn signs_within_a_word_part_nothing() {
        for word in ["e\u{301}te\u{301}", "हिन्दी", "ภาษาไทยที่", "می\u{200C}خواهم", "קָמָץ"]
        {
            assert_eq!(words([word]).into_keys().collect::<Vec<_>>(), [word]);
        }
    }

    #[test]
    fn the_words_of_a_value_are_those_of_its_texts_and_not_of_its_keys() {
        let found = words_of(&json!({"city": "Oslo", "tags": ["sea", {"deep": "Oslo"}], "n": 7, "no": null}));
        assert_eq!(found, BTreeMap::from([("oslo".to_owned(), 2), ("sea".to_owned(), 1)]));
    }

    #[test]
    fn a_long_word_is_cut_and_a_long_text_is_not_read_to_its_end() {
        let long = "x".repeat(1_000);
        assert_eq!(words([long.as_str()]), BTreeMap::from([("x".repeat(64), 1)]));
        let many: String = (0..100_000).map(|n| format!("w{n} ")).collect();
        let found = words([many.as_str()]);
        assert!(found.contains_key("w0") && !found.contains_key("w99999"));
        assert!(found.keys().map(String::len).sum::<usize>() <= 200_000);
    }
}
