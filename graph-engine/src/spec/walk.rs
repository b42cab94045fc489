//! Reads objects of a file member by member and notes everything that is wrong, instead of stopping at the first.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::mistake::{Mistake, MistakeKind, TextPlace};
use super::places::escaped;
use crate::diagnostic::Level;
use crate::name::Name;
use crate::node::Siblings;
use crate::state::Merge;
use crate::state::dynamic::{JsonType, Schema};
use crate::task::NodeKind;

/// The mistakes so far, and what could not be read because of them.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    mistakes: Vec<Mistake>,
    lost: BTreeSet<String>,
}

impl Problems {
    pub(crate) fn add(&mut self, pointer: impl Into<String>, kind: MistakeKind) {
        self.add_at(pointer.into(), None, kind);
    }

    pub(super) fn add_at(&mut self, pointer: String, place: Option<TextPlace>, kind: MistakeKind) {
        self.mistakes.push(Mistake { pointer, place, kind });
    }

    fn lose(&mut self, pointer: String, kind: MistakeKind, at: String) {
        self.lost.insert(pointer);
        self.add(at, kind);
    }

    /// Whether the value of this pointer could not be read.
    pub(crate) fn is_lost(&self, pointer: &str) -> bool {
        self.lost.contains(pointer)
    }

    /// Whether anything was lost whose pointer is accepted.
    pub(crate) fn lost_any(&self, accept: impl FnMut(&String) -> bool) -> bool {
        self.lost.iter().any(accept)
    }

    /// Whether the name of an element of this list could not be read, so that nobody knows what names there are.
    pub(crate) fn lost_a_name(&self, list: &str) -> bool {
        self.lost_any(|at| match at.strip_prefix(list) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('/').is_some_and(|rest| !rest.contains('/') || rest.ends_with("/name")),
            None => false,
        })
    }

    /// A name that should be one of the state's fields and isn't.
    pub(crate) fn add_unknown_field(&mut self, at: String, name: &Name, schema: &Schema) {
        if !self.lost_a_name("/fields") && !self.is_lost(&at) {
            let known = schema.specs().iter().map(|field| field.name.to_string()).collect();
            self.add(at, MistakeKind::unknown("field", name, known));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mistakes.is_empty()
    }

    pub(crate) fn into_mistakes(self) -> Vec<Mistake> {
        self.mistakes
    }
}

/// A value without parts.
pub(super) trait Leaf: Sized {
    fn read(value: &Value) -> Result<Self, MistakeKind>;
}

/// An object that is being read.
pub(crate) struct Object<'v, 'p> {
    members: &'v Map<String, Value>,
    at: String,
    pub(super) problems: &'p mut Problems,
}

impl<'v, 'p> Object<'v, 'p> {
    /// Takes a value as an object with these members.
    pub(super) fn open(
        value: &'v Value,
        at: String,
        known: &'static [&'static str],
        problems: &'p mut Problems,
    ) -> Option<Self> {
        let Value::Object(members) = value else {
            problems.lose(at.clone(), wrong_type("an object", value), at);
            return None;
        };
        for member in members.keys().filter(|name| !known.contains(&name.as_str())) {
            let known = known.iter().map(|name| (*name).to_owned()).collect();
            let pointer = format!("{at}/{}", escaped(member));
            problems.add(pointer, MistakeKind::UnknownMember { member: member.clone(), known });
        }
        Some(Self { members, at, problems })
    }

    /// An object in which everything is missing, and nobody is told.
    pub(super) fn empty(members: &'v Map<String, Value>, ignored: &'p mut Problems) -> Self {
        Self { members, at: String::new(), problems: ignored }
    }

    /// The pointer of a member.
    pub(super) fn pointer(&self, member: &str) -> String {
        format!("{}/{member}", self.at)
    }

    /// The member as it is.
    pub(super) fn raw(&self, member: &'static str) -> Value {
        self.members.get(member).cloned().unwrap_or_default()
    }

    fn missing(&mut self, member: &'static str) {
        let (lost, at) = (self.pointer(member), self.at.clone());
        self.problems.lose(lost, MistakeKind::MissingMember { member }, at);
    }

    pub(super) fn required<T: Leaf>(&mut self, member: &'static str) -> Option<T> {
        if !self.members.contains_key(member) {
            self.missing(member);
        }
        self.optional(member)
    }

    pub(super) fn optional<T: Leaf>(&mut self, member: &'static str) -> Option<T> {
        let value = self.members.get(member)?;
        T::read(value).map_err(|kind| self.problems.lose(self.pointer(member), kind, self.pointer(member))).ok()
    }

    /// A member that is an object itself.
    pub(super) fn child<T>(
        &mut self,
        member: &'static str,
        known: &'static [&'static str],
        read: impl FnOnce(&mut Object<'_, '_>) -> T,
    ) -> Option<T> {
        let value = self.members.get(member)?;
        let at = self.pointer(member);
        Object::open(value, at, known, self.problems).map(|mut object| read(&mut object))
    }

    /// A list of objects. Every element has its place in the result, also if it could not be read.
    pub(super) fn objects<T>(
        &mut self,
        member: &'static str,
        known: &'static [&'static str],
        mut read: impl FnMut(Option<&mut Object<'_, '_>>) -> T,
    ) -> Vec<T> {
        let (items, at) = (self.items(member), self.pointer(member));
        let element = |(index, value)| {
            let mut object = Object::open(value, format!("{at}/{index}"), known, self.problems);
            read(object.as_mut())
        };
        items.iter().enumerate().map(element).collect()
    }

    /// A list of names. Every element has its place in the result, also if it could not be read.
    pub(super) fn names(&mut self, member: &'static str) -> Vec<Name> {
        let (items, at) = (self.items(member), self.pointer(member));
        let element = |(index, value)| {
            let at = format!("{at}/{index}");
            Name::read(value).unwrap_or_else(|kind| {
                self.problems.lose(at.clone(), kind, at);
                Name::default()
            })
        };
        items.iter().enumerate().map(element).collect()
    }

    pub(super) fn required_names(&mut self, member: &'static str) -> Vec<Name> {
        if !self.members.contains_key(member) {
            self.missing(member);
        }
        self.names(member)
    }

    pub(super) fn has(&self, member: &'static str) -> bool {
        self.members.contains_key(member)
    }

    /// The members of a member whose names are free.
    pub(super) fn entries(&mut self, member: &'static str) -> Vec<(&'v String, &'v Value)> {
        match self.members.get(member) {
            None => Vec::new(),
            Some(Value::Object(entries)) => entries.iter().collect(),
            Some(other) => {
                let at = self.pointer(member);
                self.problems.lose(at.clone(), wrong_type("an object", other), at);
                Vec::new()
            }
        }
    }

    fn items(&mut self, member: &'static str) -> &'v [Value] {
        match self.members.get(member) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(other) => {
                let at = self.pointer(member);
                self.problems.lose(at.clone(), wrong_type("a list", other), at);
                &[]
            }
        }
    }
}

fn wrong_type(expected: &'static str, found: &Value) -> MistakeKind {
    let found = match found {
        Value::Number(number) => number.to_string(),
        other => JsonType::word_for(other).to_owned(),
    };
    MistakeKind::WrongType { expected, found }
}

macro_rules! leaves {
    ($($type:ty, $expected:literal, $value:ident => $read:expr;)*) => {
        $(impl Leaf for $type {
            fn read($value: &Value) -> Result<Self, MistakeKind> {
                $read.ok_or_else(|| wrong_type($expected, $value))
            }
        })*
    };
}

leaves! {
    Name, "a string", value => value.as_str().map(Name::from);
    bool, "true or false", value => value.as_bool();
    u32, "a whole number from 0 to 4294967295", value => value.as_u64().and_then(|number| number.try_into().ok());
    u64, "a whole number from 0 on", value => value.as_u64();
    f64, "a number", value => value.as_f64();
}

/// One of a fixed list of words.
fn word<T: Copy>(value: &Value, what: &'static str, words: &[(&'static str, T)]) -> Result<T, MistakeKind> {
    let Some(text) = value.as_str() else { return Err(wrong_type("a string", value)) };
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known = words.iter().map(|(word, _)| (*word).to_owned()).collect();
        MistakeKind::UnknownWord { what, word: text.to_owned(), known }
    })
}

macro_rules! words {
    ($($type:ident, $what:literal: $($variant:ident = $word:literal),*;)*) => {
        $(impl Leaf for $type {
            fn read(value: &Value) -> Result<Self, MistakeKind> {
                word(value, $what, &[$(($word, Self::$variant)),*])
            }
        })*

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn the_words_are_those_of_serde() {
                $($(assert_eq!(serde_json::to_value($type::$variant).unwrap(), Value::from($word));)*)*
            }
        }
    };
}

words! {
    Merge, "merge rule": One = "one", Any = "any", Append = "append", With = "with";
    NodeKind, "kind of node": Plain = "plain", Agent = "agent", Tools = "tools", Gate = "gate", Human = "human";
    Siblings, "rule for siblings": Finish = "finish", Cancel = "cancel";
    Level, "level": Ignore = "ignore", Warn = "warn", Error = "error";
    JsonType, "type": Any = "any", Text = "string", Integer = "integer", Number = "number", Boolean = "boolean",
        List = "array", Object = "object";
}
