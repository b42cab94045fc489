//! What tasks of the unfinished super-step asked, were answered and remembered: it outlives their attempts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::interrupt::{BadAnswer, Interrupt, InterruptId};
use crate::name::Name;
use crate::task_id::TaskId;

/// The journals of all tasks of a turn, by task. Most turns have none, which costs one look at a flag.
#[derive(Default)]
pub(crate) struct Journals {
    any: AtomicBool,
    tasks: Mutex<BTreeMap<TaskId, Journal>>,
}

/// The journal of one task, as it is stored while its super-step is unfinished.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Question>,
    /// Results within the task, by scope and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    memos: BTreeMap<String, Box<RawValue>>,
    #[serde(skip)]
    attempt: Attempt,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Question {
    scope: Name,
    /// Which question of its scope it is, from 0.
    nth: u32,
    #[serde(flatten)]
    interrupt: Interrupt,
    /// In a list of one, because an answer may be null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<[Value; 1]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<[Value; 1]>,
    /// The last attempt asked it.
    open: bool,
    /// How long it may stay open, until the clock was asked.
    #[serde(skip)]
    within: Option<Duration>,
}

/// What is known of the attempt at hand only.
#[derive(Clone, Debug, Default)]
struct Attempt {
    /// Questions so far, by scope.
    asked: BTreeMap<Name, u32>,
    /// Keys in use.
    keys: BTreeSet<String>,
    bad: Vec<BadAnswer>,
    /// Why the attempt fails whatever the node makes of it.
    refused: Option<String>,
}

/// A question as a node asks it.
pub(crate) struct Asked {
    pub(crate) interrupt: Interrupt,
    pub(crate) within: Option<Duration>,
    pub(crate) default: Option<Value>,
}

/// What the journal says of an attempt that is over.
pub(crate) enum Verdict {
    /// Nothing: its outcome stands.
    Stands,
    /// It asked something that nobody has answered.
    Paused,
    /// It asked for something that there is not.
    Refused(String),
}

/// What became of a key that a node remembers something under.
pub(crate) enum Recall {
    Known(Box<RawValue>),
    New,
    /// The same key is in use in this attempt.
    Twice,
}

impl Journals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, Journal>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal of a task, made if there is none.
    fn of<T>(&self, task: TaskId, change: impl FnOnce(&mut Journal) -> T) -> T {
        self.any.store(true, Ordering::Release);
        change(self.lock().entry(task).or_default())
    }

    /// Whether some task has a journal.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// A new attempt of the task begins.
    pub(crate) fn begin(&self, task: TaskId) {
        if let Some(journal) = self.lock().get_mut(&task) {
            journal.attempt = Attempt::default();
            journal.questions.iter_mut().for_each(|question| question.open = false);
        }
    }

    /// The answer to the next question of a scope, or `None` once it is noted as open.
    pub(crate) fn ask(&self, task: TaskId, scope: Option<&Name>, make: impl FnOnce(u32) -> Asked) -> Option<Known> {
        self.of(task, |journal| {
            let scope = scope.cloned().unwrap_or_default();
            let count = journal.attempt.asked.entry(scope.clone()).or_default();
            let nth = *count;
            *count += 1;
            match journal.questions.iter_mut().find(|known| known.scope == scope && known.nth == nth) {
                Some(known) => {
                    known.open = known.answer.is_none();
                    let id = known.interrupt.id;
                    known.answer.clone().map(|[answer]| Known { id, answer })
                }
                None => {
                    let Asked { interrupt, within, default } = make(nth);
                    let default = default.map(|default| [default]);
                    journal.questions.push(Question {
                        scope,
                        nth,
                        interrupt,
                        answer: None,
                        default,
                        open: true,
                        within,
                    });
                    None
                }
            }
        })
    }

    /// The answer to a question is not what the node asked for; the question is open again.
    pub(crate) fn refuse_answer(&self, task: TaskId, bad: BadAnswer) {
        self.of(task, |journal| {
            if let Some(question) = journal.questions.iter_mut().find(|question| question.interrupt.id == bad.id) {
                (question.answer, question.open) = (None, true);
            }
            journal.attempt.bad.push(bad);
        });
    }

    /// The attempt fails, whatever the node makes of the error that it gets.
    pub(crate) fn refuse(&self, task: TaskId, why: &str) {
        self.of(task, |journal| journal.attempt.refused = Some(why.to_owned()));
    }

    /// An attempt is over. Questions that may only stay open for some time get their deadline.
    pub(crate) fn settle(&self, task: TaskId, now_ms: impl FnOnce() -> u64) -> Verdict {
        let mut tasks = self.lock();
        let Some(journal) = tasks.get_mut(&task) else { return Verdict::Stands };
        if let Some(why) = journal.attempt.refused.take() {
            return Verdict::Refused(why);
        }
        if !journal.questions.iter().any(|question| question.open) {
            return Verdict::Stands;
        }
        if journal.questions.iter().any(|question| question.within.is_some()) {
            let now = now_ms();
            for question in &mut journal.questions {
                if let Some(within) = question.within.take() {
                    let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
                    question.interrupt.expires_ms = Some(now.saturating_add(within));
                }
            }
        }
        Verdict::Paused
    }

    /// An attempt failed for good or is over: nothing that it asked is open any more.
    pub(crate) fn close(&self, task: TaskId) {
        self.begin(task);
    }

    /// The open questions of a task, in the order in which they were first asked.
    pub(crate) fn open(&self, task: TaskId) -> Vec<Interrupt> {
        let tasks = self.lock();
        let questions = tasks.get(&task).map_or(&[][..], |journal| &journal.questions);
        questions.iter().filter(|question| question.open).map(|question| question.interrupt.clone()).collect()
    }

    /// Whether a question of the task is open, in a scope that begins so.
    pub(crate) fn waits(&self, task: TaskId, scope: &str) -> bool {
        let is_open = |question: &Question| question.open && question.scope.starts_with(scope);
        self.lock().get(&task).is_some_and(|journal| journal.questions.iter().any(is_open))
    }

    /// Answers an open question.
    pub(crate) fn answer(&self, task: TaskId, id: InterruptId, answer: Value) {
        if let Some(journal) = self.lock().get_mut(&task)
            && let Some(question) = journal.questions.iter_mut().find(|question| question.interrupt.id == id)
        {
            (question.answer, question.open) = (Some([answer]), false);
        }
    }

    /// Answers open questions of a task whose time is over by their defaults; says whether there was one.
    pub(crate) fn expire(&self, task: TaskId, now_ms: u64) -> bool {
        let mut expired = false;
        if let Some(journal) = self.lock().get_mut(&task) {
            for question in journal.questions.iter_mut().filter(|question| question.open) {
                if question.interrupt.expires_ms.is_some_and(|at| at <= now_ms) && question.default.is_some() {
                    (question.answer, question.open) = (question.default.clone(), false);
                    expired = true;
                }
            }
        }
        expired
    }

    /// Answers that were refused since the last call, by task.
    pub(crate) fn take_bad(&self) -> Vec<BadAnswer> {
        self.lock().values_mut().flat_map(|journal| std::mem::take(&mut journal.attempt.bad)).collect()
    }

    /// What is remembered under a key; a new key is in use from now on.
    pub(crate) fn recall(&self, task: TaskId, key: &str) -> Recall {
        self.of(task, |journal| {
            if !journal.attempt.keys.insert(key.to_owned()) {
                return Recall::Twice;
            }
            journal.memos.get(key).map_or(Recall::New, |known| Recall::Known(known.clone()))
        })
    }

    /// The key is free again, because nothing came of it.
    pub(crate) fn forget(&self, task: TaskId, key: &str) {
        self.of(task, |journal| journal.attempt.keys.remove(key));
    }

    /// Remembers a result. The first one of a key stands.
    pub(crate) fn remember(&self, task: TaskId, key: &str, json: Box<RawValue>) {
        self.of(task, |journal| {
            journal.memos.entry(key.to_owned()).or_insert(json);
        });
    }

    /// The journal of a task, as it is stored.
    pub(crate) fn stored(&self, task: TaskId) -> Option<Journal> {
        self.lock().get(&task).filter(|journal| !journal.is_empty()).cloned()
    }

    /// The reverse of [`stored`](Self::stored).
    pub(crate) fn restore(&self, task: TaskId, journal: Journal) {
        self.of(task, |own| *own = journal);
    }

    /// The super-step is over.
    pub(crate) fn clear(&self) {
        if self.any.swap(false, Ordering::AcqRel) {
            self.lock().clear();
        }
    }

    /// Answers to the first questions of a task outside of every scope, before they are asked.
    #[cfg(feature = "testing")]
    pub(crate) fn preset(&self, task: TaskId, answers: Vec<Value>) {
        for (nth, answer) in (0..).zip(answers) {
            let interrupt = Interrupt {
                id: InterruptId::derive("preset", task, "", nth),
                namespace: Name::default(),
                node: Name::default(),
                task,
                question: Value::Null,
                expires_ms: None,
            };
            let (answer, scope) = (Some([answer]), Name::default());
            let question = Question { scope, nth, interrupt, answer, default: None, open: false, within: None };
            self.of(task, |journal| journal.questions.push(question));
        }
    }
}

/// A question that has been answered.
pub(crate) struct Known {
    pub(crate) id: InterruptId,
    pub(crate) answer: Value,
}

impl Journal {
    fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.memos.is_empty()
    }
}

impl fmt::Debug for Journals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journals").field(&self.lock()).finish()
    }
}
