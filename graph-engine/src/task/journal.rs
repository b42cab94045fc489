//! What tasks of the unfinished super-step asked, were answered and remembered: it outlives their attempts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::interrupt::{BadAnswer, Interrupt, InterruptId};
use super::question_row::{QuestionRef, QuestionRow};
use crate::checkpoint_id::CheckpointId;
use crate::name::Name;
use crate::task_id::TaskId;

/// The journals of all tasks of a turn, by task. Most turns have none, which costs one look at a flag.
#[derive(Default)]
pub(crate) struct Journals {
    any: AtomicBool,
    /// Made for the first of them.
    tasks: OnceLock<Mutex<BTreeMap<TaskId, Journal>>>,
    /// Answers to questions that are asked anew, because nothing of them is kept: by their ids.
    given: Option<BTreeMap<InterruptId, Value>>,
}

/// The journal of one task, as it is stored while its super-step is unfinished.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Question>,
    /// Results within the task, by scope and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    memos: BTreeMap<String, Box<RawValue>>,
    /// The child graphs that it called, by call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    children: BTreeMap<String, ChildRow>,
    #[serde(skip)]
    attempt: Attempt,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(from = "QuestionRow")]
struct Question {
    scope: Name,
    /// Which question of its scope it is, from 0.
    nth: u32,
    interrupt: Interrupt,
    /// In a list of one, because an answer may be null.
    answer: Option<[Value; 1]>,
    default: Option<[Value; 1]>,
    /// The last attempt asked it.
    open: bool,
    /// How long it may stay open, until the clock was asked.
    within: Option<Duration>,
}

/// What a task knows of a child graph that it called.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChildRow {
    /// Where the child's checkpoints are.
    pub(crate) namespace: Name,
    /// Where it stood when the task last heard of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<CheckpointId>,
    /// Its state is kept over calls.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) per_thread: bool,
    /// It has come to its end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) done: bool,
    /// The last attempt found it waiting for answers.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) waits: bool,
    /// What it asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<Interrupt>,
    /// Answers that it has not taken yet; of a child that keeps nothing, all of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) answers: BTreeMap<InterruptId, Value>,
    /// Defaults that count as answers once their time has come, of a child that keeps nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) defaults: BTreeMap<InterruptId, Value>,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What is known of the attempt at hand only.
#[derive(Clone, Debug, Default)]
struct Attempt {
    /// Which one it is. Work that an earlier one left behind has no say any more.
    number: u32,
    /// It has ended.
    over: bool,
    /// Questions so far, by scope.
    asked: BTreeMap<Name, u32>,
    /// Keys in use.
    keys: BTreeSet<String>,
    /// Calls of child graphs so far, by scope and name.
    calls: BTreeMap<String, u32>,
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
    /// The attempt that asks is over.
    Over,
}

/// What an answer is to a question.
pub(crate) enum Reply {
    Known(Known),
    /// It is noted as open.
    Open,
    /// The attempt that asks is over.
    Over,
}

impl Journals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<TaskId, Journal>> {
        self.tasks.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal of a task as an attempt of it may change it: `None` if that attempt is over.
    fn by<T>(&self, task: TaskId, attempt: u32, change: impl FnOnce(&mut Journal) -> T) -> Option<T> {
        self.of(task, |journal| {
            match journal.attempt.number {
                // A first attempt that has called a child graph so far.
                0 => journal.attempt.number = attempt,
                number if number < attempt => journal.begin(attempt),
                _ => {}
            }
            let Attempt { number, over, .. } = journal.attempt;
            (number == attempt && !over).then(|| change(journal))
        })
    }

    /// The journal of a task, made if there is none.
    fn of<T>(&self, task: TaskId, change: impl FnOnce(&mut Journal) -> T) -> T {
        self.any.store(true, Ordering::Release);
        change(self.lock().entry(task).or_default())
    }

    /// Whether some task has a journal.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether there ever was anything to note.
    pub(crate) fn were_used(&self) -> bool {
        self.any() || self.tasks.get().is_some() || self.given.is_some()
    }

    /// A new attempt of the task begins. That it is not the first is noted, so that what the one before left behind can
    /// be told apart.
    pub(crate) fn begin(&self, task: TaskId, attempt: u32) {
        if attempt > 1 {
            return self.of(task, |journal| journal.begin(attempt));
        }
        if let Some(journal) = self.lock().get_mut(&task) {
            journal.begin(attempt);
        }
    }

    /// The answer to the next question of a scope.
    pub(crate) fn ask(
        &self,
        task: TaskId,
        attempt: u32,
        scope: Option<&Name>,
        make: impl FnOnce(u32) -> Asked,
    ) -> Reply {
        let reply = self.by(task, attempt, |journal| {
            let scope = scope.cloned().unwrap_or_default();
            let count = journal.attempt.asked.entry(scope.clone()).or_default();
            let nth = *count;
            *count += 1;
            match journal.questions.iter_mut().find(|known| known.scope == scope && known.nth == nth) {
                Some(known) => {
                    known.open = known.answer.is_none();
                    let id = known.interrupt.id;
                    known.answer.clone().map_or(Reply::Open, |[answer]| Reply::Known(Known { id, answer }))
                }
                None => {
                    let Asked { interrupt, within, default } = make(nth);
                    let default = default.map(|default| [default]);
                    let id = interrupt.id;
                    let answer = self.given.as_ref().and_then(|given| given.get(&id)).cloned();
                    journal.questions.push(Question {
                        scope,
                        nth,
                        interrupt,
                        answer: answer.clone().map(|answer| [answer]),
                        default,
                        open: answer.is_none(),
                        within,
                    });
                    answer.map_or(Reply::Open, |answer| Reply::Known(Known { id, answer }))
                }
            }
        });
        reply.unwrap_or(Reply::Over)
    }

    /// The answer to a question is not what the node asked for; the question is open again.
    pub(crate) fn refuse_answer(&self, task: TaskId, attempt: u32, bad: BadAnswer) {
        self.by(task, attempt, |journal| {
            if let Some(question) = journal.questions.iter_mut().find(|question| question.interrupt.id == bad.id) {
                (question.answer, question.open) = (None, true);
            }
            journal.attempt.bad.push(bad);
        });
    }

    /// The attempt fails, whatever the node makes of the error that it gets.
    pub(crate) fn refuse(&self, task: TaskId, attempt: u32, why: &str) {
        self.by(task, attempt, |journal| journal.attempt.refused = Some(why.to_owned()));
    }

    /// An attempt is over, and its outcome stands.
    pub(crate) fn end(&self, task: TaskId, attempt: u32) {
        if let Some(journal) = self.lock().get_mut(&task).filter(|journal| journal.attempt.number == attempt) {
            journal.attempt.over = true;
        }
    }

    /// An attempt is over. Questions that may only stay open for some time get their deadline.
    pub(crate) fn settle(&self, task: TaskId, attempt: u32, now_ms: impl FnOnce() -> u64) -> Verdict {
        let mut tasks = self.lock();
        let journal = tasks.get_mut(&task).filter(|journal| journal.attempt.number <= attempt);
        let Some(journal) = journal else { return Verdict::Stands };
        journal.attempt.number = attempt;
        journal.attempt.over = true;
        if let Some(why) = journal.attempt.refused.take() {
            return Verdict::Refused(why);
        }
        let asks = journal.questions.iter().any(|question| question.open);
        if !asks && !journal.children.values().any(|child| child.waits) {
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
        if let Some(journal) = self.lock().get_mut(&task) {
            journal.begin(journal.attempt.number);
            journal.attempt.over = true;
        }
    }

    /// Whether a person or a deadline has answered something that the task asked.
    pub(crate) fn answered(&self, task: TaskId) -> bool {
        let is_answered = |question: &Question| question.answer.is_some();
        self.lock().get(&task).is_some_and(|journal| journal.questions.iter().any(is_answered))
    }

    /// The open questions of a task, in the order in which they were first asked.
    pub(crate) fn open(&self, task: TaskId) -> Vec<Interrupt> {
        let mut open = Vec::new();
        self.each_open(task, |interrupt| open.push(interrupt.clone()));
        open
    }

    /// The same, one after the other.
    pub(crate) fn each_open(&self, task: TaskId, see: impl FnMut(&Interrupt)) {
        if let Some(journal) = self.lock().get(&task) {
            journal.open().for_each(see);
        }
    }

    /// When the first open question of a task expires, in milliseconds since 1970.
    pub(crate) fn due(&self, task: TaskId) -> Option<u64> {
        self.lock().get(&task)?.open().filter_map(|interrupt| interrupt.expires_ms).min()
    }

    /// Whether a question of the task is open, in a scope that begins so.
    pub(crate) fn waits(&self, task: TaskId, scope: &str) -> bool {
        let is_open = |question: &Question| question.open && question.scope.starts_with(scope);
        // Calls of child graphs begin with their scope.
        let has_child =
            |journal: &Journal| journal.children.iter().any(|(call, child)| child.waits && call.starts_with(scope));
        self.lock().get(&task).is_some_and(|journal| journal.questions.iter().any(is_open) || has_child(journal))
    }

    /// Answers an open question.
    pub(crate) fn answer(&self, task: TaskId, id: InterruptId, answer: Value) {
        let mut tasks = self.lock();
        let Some(journal) = tasks.get_mut(&task) else { return };
        if let Some(question) = journal.questions.iter_mut().find(|question| question.interrupt.id == id) {
            (question.answer, question.open) = (Some([answer]), false);
        } else if let Some(child) = journal.children.values_mut().find(|child| child.open.iter().any(|i| i.id == id)) {
            child.open.retain(|interrupt| interrupt.id != id);
            child.answers.insert(id, answer);
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
            // A child graph looks at the time by itself when it goes on.
            for child in journal.children.values_mut().filter(|child| child.waits) {
                let late = |interrupt: &Interrupt| interrupt.expires_ms.is_some_and(|at| at <= now_ms);
                for interrupt in child.open.extract_if(.., |interrupt| late(interrupt)) {
                    expired = true;
                    if let Some(default) = child.defaults.remove(&interrupt.id) {
                        child.answers.insert(interrupt.id, default);
                    }
                }
            }
        }
        expired
    }

    /// Answers that were refused since the last call, by task.
    pub(crate) fn take_bad(&self) -> Vec<BadAnswer> {
        self.lock().values_mut().flat_map(|journal| std::mem::take(&mut journal.attempt.bad)).collect()
    }

    /// The number of a call of a child graph in this attempt, by scope and name.
    pub(crate) fn number_call(&self, task: TaskId, name: &str) -> u32 {
        self.of(task, |journal| {
            let next = journal.attempt.calls.entry(name.to_owned()).or_default();
            std::mem::replace(next, *next + 1)
        })
    }

    /// What the task knows of a child graph.
    pub(crate) fn child(&self, task: TaskId, call: &str) -> Option<ChildRow> {
        self.lock().get(&task)?.children.get(call).cloned()
    }

    /// What the task knows of a child graph from now on.
    pub(crate) fn set_child(&self, task: TaskId, call: &str, row: ChildRow) {
        self.of(task, |journal| journal.children.insert(call.to_owned(), row));
    }

    /// Answers that a child graph refused.
    pub(crate) fn child_refused(&self, task: TaskId, bad: Vec<BadAnswer>) {
        self.of(task, |journal| journal.attempt.bad.extend(bad));
    }

    /// The children of a finished task whose state is kept: what the thread must know of it.
    pub(crate) fn kept_children(&self, task: TaskId) -> Vec<(String, ChildRow)> {
        let tasks = self.lock();
        let children = tasks.get(&task).into_iter().flat_map(|journal| &journal.children);
        let kept = children.filter(|(_, child)| child.per_thread && child.done && child.at.is_some());
        kept.map(|(call, child)| (call.clone(), child.clone())).collect()
    }

    /// Open questions with their defaults, for whoever keeps nothing else of the tasks.
    pub(crate) fn defaults(&self) -> BTreeMap<InterruptId, Value> {
        let tasks = self.lock();
        let questions = tasks.values().flat_map(|journal| &journal.questions).filter(|question| question.open);
        let own = questions
            .filter_map(|question| Some((question.interrupt.id, question.default.clone()?.into_iter().next()?)));
        let inner = tasks.values().flat_map(|journal| journal.children.values()).filter(|child| child.waits);
        own.chain(inner.flat_map(|child| child.defaults.clone())).collect()
    }

    /// Answers to questions that will be asked anew.
    pub(crate) fn give(&mut self, answers: BTreeMap<InterruptId, Value>) {
        self.given = Some(answers);
    }

    /// What is remembered under a key; a new key is in use from now on.
    pub(crate) fn recall(&self, task: TaskId, attempt: u32, key: &str) -> Recall {
        let recalled = self.by(task, attempt, |journal| {
            if !journal.attempt.keys.insert(key.to_owned()) {
                return Recall::Twice;
            }
            journal.memos.get(key).map_or(Recall::New, |known| Recall::Known(known.clone()))
        });
        recalled.unwrap_or(Recall::Over)
    }

    /// The key is free again, because nothing came of it.
    pub(crate) fn forget(&self, task: TaskId, attempt: u32, key: &str) {
        self.by(task, attempt, |journal| journal.attempt.keys.remove(key));
    }

    /// Remembers a result. The first one of a key stands, and is given back if it isn't this one.
    pub(crate) fn remember(&self, task: TaskId, key: &str, json: Box<RawValue>) -> Option<Box<RawValue>> {
        self.of(task, |journal| match journal.memos.get(key) {
            Some(known) => Some(known.clone()),
            None => {
                journal.memos.insert(key.to_owned(), json);
                None
            }
        })
    }

    /// The journal of a task, as it is stored.
    pub(crate) fn stored(&self, task: TaskId) -> Option<Journal> {
        let tasks = self.lock();
        let journal = tasks.get(&task).filter(|journal| !journal.is_empty())?;
        let Journal { questions, memos, children, attempt: _ } = journal;
        let (questions, memos, children) = (questions.clone(), memos.clone(), children.clone());
        Some(Journal { questions, memos, children, attempt: Attempt::default() })
    }

    /// The reverse of [`stored`](Self::stored).
    pub(crate) fn restore(&self, task: TaskId, journal: Journal) {
        self.of(task, |own| *own = journal);
    }

    /// The super-step is over.
    #[inline]
    pub(crate) fn clear(&self) {
        // The look before it costs nothing, the swap stops the processor.
        if self.any() && self.any.swap(false, Ordering::AcqRel) {
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
    fn begin(&mut self, attempt: u32) {
        self.attempt = Attempt { number: attempt, ..Attempt::default() };
        self.questions.iter_mut().for_each(|question| question.open = false);
        self.children.values_mut().for_each(|child| child.waits = false);
    }

    /// The open questions, those of child graphs last.
    fn open(&self) -> impl Iterator<Item = &Interrupt> {
        let own = self.questions.iter().filter(|question| question.open).map(|question| &question.interrupt);
        let children = self.children.values().filter(|child| child.waits).flat_map(|child| &child.open);
        own.chain(children)
    }

    fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.memos.is_empty() && self.children.is_empty()
    }
}

impl From<QuestionRow> for Question {
    fn from(row: QuestionRow) -> Self {
        let QuestionRow { scope, nth, id, namespace, node, task, question, expires_ms, answer, default, open } = row;
        let interrupt = Interrupt { id, namespace, node, task, question, expires_ms };
        Self { scope, nth, interrupt, answer, default, open, within: None }
    }
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { scope, nth, interrupt, answer, default, open, within: _ } = self;
        let Interrupt { id, namespace, node, task, question, expires_ms } = interrupt;
        QuestionRef {
            scope,
            nth: *nth,
            id: *id,
            namespace,
            node,
            task: *task,
            question,
            expires_ms: *expires_ms,
            answer,
            default,
            open: *open,
        }
        .serialize(serializer)
    }
}

impl fmt::Debug for Journals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journals").field(&self.lock()).finish()
    }
}
