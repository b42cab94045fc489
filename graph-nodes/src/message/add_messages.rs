//! The reducer of a history in which messages can be replaced and removed.

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::Log;

use super::{Message, MessageKind};

/// What an id that is made here begins with; a number follows.
const MADE: &str = "msg_";

/// Numbers from here on are nobody's that were brought from outside, so that there are always larger ones to make.
const LARGE: u64 = 1 << 62;

/// A reducer for histories: messages are found by their ids, replaced in place, and removed.
///
/// What one write of the field may hold, in any mixture:
///
/// | item | effect |
/// | --- | --- |
/// | a message whose id the history has | takes the place of that message |
/// | a message with another id | comes last |
/// | a message without an id, or with a blank one | comes last and is given the id `msg_<number>` |
/// | [`Message::removal`] | the message with that id goes; added again later in the same write, it is back in its place |
/// | [`Message::removal_of_all`] | the history, and what came before in the same write, goes |
///
/// The number of a made id is the message's position, or the least larger one that is above every `msg_<number>` of
/// the history and of the same write. It depends on nothing else, so a replay makes the same ids.
///
/// An item that brings no id costs the same however long the history is, which shares all its chunks with the one
/// before. Ids that are brought are looked for once a write; a replacement or a removal copies the history. In contrast
/// to an `append` field, a checkpoint stores such a field whole whenever it was written.
///
/// The reducer relies on the order that it makes: past it, by `overwrite_..`, a history of messages whose `msg_` ids
/// ascend may be put down.
///
/// ```
/// use graph_engine::{Log, State};
/// use graph_nodes::message::{Message, add_messages};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     #[state(with = add_messages)]
///     history: Log<Message>,
/// }
///
/// let mut history = Log::new();
/// history = add_messages(&history, Log::from([Message::user("Bern"), Message::user("In May.").with_id("when")]))?;
/// history = add_messages(&history, Log::from([Message::user("In June.").with_id("when")]))?;
/// let ids: Vec<_> = history.iter().map(|message| (message.id.as_deref(), message.text())).collect();
/// assert_eq!(ids, [(Some("msg_0"), "Bern".to_owned()), (Some("when"), "In June.".to_owned())]);
///
/// history = add_messages(&history, Log::from([Message::removal("msg_0")]))?;
/// assert_eq!(history.len(), 1);
/// let error = add_messages(&history, Log::from([Message::removal("msg_0")])).unwrap_err();
/// assert_eq!(error.to_string(), "the history has no message `msg_0`, so it can't be removed; remove ids that it has");
/// # Ok::<(), graph_nodes::message::HistoryEditError>(())
/// ```
///
/// # Errors
/// [`HistoryEditError`] if a message is to be removed that is not there; nothing of the write is kept then.
pub fn add_messages(history: &Log<Message>, items: Log<Message>) -> Result<Log<Message>, HistoryEditError> {
    if items.iter().all(|item| own_id(item).is_none() && !item.is_removal()) {
        return Ok(append(history, items));
    }
    let cleared = items.iter().rposition(|item| matches!(item.kind, MessageKind::RemovalOfAll));
    let mut edit = Edit::of(history, &items, cleared);
    for item in items.tail(cleared.map_or(0, |at| at + 1)).cloned() {
        edit.item(item)?;
    }
    Ok(edit.finish(history, cleared.is_some()))
}

/// Why a write to a history was refused.
///
/// ```
/// use graph_engine::Log;
/// use graph_nodes::message::{HistoryEditError, Message, add_messages};
///
/// let error = add_messages(&Log::new(), Log::from([Message::removal("m7")])).unwrap_err();
/// assert_eq!(error, HistoryEditError::UnknownId { id: "m7".into() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryEditError {
    /// A message is to be removed that neither the history nor the same write has.
    #[error("the history has no message `{id}`, so it can't be removed; remove ids that it has")]
    UnknownId {
        /// The id.
        id: String,
    },
}

fn own_id(message: &Message) -> Option<&str> {
    message.id.as_deref().filter(|id| !id.trim().is_empty())
}

/// The number of an id that looks as if it were made here.
fn made_number(message: &Message) -> Option<u64> {
    let digits = message.id.as_deref()?.strip_prefix(MADE)?;
    // One text for each number: `msg_007` is somebody else's id.
    let number = digits.parse().ok().filter(|number: &u64| *number < LARGE)?;
    (number.to_string() == digits).then_some(number)
}

/// The least number above those of all messages up to this one, if this one knows.
fn floor_of(message: &Message) -> Option<u64> {
    let own = made_number(message).map(|number| number + 1);
    own.max((message.next_id > 0).then_some(message.next_id))
}

/// The least free number after a history, and how many messages were looked at to find it.
///
/// The last message that knows, knows it for all before it: what comes last with a smaller number is given the floor
/// to keep.
fn floor_after(history: &Log<Message>) -> (u64, usize) {
    let mut looked = 0;
    let floor = history.iter().rev().inspect(|_| looked += 1).find_map(floor_of);
    (floor.unwrap_or(0), looked)
}

fn name(mut message: Message, number: u64) -> Message {
    message.id = Some(format!("{MADE}{number}"));
    // What the id doesn't say.
    message.next_id = if number < LARGE { 0 } else { number + 1 };
    message
}

/// Puts messages without ids last.
fn append(history: &Log<Message>, items: Log<Message>) -> Log<Message> {
    let first = floor_after(history).0.max(history.len() as u64);
    let mut longer = history.clone();
    for (number, item) in (first..).zip(&items) {
        longer.push(name(item.clone(), number));
    }
    longer
}

/// Where a message stands.
#[derive(Clone, Copy)]
enum Place {
    Old(usize),
    New(usize),
}

/// One write while it is carried out.
struct Edit {
    /// The messages that the write names and where they stand.
    places: BTreeMap<String, Place>,
    /// What becomes of messages of the history; nothing: removed.
    changed: BTreeMap<usize, Option<Message>>,
    added: Vec<Option<Message>>,
    /// How many messages the history has now, the removed ones included.
    len: u64,
    /// The least number above all made ids.
    floor: u64,
}

impl Edit {
    fn of(history: &Log<Message>, items: &Log<Message>, cleared: Option<usize>) -> Self {
        let items = || items.tail(cleared.map_or(0, |at| at + 1));
        // A cleared history is gone, but its numbers are not given again by the write that clears it.
        let numbers = history.iter().filter_map(floor_of).chain(items().filter_map(made_number).map(|n| n + 1));
        let mut edit = Self {
            places: BTreeMap::new(),
            changed: BTreeMap::new(),
            added: Vec::new(),
            len: 0,
            floor: numbers.max().unwrap_or(0),
        };
        if cleared.is_none() {
            edit.len = history.len() as u64;
            let target = |item: &Message| match &item.kind {
                MessageKind::Removal { target } => Some(target.clone()),
                _ => own_id(item).map(str::to_owned),
            };
            let named: BTreeSet<String> = items().filter_map(target).collect();
            for (at, message) in history.iter().enumerate() {
                if let Some(id) = message.id.as_deref().filter(|id| named.contains(*id)) {
                    edit.places.insert(id.to_owned(), Place::Old(at));
                }
            }
        }
        edit
    }

    fn item(&mut self, item: Message) -> Result<(), HistoryEditError> {
        if let MessageKind::Removal { target } = item.kind {
            let place = *self.places.get(&target).ok_or(HistoryEditError::UnknownId { id: target })?;
            self.put(place, None);
            return Ok(());
        }
        let Some(id) = own_id(&item).map(str::to_owned) else {
            let number = self.floor.max(self.len);
            self.floor = number + 1;
            let named = name(item, number);
            self.places.extend(named.id.clone().map(|id| (id, Place::New(self.added.len()))));
            self.push(named);
            return Ok(());
        };
        match self.places.get(&id) {
            Some(place) => self.put(*place, Some(item)),
            None => {
                self.places.insert(id, Place::New(self.added.len()));
                self.push(item);
            }
        }
        Ok(())
    }

    fn push(&mut self, message: Message) {
        self.added.push(Some(message));
        self.len += 1;
    }

    fn put(&mut self, place: Place, message: Option<Message>) {
        match place {
            Place::Old(at) => drop(self.changed.insert(at, message)),
            // A place is only given to a message that was added.
            Place::New(at) => self.added[at] = message,
        }
    }

    fn finish(mut self, history: &Log<Message>, cleared: bool) -> Log<Message> {
        let mut edited = match (cleared, self.changed.is_empty()) {
            (true, _) => Log::new(),
            (false, true) => history.clone(),
            (false, false) => {
                let kept = history.iter().enumerate().filter_map(|(at, old)| match self.changed.remove(&at) {
                    None => Some(old.clone()),
                    Some(None) => None,
                    Some(Some(new)) => Some(Message { next_id: old.next_id, ..new }),
                });
                kept.collect()
            }
        };
        for message in self.added.into_iter().flatten() {
            edited.push(Message { next_id: 0, ..message });
        }
        keep_floor(edited, self.floor)
    }
}

/// Sees to it that the end of the history knows the floor.
fn keep_floor(history: Log<Message>, floor: u64) -> Log<Message> {
    let (known, looked) = floor_after(&history);
    if known >= floor || looked == 0 {
        return history;
    }
    let last = history.len() - 1;
    let told = |(at, message): (usize, &Message)| {
        let next_id = if at == last { floor } else { message.next_id };
        Message { next_id, ..message.clone() }
    };
    history.iter().enumerate().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_append_looks_at_one_message_and_shares_the_rest() {
        let mut history = Log::new();
        for n in 0..10_000_usize {
            let longer = add_messages(&history, Log::from([Message::user("x")])).unwrap();
            assert_eq!(longer.last().and_then(|message| message.id.clone()), Some(format!("msg_{n}")));
            assert_eq!(floor_after(&longer), (n as u64 + 1, 1));
            // Only the last chunk is copied.
            for at in [0, n / 2, n.saturating_sub(33)] {
                assert!(
                    at / 32 * 32 + 32 > n
                        || std::ptr::eq(&history.get(at).unwrap().content, &longer.get(at).unwrap().content)
                );
            }
            history = longer;
        }
    }

    #[test]
    fn an_id_that_comes_back_out_of_order_is_not_made_again() {
        let write = |history: &Log<Message>, items: &[Message]| add_messages(history, items.iter().cloned().collect());
        let user = |text: &str| Message::user(text);
        let three = write(&Log::new(), &[user("a"), user("b"), user("c")]).unwrap();
        let two = write(&three, &[Message::removal("msg_0")]).unwrap();
        let back = write(&two, &[user("a").with_id("msg_0")]).unwrap();
        let more = write(&back, &[user("d")]).unwrap();
        let ids = |history: &Log<Message>| history.iter().filter_map(|message| message.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&more), ["msg_1", "msg_2", "msg_0", "msg_3"]);
        // The same after a restart.
        let stored: Log<Message> = serde_json::from_str(&serde_json::to_string(&back).unwrap()).unwrap();
        assert_eq!(ids(&write(&stored, &[user("d")]).unwrap()), ids(&more));
    }
}
