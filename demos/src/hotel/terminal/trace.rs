//! What happens in a turn, line by line.

use crate::hotel::clean::clean_line;
use crate::hotel::state::Hotel;
use graph_engine::{Event, EventKind, Move, Name};
use graph_nodes::stage::StageEvent;

/// The line for an event of a trace; `None` for events that tell nothing new.
pub(super) fn line(event: &Event<Hotel>) -> Option<String> {
    let node = event.node.as_deref().unwrap_or_default();
    let text = match &event.kind {
        EventKind::NodeFinished { wrote, next, .. } => {
            let wrote = match wrote.as_slice() {
                [] => "wrote nothing".to_owned(),
                fields => format!("wrote {}", names(fields)),
            };
            format!("{:>3} {node}: {wrote}; {}", event.step, route(next))
        }
        EventKind::NodeFailed { kind, message } => format!("{:>3} {node}: failed ({kind:?}): {message}", event.step),
        EventKind::AttemptDiscarded => format!("{:>3} {node}: discarded", event.step),
        EventKind::StepFinished { next, .. } if !next.is_empty() => format!("{:>3} next: {}", event.step, names(next)),
        _ => return None,
    };
    Some(clean_line(&text))
}

/// The line for something that went wrong with the model and was dealt with.
pub(super) fn trouble(event: &StageEvent) -> Option<String> {
    let text = match event {
        StageEvent::Rejected { stage, codes, attempt, max } => {
            let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
            format!("gate of {stage}: rejected ({}), attempt {attempt} of {max} follows", codes.join(", "))
        }
        StageEvent::ToolAnswered { stage, tool, status: graph_nodes::message::CallStatus::Error, .. } => {
            format!("tools of {stage}: `{tool}` was answered with an error")
        }
        StageEvent::RouteConflict(conflict) => format!("tools of {}: one of several routes was taken", conflict.stage),
        _ => return None,
    };
    Some(clean_line(&text))
}

fn names(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

fn route(next: &Move) -> String {
    match next {
        Move::Declared => "declared edges".to_owned(),
        Move::Go(to) => format!("go {}", names(to)),
        Move::FanOut(to) => format!("fan out {}", names(to)),
        Move::Stay(_) => "stay".to_owned(),
        Move::Direct(_) => "direct reply".to_owned(),
        Move::Finish(_) => "finish".to_owned(),
        other => format!("{other:?}"),
    }
}
