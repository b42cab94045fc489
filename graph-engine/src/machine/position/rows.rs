//! The form of a stored position.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::fields::decode_update;
use super::super::frontier::Slot;
use super::super::migrate::rename;
use super::super::outcome::TaskOutcome;
use super::super::wrote::{WroteRow, wrote_rows};
use crate::checkpoint_id::CheckpointId;
use crate::graph::Inner;
use crate::name::Name;
use crate::reply::Reply;
use crate::state::{CodecError, State};
use crate::task::{END, Extra, Goto, Hop, Journal, Outcome, Payload, Rare, Target};

/// The newest form of positions, which they don't name: only older ones say their number, and a later one will.
///
/// The first form named it, had `began`, `next` and `node` even where they say nothing, and every writer in a list.
pub(super) const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
pub(super) struct Position<'a> {
    #[serde(default = "newest", skip_serializing)]
    pub(super) version: u32,
    /// The version of the state's schema.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) schema: u32,
    pub(super) step: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) began: u64,
    /// The checkpoint that made the frontier, when it isn't this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<CheckpointId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) next: Vec<SlotRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) deferred: Vec<SlotRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joins: Vec<JoinRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stays: Vec<(Cow<'a, str>, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replies: Vec<Reply>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) completed: bool,
    /// The newest checkpoints of child graphs that keep their state over calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) children: BTreeMap<Name, CheckpointId>,
    /// Of a child graph: the call that it serves, what it has written in it, and where it went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) left: Vec<HopRow>,
    /// The thread stopped here at a breakpoint.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) broke: bool,
    /// Who finished in the last super-step, and in those before it that share this checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "wrote_rows")]
    pub(super) wrote: Vec<WroteRow<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "wrote_rows")]
    pub(super) earlier: Vec<WroteRow<'a>>,
}

/// The call that a stored checkpoint of a child graph served.
pub(crate) fn call_of(position: &[u8]) -> Option<Name> {
    #[derive(Deserialize)]
    struct Served {
        call: Option<Name>,
    }
    serde_json::from_slice::<Served>(position).ok()?.call
}

/// One task. It is its node's name if there is nothing else to say of it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct SlotRow<'a> {
    pub(super) node: Cow<'a, str>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) attempt: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stays: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) sent: bool,
    /// In a list of one, because a payload may itself be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) payload: Option<[Box<RawValue>; 1]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) feedback: Vec<Value>,
    /// The task's own timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timeout: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) done: Option<OutcomeRow>,
    /// It waits for an answer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) paused: bool,
    /// What it asked, was answered and remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) journal: Option<Journal>,
}

impl SlotRow<'_> {
    pub(super) fn plain(node: Cow<'_, str>) -> SlotRow<'_> {
        SlotRow {
            node,
            attempt: 1,
            stays: 0,
            sent: false,
            payload: None,
            feedback: Vec::new(),
            timeout: None,
            done: None,
            paused: false,
            journal: None,
        }
    }

    fn is_plain(&self) -> bool {
        let Self { node: _, attempt, stays, sent, payload, feedback, timeout, done, paused, journal } = self;
        let new = *attempt == 1 && *stays == 0 && !sent && !paused;
        let bare = payload.is_none() && feedback.is_empty() && timeout.is_none();
        new && bare && done.is_none() && journal.is_none()
    }
}

impl Serialize for SlotRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_plain() { serializer.serialize_str(&self.node) } else { SlotRow::serialize(self, serializer) }
    }
}

impl<'de> Deserialize<'de> for SlotRow<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrMap<'a>(PhantomData<SlotRow<'a>>);

        impl<'de, 'a> Visitor<'de> for NameOrMap<'a> {
            type Value = SlotRow<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node's name or a task")
            }

            fn visit_str<E: de::Error>(self, node: &str) -> Result<SlotRow<'a>, E> {
                Ok(SlotRow::plain(Cow::Owned(node.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SlotRow<'a>, A::Error> {
                SlotRow::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_any(NameOrMap(PhantomData))
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct JoinRow<'a> {
    pub(super) to: Cow<'a, str>,
    /// All sources in their declared order, and whether each has arrived: two joins may lead to one node.
    pub(super) sources: Vec<(Cow<'a, str>, bool)>,
}

/// The result of a finished task whose step is not finished.
#[derive(Serialize, Deserialize)]
pub(super) struct OutcomeRow {
    pub(super) update: Box<RawValue>,
    pub(super) next: NextRow,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NextRow {
    Declared,
    Many(Vec<HopRow>),
    Within(Duration, Vec<HopRow>),
    Rescue(HopRow),
    Stay(Option<Value>),
    Direct(Value),
    Finish(Value),
}

#[derive(Serialize, Deserialize)]
pub(super) struct HopRow {
    to: Name,
    #[serde(default, skip_serializing_if = "is_default")]
    sent: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<[Box<RawValue>; 1]>,
}

impl Position<'_> {
    /// Counters that no thread reaches are not to be counted on from.
    pub(super) fn check_counters(&self) -> Result<(), String> {
        const MANY: u32 = u32::MAX / 2;
        if self.began > self.step || self.step > u64::MAX / 2 {
            return Err(format!("it is of super-step {}, of a turn that began at {}", self.step, self.began));
        }
        let wild = |slot: &&SlotRow<'_>| slot.attempt == 0 || slot.attempt > MANY || slot.stays > MANY;
        if let Some(slot) = self.next.iter().chain(&self.deferred).find(wild) {
            return Err(format!("`{}` is at attempt {} after {} stays", slot.node, slot.attempt, slot.stays));
        }
        match self.stays.iter().find(|(_, stays)| *stays > MANY) {
            Some((cluster, stays)) => Err(format!("cluster `{cluster}` has stayed {stays} times")),
            None => Ok(()),
        }
    }

    /// Nodes have other names since it was written.
    pub(super) fn rename_nodes(&mut self, nodes: &[(String, String)]) {
        for slot in self.next.iter_mut().chain(&mut self.deferred) {
            slot.node = rename(std::mem::take(&mut slot.node), nodes);
            if let Some(done) = &mut slot.done {
                done.next.rename_nodes(nodes);
            }
        }
        for join in &mut self.joins {
            join.to = rename(std::mem::take(&mut join.to), nodes);
            for (source, _) in &mut join.sources {
                *source = rename(std::mem::take(source), nodes);
            }
        }
    }
}

impl NextRow {
    pub(super) fn rename_nodes(&mut self, nodes: &[(String, String)]) {
        let hops = match self {
            Self::Many(hops) | Self::Within(_, hops) => &mut hops[..],
            Self::Rescue(hop) => std::slice::from_mut(hop),
            Self::Declared | Self::Stay(_) | Self::Direct(_) | Self::Finish(_) => &mut [],
        };
        for hop in hops {
            if let Cow::Owned(name) = rename(Cow::Borrowed(&hop.to), nodes) {
                hop.to = name.into();
            }
        }
    }
}

fn newest() -> u32 {
    VERSION
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(super) fn frontier_error(cause: serde_json::Error) -> CodecError {
    CodecError::Encode { field: "(frontier)".into(), cause }
}

pub(super) fn payload_row(node: &str, payload: Option<&Payload>) -> Result<Option<[Box<RawValue>; 1]>, CodecError> {
    let json = payload.map(|payload| payload.to_raw().map(|json| [json])).transpose();
    json.map_err(|reason| CodecError::Payload { node: node.to_owned(), reason })
}

pub(super) fn hop_row(hop: &Hop) -> Result<HopRow, CodecError> {
    let payload = payload_row(hop.to.name(), hop.send.as_ref().and_then(Option::as_ref))?;
    Ok(HopRow { to: hop.to.name().into(), sent: hop.send.is_some(), payload })
}

pub(super) fn hop_of(row: HopRow) -> Hop {
    let payload = row.payload.map(|[json]| Payload::stored(json));
    Hop { to: Target::Named(row.to), send: row.sent.then_some(payload) }
}

impl OutcomeRow {
    pub(super) fn of<S: State>(state: &S, outcome: &Outcome<S>) -> Result<Self, CodecError> {
        let mut update = Vec::new();
        state.encode_update(&outcome.update, &mut update)?;
        let hop = hop_row;
        let next = match &outcome.goto {
            Goto::Declared => NextRow::Declared,
            Goto::Go(to) => NextRow::Many(vec![HopRow { to: to.name.into(), sent: false, payload: None }]),
            Goto::Rare(rare) => match &**rare {
                Rare::Many(hops, timeout) => {
                    let hops = hops.iter().map(hop).collect::<Result<_, CodecError>>()?;
                    match timeout {
                        None => NextRow::Many(hops),
                        Some(timeout) => NextRow::Within(*timeout, hops),
                    }
                }
                Rare::Rescue(to) => NextRow::Rescue(hop(to)?),
                Rare::Stay(feedback) => NextRow::Stay(feedback.clone()),
                Rare::Direct(reply) => NextRow::Direct(reply.clone()),
                Rare::Finish(reply) => NextRow::Finish(reply.clone()),
                // Such an outcome became a failure when it was placed.
                Rare::Invalid(_) => NextRow::Declared,
            },
        };
        Ok(Self { update: serde_json::from_slice(&update).map_err(frontier_error)?, next })
    }

    pub(super) fn into_outcome<S: State>(self, state: &S) -> Result<Outcome<S>, String> {
        let update = state.decode_update(self.update.get().as_bytes()).map_err(|e| e.to_string())?;
        Ok(self.with(update))
    }

    /// The same, for what may be older than the program: see [`decode_update`].
    pub(super) fn restore<S: State>(self, state: &S, warnings: &mut Vec<String>) -> Result<Outcome<S>, String> {
        let update = decode_update(state, &self.update, warnings).map_err(|e| e.to_string())?;
        Ok(self.with(update))
    }

    fn with<S: State>(self, update: S::Update) -> Outcome<S> {
        let hop = hop_of;
        let goto = match self.next {
            NextRow::Declared => Goto::Declared,
            NextRow::Many(hops) => Goto::rare(Rare::Many(hops.into_iter().map(hop).collect(), None)),
            NextRow::Within(timeout, hops) => {
                Goto::rare(Rare::Many(hops.into_iter().map(hop).collect(), Some(timeout)))
            }
            NextRow::Rescue(row) => Goto::rare(Rare::Rescue(hop(row))),
            NextRow::Stay(feedback) => Goto::rare(Rare::Stay(feedback)),
            NextRow::Direct(reply) => Goto::rare(Rare::Direct(reply)),
            NextRow::Finish(reply) => Goto::rare(Rare::Finish(reply)),
        };
        Outcome { update, goto }
    }
}

pub(super) fn slot_row<'a, S: State>(
    graph: &'a Inner<S>,
    state: &S,
    slot: &Slot<S>,
) -> Result<SlotRow<'a>, CodecError> {
    let done = match &slot.done {
        Some(TaskOutcome::Done(outcome) | TaskOutcome::Cached(outcome)) => Some(OutcomeRow::of(state, outcome)?),
        // What failed or was cancelled runs again.
        Some(TaskOutcome::Failed(_) | TaskOutcome::Cancelled { .. } | TaskOutcome::Paused) | None => None,
    };
    Ok(SlotRow {
        node: Cow::Borrowed(graph.name_of(slot.node)),
        attempt: slot.attempt,
        stays: slot.stays,
        sent: slot.sent,
        payload: payload_row(graph.name_of(slot.node), slot.payload.as_ref())?,
        feedback: slot.extra.as_ref().map_or_else(Vec::new, |extra| extra.feedback.clone()),
        timeout: slot.extra.as_ref().and_then(|extra| extra.timeout),
        done,
        paused: matches!(slot.done, Some(TaskOutcome::Paused)),
        journal: None,
    })
}

pub(super) fn slot_of<S: State>(
    graph: &Inner<S>,
    state: &S,
    row: SlotRow<'_>,
    warnings: &mut Vec<String>,
) -> Result<Slot<S>, String> {
    let node = graph.target(&row.node).flatten().filter(|_| row.node != END);
    let node =
        node.ok_or_else(|| format!("node `{}` would run next, but the graph has none of that name", row.node))?;
    let bare = row.feedback.is_empty() && row.timeout.is_none();
    let extra = (!bare).then(|| Arc::new(Extra { feedback: row.feedback, timeout: row.timeout }));
    let done = row.done.map(|done| done.restore(state, warnings)).transpose();
    let done = done.map_err(|why| format!("the result of `{}`: {why}", row.node))?;
    Ok(Slot {
        attempt: row.attempt,
        stays: row.stays,
        sent: row.sent,
        payload: row.payload.map(|[json]| Payload::stored(json)),
        extra,
        done: done.map(TaskOutcome::Done).or(row.paused.then_some(TaskOutcome::Paused)),
        ..Slot::plain(node)
    })
}
