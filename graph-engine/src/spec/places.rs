//! Where each value of a JSON text stands, by its pointer.

use std::collections::BTreeMap;

use super::mistake::TextPlace;

/// Places of the members and elements of a text that is valid JSON.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_pointer: BTreeMap<String, Offsets>,
    /// Members that their object has already: pointer, name and offset of the later one.
    duplicates: Vec<(String, String, usize)>,
    lines: Vec<usize>,
    text: String,
}

/// Of a member's name, if it is one, and of the value.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    key: Option<usize>,
    value: usize,
}

impl Places {
    /// The places of a text. One that is no JSON has none.
    pub(super) fn of(text: &str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut places = Self { lines, text: text.to_owned(), ..Self::default() };
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
            let mut scan = Scan { text, at: 0, places: &mut places };
            scan.value(&mut String::new(), None);
        }
        places
    }

    /// The place of a value, or of its name; if it isn't there, of the innermost value around it that is.
    pub(super) fn find(&self, pointer: &str, on_key: bool) -> Option<TextPlace> {
        let mut pointer = pointer;
        loop {
            if let Some(offsets) = self.by_pointer.get(pointer) {
                let key = offsets.key.filter(|_| on_key);
                return Some(self.place(key.unwrap_or(offsets.value)));
            }
            pointer = pointer.rsplit_once('/')?.0;
        }
    }

    pub(super) fn duplicates(&self) -> impl Iterator<Item = (&str, &str, TextPlace)> {
        self.duplicates.iter().map(|(pointer, name, at)| (pointer.as_str(), name.as_str(), self.place(*at)))
    }

    fn place(&self, offset: usize) -> TextPlace {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line.saturating_sub(1)];
        TextPlace::new(line, self.text[start..offset].chars().count() + 1)
    }
}

/// A name as a part of a pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Walks over a text that is known to be JSON, so nothing can be wrong with it. serde_json's limit of depth bounds the
/// recursion.
struct Scan<'t, 'p> {
    text: &'t str,
    at: usize,
    places: &'p mut Places,
}

impl Scan<'_, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no space.
    fn token(&mut self) -> Option<u8> {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self, pointer: &mut String, key: Option<usize>) {
        let first = self.token();
        self.places.by_pointer.insert(pointer.clone(), Offsets { key, value: self.at });
        match first {
            Some(b'{') => self.members(pointer),
            Some(b'[') => self.elements(pointer),
            Some(b'"') => {
                self.string();
            }
            _ => {
                while self.peek().is_some_and(|byte| !b",]}".contains(&byte) && !byte.is_ascii_whitespace()) {
                    self.at += 1;
                }
            }
        }
    }

    fn members(&mut self, pointer: &mut String) {
        let (length, mut seen) = (pointer.len(), std::collections::BTreeSet::new());
        self.at += 1;
        while self.token() == Some(b'"') {
            let key = self.at;
            let name = self.string();
            self.token();
            // The colon.
            self.at += 1;
            pointer.push('/');
            pointer.push_str(&escaped(&name));
            self.value(pointer, Some(key));
            if !seen.insert(name.clone()) {
                self.places.duplicates.push((pointer.clone(), name, key));
            }
            pointer.truncate(length);
            if self.token() == Some(b',') {
                self.at += 1;
            }
        }
        // The closing brace.
        self.at += 1;
    }

    fn elements(&mut self, pointer: &mut String) {
        let length = pointer.len();
        self.at += 1;
        let mut index = 0;
        while self.token().is_some_and(|byte| byte != b']') {
            pointer.push_str(&format!("/{index}"));
            self.value(pointer, None);
            pointer.truncate(length);
            index += 1;
            if self.token() == Some(b',') {
                self.at += 1;
            }
        }
        // The closing bracket.
        self.at += 1;
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek().filter(|byte| *byte != b'"') {
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(places: &Places, pointer: &str, on_key: bool) -> (usize, usize) {
        let place = places.find(pointer, on_key).unwrap();
        (place.line, place.column)
    }

    #[test]
    fn every_value_and_every_name_has_a_place() {
        let text = "\n{ \"a\": [1, {\"b/c~\": \"ä\\\"]\" , \"é\":\ntrue}],\n  \"\": {} }\n";
        let places = Places::of(text);
        assert_eq!(at(&places, "", false), (2, 1));
        assert_eq!(at(&places, "/a", true), (2, 3));
        assert_eq!(at(&places, "/a", false), (2, 8));
        assert_eq!(at(&places, "/a/0", false), (2, 9));
        assert_eq!(at(&places, "/a/1", false), (2, 12));
        assert_eq!(at(&places, "/a/1/b~1c~0", true), (2, 13));
        assert_eq!(at(&places, "/a/1/b~1c~0", false), (2, 21));
        assert_eq!(at(&places, "/a/1/é", true), (2, 30));
        assert_eq!(at(&places, "/a/1/é", false), (3, 1));
        assert_eq!(at(&places, "/", false), (4, 7));
        assert_eq!(at(&places, "/a/1/nothing/at/all", false), (2, 12), "the innermost value that is there");
        assert_eq!(places.duplicates().count(), 0);
    }

    #[test]
    fn what_stands_at_a_place_is_the_value_of_its_pointer() {
        let text = r#"
          {"a" : [ 1,-2.5e3 ,[ ],[{}, {"b":null}], "x,]}\"\\" ] , "ü/~": {"": [true,false], "c":{"d":"\u00e9"}},
          "e":"" ,"f":[[["g"]]] ,"h": 0}"#;
        let (places, value) = (Places::of(text), serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(places.by_pointer.len(), 22);
        for (pointer, offsets) in &places.by_pointer {
            let mut rest = serde_json::Deserializer::from_str(&text[offsets.value..]).into_iter::<serde_json::Value>();
            assert_eq!(rest.next().unwrap().unwrap(), *value.pointer(pointer).unwrap(), "{pointer}");
            if let Some(key) = offsets.key {
                let mut rest = serde_json::Deserializer::from_str(&text[key..]).into_iter::<String>();
                let name = rest.next().unwrap().unwrap();
                assert!(pointer.ends_with(&format!("/{}", escaped(&name))), "{pointer}");
            }
        }
    }

    #[test]
    fn a_name_that_an_object_has_already_is_found_at_any_depth() {
        let places = Places::of(r#"{"a": 1, "b": [{"c": 1, "d": 2, "\u0063": 3}], "a": 2}"#);
        let found: Vec<_> = places.duplicates().map(|(pointer, name, at)| (pointer, name, at.column)).collect();
        assert_eq!(found, [("/b/0/c", "c", 33), ("/a", "a", 48)]);
    }

    #[test]
    fn what_is_no_json_has_no_places() {
        assert!(Places::of("{\"a\": }").find("/a", false).is_none());
    }
}
