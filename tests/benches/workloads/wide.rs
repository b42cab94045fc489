//! `lg_wide`: 15 fields with nested values, six nodes of which each reads one and writes others, round and round until
//! the first list has more than so many entries. Lists and values are shared by pointer, as they are on the other
//! engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use graph_engine::{Graph, Log, Node, NodeError, Outcome, Route, Runner, START, State, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::letters;

/// A dictionary of dictionaries of lists of 25 values.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Inner>", into = "BTreeMap<String, Inner>")]
pub(crate) struct Payload(pub(crate) Arc<BTreeMap<String, Inner>>);

impl From<BTreeMap<String, Inner>> for Payload {
    fn from(map: BTreeMap<String, Inner>) -> Self {
        Self(Arc::new(map))
    }
}

impl From<Payload> for BTreeMap<String, Inner> {
    fn from(payload: Payload) -> Self {
        (*payload.0).clone()
    }
}

/// An inner dictionary.
#[derive(Clone)]
pub(crate) struct Inner(Arc<Value>);

impl Serialize for Inner {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self(Arc::new(value)))
    }
}

/// The payload of a size: so many dictionaries of so many lists.
pub(crate) fn payload(n: u64) -> Payload {
    let (outer, inner) = match n {
        300 => (5, 5),
        600 => (3, 5),
        _ => (3, 3),
    };
    let leaf: Vec<Value> = (0..5)
        .flat_map(|_| [json!("abc".repeat(10)), json!(false), json!(7), json!(1_234_567_890_123_u64), json!(null)])
        .collect();
    let dictionary = || (0..inner).map(|key| (format!("{key:010}"), Value::from(leaf.clone()))).collect::<Value>();
    (0..outer).map(|key| (format!("{key:010}"), Inner(Arc::new(dictionary())))).collect::<BTreeMap<_, _>>().into()
}

/// By the first letter: lists that are appended to, plain lists, merged maps, values that are kept unless there is a new
/// one, plain values.
#[derive(State, Clone, Default)]
pub(crate) struct Wide {
    pub(crate) size: usize,
    #[state(append)]
    pub(crate) l0: Log<Payload>,
    #[state(append)]
    l1: Log<Payload>,
    #[state(append)]
    l2: Log<Payload>,
    #[state(append)]
    l3: Log<Payload>,
    o0: Log<Payload>,
    o1: Log<Payload>,
    #[state(append)]
    m0: BTreeMap<String, Inner>,
    #[state(append)]
    m1: BTreeMap<String, Inner>,
    #[state(with = newer)]
    k0: Option<Payload>,
    #[state(with = newer)]
    k1: Option<Payload>,
    #[state(with = newer)]
    k2: Option<Payload>,
    #[state(with = newer)]
    k3: Option<String>,
    p0: String,
    p1: Option<Payload>,
    p2: String,
}

fn newer<T: Clone>(old: &Option<T>, new: Option<T>) -> Result<Option<T>, std::convert::Infallible> {
    Ok(new.or_else(|| old.clone()))
}

/// A node is what it reads and writes.
struct Step(fn(&Wide) -> WideUpdate);

#[async_trait]
impl Node<Wide> for Step {
    async fn run(&self, task: &Task<Wide>) -> Result<Outcome<Wide>, NodeError> {
        Ok(Outcome::of((self.0)(task.state())))
    }
}

#[derive(Route)]
enum Again {
    One,
    #[route(end)]
    End,
}

fn five(wide: &Wide) -> WideUpdate {
    let last = wide.l2.last().cloned();
    let items: Vec<_> =
        last.iter().flat_map(|last| last.0.iter().map(|(key, inner)| (key.clone(), inner.clone()))).collect();
    Wide::update()
        .k1(last.clone())
        .k2(last)
        .k3(Some(letters(3, wide.size)))
        .m0(items.clone())
        .p0(letters(0, wide.size))
        .m1(items)
}

pub(crate) fn wide() -> Runner<Wide> {
    let again = |wide: &Wide| if wide.l0.len() <= wide.size { Again::One } else { Again::End };
    let graph = Graph::builder("wide")
        .node("one", Step(|wide| Wide::update().l1(wide.l0.iter().cloned()).p2(letters(2, wide.size))))
        .node("two", Step(|wide| Wide::update().p1(wide.l1.last().cloned()).k0(wide.l1.last().cloned())))
        .node("three", Step(|wide| Wide::update().o0(wide.p1.iter().cloned().collect())))
        .node(
            "four",
            Step(|wide| Wide::update().l2(wide.l1.iter().cloned()).l3(wide.l1.iter().cloned()).o1(wide.l1.clone())),
        )
        .node("five", Step(five))
        .node("six", Step(|wide| Wide::update().l0(wide.l3.iter().cloned())))
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", "three")
        .edge("two", "four")
        .join(["three", "four"], "five")
        .edge("five", "six")
        .route("six", again);
    graph.compile().expect("compiles").runner().step_limit(u64::MAX).timings(false)
}
