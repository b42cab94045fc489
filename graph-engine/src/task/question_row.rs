//! The form of a stored question: flat, with the members of what is asked beside what became of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::interrupt::InterruptId;
use crate::name::Name;
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

fn is_empty(name: &Name) -> bool {
    name.as_str().is_empty()
}
