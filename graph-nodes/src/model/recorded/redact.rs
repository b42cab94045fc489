//! Takes secrets out of an answer.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Answer, Item};
use super::secrets::Secrets;
use crate::assemble::{ArgumentsDelta, CallDelta};
use crate::model::{Chunk, Collector, Response};

/// The answer without secrets. Its chunks stay apart, also where a secret was spread over several of them.
pub(super) fn redact(answer: Answer, secrets: &Secrets) -> Answer {
    match answer {
        Answer::Failed(failure) => Answer::Failed(hidden(&failure, secrets)),
        Answer::Stream(mut items) => {
            for texts in texts(&mut items) {
                hide_across(secrets, texts);
            }
            let items: Vec<Item> = items.iter().map(|item| hidden(item, secrets)).collect();
            Answer::Stream(checked(items, secrets))
        }
    }
}

fn hidden<T: Serialize + DeserializeOwned + Clone>(value: &T, secrets: &Secrets) -> T {
    let Ok(json) = serde_json::to_value(value) else { return value.clone() };
    // A secret may be what the form itself is made of: a number in the place of a number, the name of a field.
    let whole = serde_json::from_value(secrets.hide_in(json.clone()));
    whole
        .or_else(|_| serde_json::from_value(hide_where_text_may_stand::<T>(json, secrets)))
        .unwrap_or_else(|_| value.clone())
}

/// Takes secrets out one by one, and leaves only those whose place takes no other text.
fn hide_where_text_may_stand<T: DeserializeOwned>(mut json: Value, secrets: &Secrets) -> Value {
    let mut places = Vec::new();
    places_of(&json, secrets, &mut String::new(), &mut places);
    for place in places {
        let mut tried = json.clone();
        let changed = match &place {
            Place::Item(at) => tried.pointer_mut(at).map(|item| *item = secrets.hide_in(item.take())),
            Place::Key(of, key) => tried.pointer_mut(of).and_then(Value::as_object_mut).and_then(|map| {
                let item = map.remove(key)?;
                map.insert(secrets.hide(key), item);
                Some(())
            }),
        };
        if changed.is_some() && T::deserialize(&tried).is_ok() {
            json = tried;
        }
    }
    json
}

enum Place {
    /// A text or a number, by its JSON pointer.
    Item(String),
    /// A key of the object at this pointer.
    Key(String, String),
}

/// Where secrets stand, inner places first: a key that is hidden changes the way to what is below.
fn places_of(json: &Value, secrets: &Secrets, at: &mut String, places: &mut Vec<Place>) {
    let mut below = |step: &str, item: &Value, places: &mut Vec<Place>| {
        let length = at.len();
        at.push('/');
        at.push_str(&step.replace('~', "~0").replace('/', "~1"));
        places_of(item, secrets, at, places);
        at.truncate(length);
    };
    match json {
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| below(&n.to_string(), item, places)),
        Value::Object(map) => {
            map.iter().for_each(|(key, item)| below(key, item, places));
            let keys = map.keys().filter(|key| secrets.are_in(key));
            places.extend(keys.map(|key| Place::Key(at.clone(), key.clone())));
        }
        Value::String(text) if secrets.are_in(text) => places.push(Place::Item(at.clone())),
        Value::Number(number) if secrets.are_in(&number.to_string()) => places.push(Place::Item(at.clone())),
        _ => {}
    }
}

/// Streams in which a secret is spread in a way that only the assembled response shows lose their chunks.
fn checked(items: Vec<Item>, secrets: &Secrets) -> Vec<Item> {
    let mut collector = Collector::new();
    for item in &items {
        if let Item::Chunk(chunk) = item {
            collector.push(chunk.clone());
        }
    }
    let Ok(response) = collector.finish() else { return items };
    if !serde_json::to_value(&response).is_ok_and(|json| holds(&json, secrets)) {
        return items;
    }
    let response: Response = hidden(&response, secrets);
    let errors = items.into_iter().filter(|item| matches!(item, Item::Error(_)));
    [Item::Chunk(Chunk::from(response))].into_iter().chain(errors).collect()
}

fn holds(json: &Value, secrets: &Secrets) -> bool {
    match json {
        Value::String(text) => secrets.are_in(text),
        Value::Array(items) => items.iter().any(|item| holds(item, secrets)),
        Value::Object(map) => map.values().any(|item| holds(item, secrets)),
        _ => false,
    }
}

fn hide_across(secrets: &Secrets, mut texts: Vec<&mut String>) {
    let mut pieces: Vec<String> = texts.iter_mut().map(|text| std::mem::take(&mut **text)).collect();
    secrets.hide_across(&mut pieces);
    for (text, piece) in texts.into_iter().zip(pieces) {
        *text = piece;
    }
}

/// The texts that a reader joins: what is said, the refusal, the reasoning, and for each call its name and arguments.
fn texts(items: &mut [Item]) -> Vec<Vec<&mut String>> {
    let (mut said, mut refusal, mut reasoning) = (Vec::new(), Vec::new(), Vec::new());
    let mut calls = Calls::default();
    let chunks = items.iter_mut().filter_map(|item| match item {
        Item::Chunk(chunk) => Some(chunk),
        Item::Error(_) => None,
    });
    for chunk in chunks {
        said.extend(&mut chunk.text);
        refusal.extend(&mut chunk.refusal);
        if let Some(Value::String(text)) = &mut chunk.reasoning {
            reasoning.push(text);
        }
        chunk.calls.iter_mut().for_each(|delta| calls.add(delta));
    }
    [said, refusal, reasoning].into_iter().chain(calls.names).chain(calls.arguments).collect()
}

/// Fragments of calls, told apart roughly: what this gets wrong is found in the assembled response.
#[derive(Default)]
struct Calls<'a> {
    by_index: BTreeMap<u32, usize>,
    by_id: BTreeMap<String, usize>,
    last: usize,
    names: Vec<Vec<&'a mut String>>,
    arguments: Vec<Vec<&'a mut String>>,
}

impl<'a> Calls<'a> {
    fn add(&mut self, delta: &'a mut CallDelta) {
        let new = self.names.len();
        let id = delta.id.clone().filter(|id| !id.is_empty());
        let at = match (delta.index, id) {
            (Some(index), _) => *self.by_index.entry(index).or_insert(new),
            (None, Some(id)) => *self.by_id.entry(id).or_insert(new),
            (None, None) => self.last.min(new),
        };
        if at == new {
            self.names.push(Vec::new());
            self.arguments.push(Vec::new());
        }
        self.last = at;
        self.names[at].extend(&mut delta.name);
        if let ArgumentsDelta::Text(text) = &mut delta.arguments {
            self.arguments[at].push(text);
        }
    }
}
