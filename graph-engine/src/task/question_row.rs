//! The form of a stored question: flat, with the members of what is asked beside what became of it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, to_writer};

use super::interrupt::InterruptId;
use crate::name::Name;
use crate::state::Scan;
use crate::task_id::TaskId;

/// As it is read.
#[derive(Deserialize)]
pub(super) struct QuestionRow {
    pub(super) scope: Name,
    pub(super) nth: u32,
    pub(super) id: InterruptId,
    #[serde(default)]
    pub(super) namespace: Name,
    pub(super) node: Name,
    pub(super) task: TaskId,
    pub(super) question: Value,
    #[serde(default)]
    pub(super) expires_ms: Option<u64>,
    #[serde(default)]
    pub(super) answer: Option<[Value; 1]>,
    #[serde(default)]
    pub(super) default: Option<[Value; 1]>,
    pub(super) open: bool,
}

/// The same as it is written.
#[derive(Serialize)]
pub(super) struct QuestionRef<'a> {
    pub(super) scope: &'a Name,
    pub(super) nth: u32,
    pub(super) id: InterruptId,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) namespace: &'a Name,
    pub(super) node: &'a Name,
    pub(super) task: TaskId,
    pub(super) question: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: &'a Option<[Value; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) default: &'a Option<[Value; 1]>,
    pub(super) open: bool,
}

impl QuestionRow {
    /// Reads what [`QuestionRef::write`] has written: `None` if it isn't that.
    pub(super) fn scan(scan: &mut Scan<'_>) -> Option<Self> {
        scan.expect("{\"scope\":")?;
        let scope = scan.text()?.into();
        scan.expect(",\"nth\":")?;
        let nth = scan.short()?;
        scan.expect(",\"id\":")?;
        let id = scan.text()?.parse().ok()?;
        let namespace = if scan.take(",\"namespace\":") { scan.text()?.into() } else { Name::default() };
        scan.expect(",\"node\":")?;
        let node = scan.text()?.into();
        scan.expect(",\"task\":{\"step\":")?;
        let step = scan.number()?;
        scan.expect(",\"rank\":")?;
        let task = TaskId { step, rank: scan.short()? };
        scan.expect("},\"question\":")?;
        let question = scan.value()?;
        let expires_ms = if scan.take(",\"expires_ms\":") { Some(scan.number()?) } else { None };
        let answer = if scan.take(",\"answer\":") { Some(scan.value()?) } else { None };
        let default = if scan.take(",\"default\":") { Some(scan.value()?) } else { None };
        scan.expect(",\"open\":")?;
        let open = scan.flag()?;
        scan.expect("}")?;
        Some(Self { scope, nth, id, namespace, node, task, question, expires_ms, answer, default, open })
    }
}

impl QuestionRef<'_> {
    /// Writes what serde would write.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let Self { scope, nth, id, namespace, node, task, question, expires_ms, answer, default, open } = self;
        out.extend_from_slice(b"{\"scope\":");
        to_writer(&mut *out, scope)?;
        out.extend_from_slice(b",\"nth\":");
        to_writer(&mut *out, nth)?;
        out.extend_from_slice(b",\"id\":");
        id.write(out);
        if !is_empty(namespace) {
            out.extend_from_slice(b",\"namespace\":");
            to_writer(&mut *out, namespace)?;
        }
        out.extend_from_slice(b",\"node\":");
        to_writer(&mut *out, node)?;
        out.extend_from_slice(b",\"task\":{\"step\":");
        to_writer(&mut *out, &task.step)?;
        out.extend_from_slice(b",\"rank\":");
        to_writer(&mut *out, &task.rank)?;
        out.extend_from_slice(b"},\"question\":");
        to_writer(&mut *out, question)?;
        if let Some(expires_ms) = expires_ms {
            out.extend_from_slice(b",\"expires_ms\":");
            to_writer(&mut *out, expires_ms)?;
        }
        if let Some(answer) = answer {
            out.extend_from_slice(b",\"answer\":");
            to_writer(&mut *out, answer)?;
        }
        if let Some(default) = default {
            out.extend_from_slice(b",\"default\":");
            to_writer(&mut *out, default)?;
        }
        out.extend_from_slice(if *open { &b",\"open\":true}"[..] } else { b",\"open\":false}" });
        Ok(())
    }
}

fn is_empty(name: &Name) -> bool {
    name.as_str().is_empty()
}
