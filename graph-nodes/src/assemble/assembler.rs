//! The assembler: fragments in, calls out.

use std::collections::BTreeSet;
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::delta::{ArgumentsDelta, CallDelta};
use super::finish::{Assembly, AssemblyError, finish};
use super::locate::{Place, Places};
use super::slot::{Piece, Slot};
use super::warning::AssemblyWarning;
use crate::fnv::Fnv;

/// What to do about a call without a usable id or name.
///
/// ```
/// use graph_nodes::assemble::{Assembler, AssemblyError, AssemblyPolicy, CallDelta};
///
/// let mut strict = Assembler::new().with_policy(AssemblyPolicy::Strict);
/// strict.push(CallDelta::new().at(0).name("f").text("{}"));
/// assert_eq!(strict.finish().unwrap_err(), AssemblyError::MissingId { call: 0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssemblyPolicy {
    /// Make an id where it is missing or taken, keep a call without a name as a
    /// faulty one, and warn.
    #[default]
    Lenient,
    /// Refuse the whole response.
    Strict,
}

/// Something a user interface can show while a response arrives.
///
/// ```
/// use graph_nodes::assemble::{Assembler, AssemblyEvent, CallDelta};
///
/// let mut assembler = Assembler::new();
/// assert_eq!(assembler.push(CallDelta::new().at(0).id("a").name("get_")), []);
/// assert_eq!(assembler.push(CallDelta::new().at(0).name("weather")), []);
/// let event = AssemblyEvent::Started { call: 0, id: Some("a".into()), name: "get_weather".into() };
/// assert_eq!(assembler.push(CallDelta::new().at(0).text("{")), [event]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssemblyEvent {
    /// The model began a call. Comes once per call, and only when the name can't
    /// change any more: with the first piece of the arguments, as soon as the
    /// registry knows the name and no longer one, or at the end.
    Started {
        /// The call's number in order of arrival, from 0.
        call: usize,
        /// The provider's id, where it is known yet.
        id: Option<String>,
        /// The tool's name.
        name: String,
    },
}

/// Assembles the tool calls of one response. See the [module](super) for the rules.
///
/// Takes time linear in the bytes fed.
///
/// ```
/// use graph_nodes::assemble::{Assembler, CallDelta};
///
/// let mut assembler = Assembler::new();
/// assembler.push(CallDelta::new().at(0).id("call_1").name("weather").text("{\"city\":"));
/// assembler.push(CallDelta::new().at(0).text("\"Bern\"}"));
/// let assembly = assembler.finish().unwrap();
/// assert_eq!(assembly.calls[0].arguments.parsed().unwrap()["city"], "Bern");
/// assert_eq!(assembly.warnings, []);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    calls: Vec<Slot>,
    places: Places,
    warnings: Vec<AssemblyWarning>,
    policy: AssemblyPolicy,
    known: BTreeSet<String>,
}

impl Assembler {
    /// A lenient assembler that knows no tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the policy.
    #[must_use]
    pub fn with_policy(mut self, policy: AssemblyPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Says which tools exist. With it, a name that is sent in two different
    /// complete forms is told from a name that is sent in two halves.
    #[must_use]
    pub fn with_known_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.known.extend(names.into_iter().map(Into::into));
        self
    }

    /// Takes the next fragment; returns what it lets one show.
    pub fn push(&mut self, delta: CallDelta) -> Vec<AssemblyEvent> {
        if self.continues(&delta) { Vec::new() } else { self.place(delta) }
    }

    /// As [`push`](Self::push), for a fragment that is needed elsewhere too, to show it, say: nothing of it is copied
    /// but what is new.
    ///
    /// ```
    /// use graph_nodes::assemble::{Assembler, CallDelta};
    ///
    /// let mut assembler = Assembler::new();
    /// let begin = CallDelta::new().at(0).id("call_1").name("weather").text("{\"city\":");
    /// let end = CallDelta::new().at(0).text("\"Bern\"}");
    /// assert_eq!(assembler.push_ref(&begin).len(), 1);
    /// assert_eq!(assembler.push_ref(&end), []);
    /// assert_eq!(assembler.finish().unwrap().calls[0].arguments.raw(), "{\"city\":\"Bern\"}");
    /// ```
    pub fn push_ref(&mut self, delta: &CallDelta) -> Vec<AssemblyEvent> {
        if self.continues(delta) { Vec::new() } else { self.place(delta.clone()) }
    }

    /// Takes a fragment the short way: nearly all have an index and text, and their call is there. Nothing else has to
    /// be asked then.
    fn continues(&mut self, delta: &CallDelta) -> bool {
        let CallDelta { index: Some(index), id: None, name: None, arguments: ArgumentsDelta::Text(text) } = delta
        else {
            return false;
        };
        let latest = self.places.latest_at(&self.calls, *index);
        let Some(call) = latest.filter(|call| self.calls[*call].started) else { return false };
        self.append(call, text);
        true
    }

    /// Finds the call of a fragment and merges it. Apart from the short way, which needs none of its variables.
    #[inline(never)]
    fn place(&mut self, delta: CallDelta) -> Vec<AssemblyEvent> {
        let piece = normalise(delta);
        let known = &self.known;
        let joins = |first: &str, second: &str| !known.contains(second) && knows(known, first, second);
        let call = match self.places.locate(&self.calls, &piece, joins) {
            Place::Nowhere => return Vec::new(),
            Place::Call(call) => call,
            Place::New => self.open(&piece),
        };
        let mut events = Vec::new();
        self.merge(call, piece);
        if !self.calls[call].arguments.is_empty() || self.is_final_name(call) {
            self.start(call, &mut events);
        }
        events
    }

    /// Ends the response: orders the calls and gives each one an id.
    ///
    /// # Errors
    /// Under [`AssemblyPolicy::Strict`], the first call without id, with
    /// another call's id, or without a name. Never under the lenient policy.
    pub fn finish(mut self) -> Result<Assembly, AssemblyError> {
        let mut events = Vec::new();
        for call in 0..self.calls.len() {
            self.start(call, &mut events);
        }
        finish(self.calls, self.warnings, events, self.policy)
    }

    /// How many bytes of arguments were scanned so far; each byte fed is
    /// scanned once.
    pub fn scanned_bytes(&self) -> usize {
        self.calls.iter().map(|call| call.scanner.scanned()).sum()
    }

    fn open(&mut self, piece: &Piece) -> usize {
        let call = self.calls.len();
        match piece.index {
            None => self.warnings.push(AssemblyWarning::MissingIndex { call }),
            Some(index) => {
                if let Some(&first) = self.places.by_index.get(&index) {
                    self.places.is_shared = true;
                    self.warnings.push(AssemblyWarning::SharedIndex { call, first, index });
                }
            }
        }
        self.calls.push(Slot::default());
        self.places.open.insert(call);
        self.places.unindexed.insert(call);
        self.places.unnamed.insert(call);
        call
    }

    fn merge(&mut self, call: usize, piece: Piece) {
        let slot = &mut self.calls[call];
        if let Some(index) = piece.index {
            slot.index.get_or_insert(index);
            self.places.unindexed.remove(&call);
            self.places.by_index.insert(index, call);
        }
        if let Some(id) = piece.id {
            self.merge_id(call, id);
        }
        if let Some(name) = piece.name {
            let before = slot_hash(&self.calls[call]);
            self.merge_name(call, name);
            let after = slot_hash(&self.calls[call]);
            if before != after {
                self.places.named.remove(&(before, call));
            }
            if self.places.open.contains(&call) {
                self.places.named.insert((after, call));
            }
        }
        let slot = &mut self.calls[call];
        if piece.was_value && !slot.told_value {
            slot.told_value = true;
            self.warnings.push(AssemblyWarning::ArgumentsAsValue { call });
        }
        self.append(call, &piece.text);
    }

    fn append(&mut self, call: usize, text: &str) {
        let slot = &mut self.calls[call];
        let was_complete = slot.is_complete();
        slot.append(text);
        if !was_complete && slot.is_complete() {
            self.places.open.remove(&call);
            self.places.unindexed.remove(&call);
            self.places.named.remove(&(slot_hash(slot), call));
        }
    }

    fn merge_id(&mut self, call: usize, id: String) {
        let slot = &mut self.calls[call];
        match &slot.id {
            None => {
                self.places.by_id.insert(id.clone(), call);
                slot.id = Some(id);
            }
            Some(kept) if *kept == id => {}
            Some(kept) => {
                if !slot.told_ids.contains(&id) {
                    slot.told_ids.insert(id.clone());
                    self.warnings.push(AssemblyWarning::UnstableId { call, kept: kept.clone(), seen: id.clone() });
                }
                // Another call may own the id; if none does, it means this one.
                self.places.by_id.entry(id).or_insert(call);
            }
        }
    }

    fn merge_name(&mut self, call: usize, name: String) {
        let slot = &mut self.calls[call];
        let Some(kept) = &mut slot.name else {
            slot.name_hash.add(name.as_bytes());
            slot.name = Some(name);
            self.places.unnamed.remove(&call);
            return;
        };
        if *kept == name {
            if !slot.told_repeated_name {
                slot.told_repeated_name = true;
                self.warnings.push(AssemblyWarning::RepeatedName { call, name });
            }
        } else if slot.started || !slot.arguments.is_empty() {
            self.warnings.push(AssemblyWarning::NameConflict { call, kept: kept.clone(), seen: name });
        } else if self.known.contains(&name) && !knows(&self.known, kept, &name) {
            let seen = std::mem::replace(kept, name.clone());
            slot.name_hash = Fnv::default();
            slot.name_hash.add(name.as_bytes());
            self.warnings.push(AssemblyWarning::ReplacedName { call, kept: name, seen });
        } else {
            kept.push_str(&name);
            slot.name_hash.add(name.as_bytes());
        }
    }

    /// Whether the registry knows the name and no longer one that starts with it.
    fn is_final_name(&self, call: usize) -> bool {
        let Some(name) = self.calls[call].name.as_deref() else { return false };
        // Sorted: names that start with `name` come right after it.
        let mut from = self.known.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        from.next().is_some_and(|known| known == name) && from.next().is_none_or(|next| !next.starts_with(name))
    }

    fn start(&mut self, call: usize, events: &mut Vec<AssemblyEvent>) {
        let slot = &mut self.calls[call];
        if let (false, Some(name)) = (slot.started, &slot.name) {
            events.push(AssemblyEvent::Started { call, id: slot.id.clone(), name: name.clone() });
            slot.started = true;
        }
    }
}

fn slot_hash(slot: &Slot) -> u64 {
    slot.name_hash.get()
}

/// Whether the registry knows the two texts as one name. They are not joined for it: a hostile name would be copied for
/// each of its pieces.
fn knows(known: &BTreeSet<String>, first: &str, second: &str) -> bool {
    let length = first.len() + second.len();
    let longer = known.range::<str, _>((Bound::Included(first), Bound::Unbounded));
    longer.take_while(|name| name.starts_with(first)).any(|name| name.len() == length && name.ends_with(second))
}

fn normalise(delta: CallDelta) -> Piece {
    let present = |field: Option<String>| field.filter(|text| !text.trim().is_empty());
    let (text, was_value) = match delta.arguments {
        ArgumentsDelta::Absent | ArgumentsDelta::Null => (String::new(), false),
        ArgumentsDelta::Text(text) => (text, false),
        ArgumentsDelta::Value(value) => (value.to_string(), true),
    };
    Piece { index: delta.index, id: present(delta.id), name: present(delta.name), text, was_value }
}
