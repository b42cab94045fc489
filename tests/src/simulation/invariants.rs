//! I8: what readers see is a prefix of one log with one end, and the log tells of every attempt.

use std::collections::BTreeMap;

use graph_engine::{Event, EventKind, TaskId};

use super::state::{Facts, Sim};
use super::trace::TurnTrace;
use super::world::{Ending, Record};

fn is_end(event: &Event<Sim>) -> bool {
    matches!(event.kind, EventKind::Ended { .. })
}

/// Checks all readers. True when the slow one was cut off.
///
/// # Errors
/// What is wrong with which reader.
pub(super) fn readers(trace: &TurnTrace) -> Result<bool, String> {
    let events = &trace.events;
    if let Some((at, event)) = (0..).zip(events).find(|(at, event)| event.seq != *at) {
        return Err(format!("I8 event {at} has number {}", event.seq));
    }
    let ends = events.iter().filter(|event| is_end(event)).count();
    let abandoned = trace.intent == super::trace::Intent::Abandon;
    let complete = usize::from(!trace.dropped && !abandoned);
    if ends < complete || ends > 1 || (ends == 1 && !events.last().is_some_and(is_end)) {
        return Err(format!("I8 {ends} terminal events: {events:?}"));
    }
    let checkpoints = events.iter().filter_map(|event| match event.kind {
        EventKind::Checkpoint { id } => Some(id),
        _ => None,
    });
    let checkpoints: Vec<_> = checkpoints.collect();
    let stored: Vec<_> =
        trace.noted.commits.iter().filter(|commit| commit.fault.is_none()).map(|commit| commit.id).collect();
    let told = if trace.dropped { stored.starts_with(&checkpoints) } else { stored == checkpoints };
    if !told && !abandoned {
        return Err(format!("I8 checkpoints {checkpoints:?} were told, {stored:?} were stored"));
    }
    for (who, others) in [("slow", &trace.slow), ("leaving", &trace.leaver)] {
        for (own, event) in others.iter().flatten().zip(events) {
            if own.seq != event.seq || own.to_string() != event.to_string() {
                return Err(format!("I8 the {who} reader saw {own:?}, not {event:?}"));
            }
        }
        if others.as_ref().is_some_and(|others| others.len() > events.len()) {
            return Err(format!("I8 the {who} reader saw more than there was"));
        }
    }
    Ok(trace.slow.as_ref().is_some_and(|slow| !slow.last().is_some_and(is_end)))
}

/// What was told after each super-step: its number, what is next, and the state.
pub(super) fn steps(trace: &TurnTrace) -> Vec<(u64, Vec<String>, Facts)> {
    let told = trace.events.iter().filter_map(|event| match &event.kind {
        EventKind::StepFinished { next, state: Some(state) } => {
            Some((event.step, next.iter().map(ToString::to_string).collect(), Facts::from(&**state)))
        }
        _ => None,
    });
    told.collect()
}

/// Every attempt is told from its beginning to its end, and nothing else is.
///
/// # Errors
/// The attempt and what was told of it.
pub(super) fn nodes(trace: &TurnTrace) -> Result<(), String> {
    let mut told: BTreeMap<(TaskId, u32), Vec<&Event<Sim>>> = BTreeMap::new();
    for event in &trace.events {
        // A cached result is told without an attempt.
        let cached = matches!(event.kind, EventKind::NodeFinished { cached: true, .. });
        if let (Some(task), false) = (event.task, cached) {
            told.entry((task, event.attempt)).or_default().push(event);
        }
    }
    for record in &trace.records {
        let task = TaskId { step: record.call.step, rank: record.call.rank };
        let events = told.remove(&(task, record.call.attempt)).unwrap_or_default();
        if !trace.dropped && !is_told(record, &events) && trace.intent != super::trace::Intent::Abandon {
            return Err(format!("I8 {record:?} was told as {events:?}"));
        }
    }
    match told.into_values().next() {
        Some(events) if !trace.dropped => Err(format!("I8 no node ran for {events:?}")),
        _ => Ok(()),
    }
}

fn is_told(record: &Record, events: &[&Event<Sim>]) -> bool {
    let mut rest = events.iter().map(|event| &event.kind).peekable();
    if !matches!(rest.next(), Some(EventKind::NodeStarted)) {
        return false;
    }
    let mut emitted = false;
    while rest.next_if(|kind| matches!(kind, EventKind::Custom(_) | EventKind::Token(_))).is_some() {
        emitted = true;
    }
    let ending = record.ended.map(|(_, ending)| ending);
    let fits = match ending {
        Some(Ending::Done) => matches!(rest.next(), Some(EventKind::NodeFinished { update: Some(_), .. })),
        Some(Ending::Dropped) => {
            // It timed out, or was cancelled without a word.
            rest.next_if(|kind| matches!(kind, EventKind::NodeFailed { .. }));
            true
        }
        _ => matches!(rest.next(), Some(EventKind::NodeFailed { .. })),
    };
    let discarded = matches!(rest.next(), Some(EventKind::AttemptDiscarded));
    fits && discarded == (emitted && ending != Some(Ending::Done)) && rest.next().is_none()
}
