//! Names of nodes, threads and fields: shared strings, so that graphs can be read from files at run time.

mod index;

pub(crate) use index::{NameHash, NameIndex, Place};

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A shared, immutable name. Cloning it copies one pointer.
///
/// ```
/// use graph_engine::Name;
///
/// let name = Name::from("explore");
/// assert_eq!(name, "explore");
/// assert_eq!(name.to_string(), "explore");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
// The empty name, as that of the outermost namespace, is never shared or counted.
pub struct Name(Option<Arc<str>>);

impl Name {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether it is a clone of the other one, or the other way round.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(name), Some(other)) => Arc::ptr_eq(name, other),
            (name, other) => name.is_none() && other.is_none(),
        }
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // As its text, by which it is looked up in maps.
        self.as_str().hash(state);
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self((!name.is_empty()).then(|| name.into()))
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Self {
        name.clone()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.as_str().to_owned()
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Name, E> {
                Ok(name.into())
            }
        }

        deserializer.deserialize_str(Text)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Names in backticks, separated by commas: the form in which errors list them.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known name that is most like this one, if one is: at most a third of its letters differ.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    let distances = known.into_iter().map(|other| (distance(name, other), other));
    distances.filter(|(distance, _)| *distance <= allowed).min().map(|(_, other)| other)
}

/// How many letters must be changed, added, removed or swapped with the next; upper case is the same as lower case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), vec![0; b.len() + 1], (0..=b.len()).collect()];
    for i in 0..a.len() {
        rows.rotate_left(1);
        let [before, above, row] = &mut rows;
        row.clear();
        row.push(i + 1);
        for j in 0..b.len() {
            let change = above[j] + usize::from(a[i] != b[j]);
            let mut least = change.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
    }
    rows[2][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_maps_by_its_text_the_empty_one_too() {
        let names = ["", "a", "explore"];
        let hashed: std::collections::HashSet<Name> = names.map(Name::from).into();
        let sorted: std::collections::BTreeSet<Name> = names.map(|name| Name::from(name.to_owned())).into();
        for name in names {
            assert_eq!((hashed.contains(name), sorted.contains(name)), (true, true), "{name}");
            assert_eq!(Name::from(name).as_str(), name);
        }
        assert_eq!((Name::default(), sorted.first().cloned()), (Name::from(""), Some(Name::default())));
    }

    #[test]
    fn the_nearest_name_is_one_that_could_have_been_meant() {
        let known = ["explore", "present", "book"];
        assert_eq!(nearest("explroe", known), Some("explore"));
        assert_eq!(nearest("Present", known), Some("present"));
        assert_eq!(nearest("boko", known), Some("book"));
        assert_eq!(nearest("look", known), Some("book"));
        assert_eq!(nearest("goodbye", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn a_distance_counts_changes_of_single_letters() {
        for (a, b, expected) in
            [("", "", 0), ("", "ab", 2), ("ab", "", 2), ("ab", "ba", 1), ("abc", "ac", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
