//! What a commit must say of the thread's position.

use graph_engine::FailedTask;
use serde_json::{Map, Value, json};

use super::model::Task;
use super::turn::Turn;
use super::{holds, same};
use crate::simulation::behave::Way;
use crate::simulation::node::rescue_number;
use crate::simulation::plan::NAMES;
use crate::simulation::state::FIELDS;
use crate::simulation::store::Committed;

impl Turn<'_, '_> {
    /// I1 and I3: the commit follows the last one, and holds exactly what is still owed.
    pub(super) fn check_commit(&self, commit: &Committed) -> Result<(), String> {
        let oracle = &self.oracle;
        same("I1 the parent", &oracle.head, &commit.parent)?;
        same("the step of the commit", &self.model.step, &commit.step)?;
        let thread = crate::simulation::session::THREAD;
        let id = graph_engine::CheckpointId::derive(thread, "", commit.parent, &commit.turn, commit.step);
        same("I1 the id", &id, &commit.id)?;
        holds(!oracle.ids.contains(&commit.id), || format!("I1 the id {} is used twice", commit.id))?;
        holds(!oracle.turn_names.contains(&commit.turn), || format!("the turn {} ran before", commit.turn))?;
        let draft = commit.fields.iter().any(|(name, ..)| name == "draft");
        holds(!draft, || "a transient field was stored".to_owned())?;
        let expected = self.position();
        let mut got: Value = serde_json::from_str(&commit.position).map_err(|error| format!("I3 {error}"))?;
        for list in ["next", "deferred"] {
            for row in got.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(done) = row.get_mut("done").and_then(Value::as_object_mut) {
                    // What it wrote is judged by the state.
                    done.remove("update");
                    for next in done.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
                        number(next);
                    }
                }
                number(row);
            }
        }
        same("I3 the position", &expected, &got)
    }

    fn position(&self) -> Value {
        let model = &self.model;
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| {
            let empty = value.as_array().is_some_and(Vec::is_empty) || value == Value::Bool(false);
            if !empty {
                all.insert(key.to_owned(), value);
            }
        };
        put("step", json!(model.step));
        if model.began > 0 {
            put("began", json!(model.began));
        }
        if let Some(origin) = model.origin {
            put("origin", json!(origin));
        }
        put("next", model.tasks.iter().map(row).collect());
        put("deferred", model.deferred().map(row).collect());
        let joins = self.oracle.graph.joins.iter().zip(&model.arrived).filter(|(_, arrived)| !arrived.is_empty());
        let joins = joins.map(|(join, arrived)| {
            let sources: Value =
                join.sources.iter().map(|source| json!([NAMES[*source], arrived.contains(source)])).collect();
            json!({"to": NAMES[join.to], "sources": sources})
        });
        put("joins", joins.collect());
        let stays = model.stays.iter().enumerate().filter(|(_, stays)| **stays > 0);
        put("stays", stays.map(|(cluster, stays)| json!([format!("c{cluster}"), stays])).collect());
        let replies = model.replies.iter().map(|(step, rank, node, value)| {
            let node = node.map_or(graph_engine::START, |node| NAMES[node]);
            json!({"task": {"step": step, "rank": rank}, "node": node, "value": value})
        });
        put("replies", replies.collect());
        put("completed", json!(model.completed));
        let wrote = model.wrote.iter().map(|(writer, fields)| {
            let names = fields.iter().map(|field| FIELDS[*field]);
            let writer = writer.map_or(graph_engine::START, |node| NAMES[node]);
            std::iter::once(writer).chain(names).collect::<Value>()
        });
        // One alone stands without a list around it.
        let mut wrote: Vec<Value> = wrote.collect();
        put("wrote", if wrote.len() == 1 { wrote.remove(0) } else { wrote.into() });
        Value::Object(all)
    }
}

/// A failed task as a payload is compared as the number that stands for it.
fn number(row: &mut Value) {
    if let Some(payload) = row.get_mut("payload").and_then(|payload| payload.get_mut(0))
        && let Ok(failed) = serde_json::from_value::<FailedTask>(payload.clone())
    {
        *payload = json!(rescue_number(&failed));
    }
}

fn row(task: &Task) -> Value {
    let mut row = json!({"node": NAMES[task.node]});
    if task.attempt != 1 {
        row["attempt"] = json!(task.attempt);
    }
    if task.stays > 0 {
        row["stays"] = json!(task.stays);
    }
    if task.sent {
        row["sent"] = json!(true);
    }
    if let Some(payload) = task.payload {
        row["payload"] = json!([payload]);
    }
    if !task.feedback.is_empty() {
        row["feedback"] = json!(task.feedback);
    }
    if let Some((_, way)) = &task.done {
        row["done"] = json!({"next": next(way)});
    }
    // A task that is nothing but its node's name is that name.
    if row.as_object().is_some_and(|row| row.len() == 1) { row["node"].take() } else { row }
}

fn next(way: &Way) -> Value {
    match way {
        Way::Declared => json!("declared"),
        Way::Stay(feedback) => json!({"stay": feedback}),
        Way::Rescue(to, payload) => json!({"rescue": {"to": NAMES[*to], "sent": true, "payload": [payload]}}),
        Way::Direct(reply) => json!({"direct": reply}),
        Way::Finish(reply) => json!({"finish": reply}),
        Way::Hops(hops) => {
            let hops = hops.iter().map(|hop| {
                let mut row = json!({"to": hop.to.map_or(graph_engine::END, |to| NAMES[to])});
                if let Some(send) = hop.send {
                    row["sent"] = json!(true);
                    if let Some(payload) = send {
                        row["payload"] = json!([payload]);
                    }
                }
                row
            });
            json!({"many": hops.collect::<Vec<_>>()})
        }
    }
}
