//! A state of fifteen fields with nested payloads, which six nodes hand on until the first list is long enough.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use graph_engine::{Graph, Log, Route, START, Snap, State};
use measure::{Asked, Times, letters};
use serde_json::{Value, json};

use crate::state::Here;

/// A nested payload that is shared, as a reference is in other languages.
type Payload = Arc<BTreeMap<String, Arc<Value>>>;

#[derive(State, Default, Clone)]
struct Wide {
    size: u64,
    #[state(append)]
    l0: Log<Payload>,
    #[state(append)]
    l1: Log<Payload>,
    #[state(append)]
    l2: Log<Payload>,
    #[state(append)]
    l3: Log<Payload>,
    o0: Vec<Payload>,
    o1: Log<Payload>,
    #[state(with = merge)]
    m0: Payload,
    #[state(with = merge)]
    m1: Payload,
    #[state(with = keep)]
    k0: Option<Payload>,
    #[state(with = keep)]
    k1: Option<Payload>,
    #[state(with = keep)]
    k2: Option<Payload>,
    #[state(with = keep)]
    k3: Option<String>,
    p0: String,
    p1: Option<Payload>,
    p2: String,
}

fn merge(old: &Payload, new: Payload) -> Result<Payload, Infallible> {
    let mut merged = BTreeMap::clone(old);
    merged.extend(new.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(Arc::new(merged))
}

fn keep<T: Clone>(old: &Option<T>, new: Option<T>) -> Result<Option<T>, Infallible> {
    Ok(new.or_else(|| old.clone()))
}

fn text(wide: &Wide) -> String {
    letters(wide.l0.len() as u64, wide.size as usize)
}

async fn one(wide: Snap<Wide>) -> WideUpdate {
    Wide::update().l1(wide.l0.iter().cloned()).p2(text(&wide))
}

async fn two(wide: Snap<Wide>) -> WideUpdate {
    Wide::update().p1(wide.l1.last().cloned()).k0(wide.l1.last().cloned())
}

async fn three(wide: Snap<Wide>) -> WideUpdate {
    Wide::update().o0(wide.p1.iter().cloned().collect::<Vec<_>>())
}

async fn four(wide: Snap<Wide>) -> WideUpdate {
    Wide::update().l2(wide.l1.iter().cloned()).l3(wide.l1.iter().cloned()).o1(wide.l1.clone())
}

async fn five(wide: Snap<Wide>) -> WideUpdate {
    let last = wide.l2.last().cloned();
    let maps = last.clone().unwrap_or_default();
    let update = Wide::update().k1(last.clone()).k2(last).k3(Some(text(&wide))).p0(text(&wide));
    update.m0(maps.clone()).m1(maps)
}

async fn six(wide: Snap<Wide>) -> WideUpdate {
    Wide::update().l0(wide.l3.iter().cloned())
}

#[derive(Route)]
enum Again {
    One,
    #[route(end)]
    End,
}

fn payload(outer: usize, inner: usize) -> Payload {
    let leaf: Vec<Value> = (0..5)
        .flat_map(|_| [json!("abc".repeat(10)), json!(false), json!(7), json!(1_234_567_890_123_u64), json!(null)])
        .collect();
    let inside: serde_json::Map<_, _> = (0..inner).map(|y| (format!("{y:010}"), json!(leaf))).collect();
    Arc::new((0..outer).map(|x| (format!("{x:010}"), Arc::new(Value::Object(inside.clone())))).collect())
}

pub(crate) fn wide(here: &Here, asked: &Asked) -> Times {
    let graph = Graph::builder("wide")
        .node("one", one)
        .node("two", two)
        .node("three", three)
        .node("four", four)
        .node("five", five)
        .node("six", six)
        .edge(START, "one")
        .edge("one", "two")
        .edge("two", "three")
        .edge("two", "four")
        .join(["three", "four"], "five")
        .edge("five", "six")
        .route("six", |wide: &Wide| if wide.l0.len() as u64 <= wide.size { Again::One } else { Again::End })
        .compile()
        .expect("compiles");
    let runner = graph.runner().timings(false);
    let first = match asked.n {
        300 => payload(5, 5),
        600 => payload(3, 5),
        _ => payload(3, 3),
    };
    asked.times(1, || {
        let input = Wide::update().size(asked.n).l0([first.clone()]);
        let end = here.run(async { runner.thread("t").run(input).await }).expect("ends");
        assert!(end.state.l0.len() as u64 > asked.n && end.state.p2.len() as u64 == asked.n);
        assert_eq!(end.state.m0.len(), first.len());
    })
}
