//! E4, E5 and E20: whatever tasks write, in loops, with stays, failures, refusals and conflicts, every checkpoint reads
//! back as the state that was in memory when it was made.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use behaviour_tests::TestStore;
use futures_util::StreamExt;
use graph_engine::{
    CheckpointId, CheckpointStore, Command, Ctx, Encoding, EventKind, Filter, Graph, Log, Mode, NodeError, Place,
    Route, RunError, START, Snap, State, StreamOptions, Thread, Turn,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Every kind of merge over every kind of collection.
#[derive(State, Clone, Debug, Default, PartialEq)]
struct All {
    one: Option<String>,
    #[state(any)]
    any: i64,
    #[state(append)]
    log: Log<String>,
    #[state(append)]
    list: Vec<i64>,
    #[state(append)]
    text: String,
    #[state(append)]
    map: BTreeMap<String, i64>,
    #[state(append)]
    hashed: HashMap<u8, i64>,
    #[state(append)]
    set: BTreeSet<i64>,
    #[state(append)]
    queue: VecDeque<i64>,
    #[state(with = sum)]
    total: i64,
    #[state(with = edit, item = Edit)]
    history: Log<String>,
    #[state(with = sum, transient)]
    passing: i64,
    /// Super-steps of this turn.
    at: usize,
}

fn sum(total: &i64, item: i64) -> Result<i64, &'static str> {
    if item == REFUSED { Err("refused") } else { Ok(total.wrapping_add(item)) }
}

/// What `sum` doesn't take.
const REFUSED: i64 = -999;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Edit {
    Push(String),
    RemoveFirst,
    Clear,
}

fn edit(history: &Log<String>, item: Edit) -> Result<Log<String>, std::convert::Infallible> {
    let mut history = history.clone();
    match item {
        Edit::Push(text) => history.push(text),
        Edit::RemoveFirst => history = history.iter().skip(1).cloned().collect(),
        Edit::Clear => history = Log::new(),
    }
    Ok(history)
}

#[derive(Clone, Debug)]
enum Op {
    One(String),
    Any(i64),
    Log(Vec<String>),
    List(Vec<i64>),
    Text(String),
    Map(String, i64),
    Hashed(u8, i64),
    Set(i64),
    Queue(i64),
    Total(i64),
    History(Edit),
    Passing(i64),
    Refused,
    OverwriteList(Vec<i64>),
    OverwriteMap(Vec<(String, i64)>),
    OverwriteTotal(i64),
    OverwriteHistory(Vec<String>),
    OverwriteLog(Vec<String>),
    OverwriteText(String),
}

impl Op {
    /// Whether it may keep a super-step from being merged.
    fn hinders(&self) -> bool {
        use Op::{OverwriteHistory, OverwriteList, OverwriteLog, OverwriteMap, OverwriteText, OverwriteTotal};
        let overwrites = matches!(
            self,
            OverwriteList(_)
                | OverwriteMap(_)
                | OverwriteTotal(_)
                | OverwriteHistory(_)
                | OverwriteLog(_)
                | OverwriteText(_)
        );
        overwrites || matches!(self, Self::One(_) | Self::Refused)
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\é{}]{0,12}"
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => text().prop_map(Op::One),
        1 => any::<i64>().prop_map(Op::Any),
        2 => vec(text(), 0..3).prop_map(Op::Log),
        2 => vec(any::<i64>(), 0..3).prop_map(Op::List),
        2 => text().prop_map(Op::Text),
        3 => (text(), any::<i64>()).prop_map(|(key, value)| Op::Map(key, value)),
        3 => (any::<u8>(), any::<i64>()).prop_map(|(key, value)| Op::Hashed(key, value)),
        3 => (0..99_i64).prop_map(Op::Set),
        3 => any::<i64>().prop_map(Op::Queue),
        3 => (0..99_i64).prop_map(Op::Total),
        4 => text().prop_map(|text| Op::History(Edit::Push(text))),
        1 => Just(Op::History(Edit::RemoveFirst)),
        1 => Just(Op::History(Edit::Clear)),
        1 => any::<i64>().prop_map(Op::Passing),
        1 => Just(Op::Refused),
        1 => vec(any::<i64>(), 0..3).prop_map(Op::OverwriteList),
        1 => vec((text(), any::<i64>()), 0..4).prop_map(Op::OverwriteMap),
        1 => any::<i64>().prop_map(Op::OverwriteTotal),
        1 => vec(text(), 0..6).prop_map(Op::OverwriteHistory),
        1 => vec(text(), 0..3).prop_map(Op::OverwriteLog),
        1 => text().prop_map(Op::OverwriteText),
    ]
}

fn update(ops: &[Op]) -> AllUpdate {
    ops.iter().cloned().fold(All::update(), |update, op| match op {
        Op::One(text) => update.one(text),
        Op::Any(n) => update.any(n),
        Op::Log(items) => update.log(items),
        Op::List(items) => update.list(items),
        Op::Text(text) => update.text([text]),
        Op::Map(key, value) => update.map([(key, value)]),
        Op::Hashed(key, value) => update.hashed([(key, value)]),
        Op::Set(item) => update.set([item]),
        Op::Queue(item) => update.queue([item]),
        Op::Total(item) => update.total(item),
        Op::History(item) => update.history(item),
        Op::Passing(item) => update.passing(item),
        Op::Refused => update.total(REFUSED),
        Op::OverwriteList(items) => update.overwrite_list(items),
        Op::OverwriteMap(items) => update.overwrite_map(items.into_iter().collect()),
        Op::OverwriteTotal(item) => update.overwrite_total(item),
        Op::OverwriteHistory(items) => update.overwrite_history(items.into_iter().collect()),
        Op::OverwriteLog(items) => update.overwrite_log(items.into_iter().collect()),
        Op::OverwriteText(text) => update.overwrite_text(text),
    })
}

/// What the three nodes do in one super-step; what hinders it is left out when they run again.
#[derive(Clone, Debug)]
struct Step {
    ops: [Vec<Op>; 3],
    fails: Option<usize>,
    /// Only the first node runs next.
    stays: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let ops = || vec(op(), 0..5);
    let fails = prop_oneof![5 => Just(None), 1 => (0..3_usize).prop_map(Some)];
    ([ops(), ops(), ops()], fails, proptest::bool::weighted(0.2)).prop_map(|(ops, fails, stays)| Step {
        ops,
        fails,
        stays,
    })
}

#[derive(Clone, Debug)]
struct Round {
    input: Vec<Op>,
    steps: Vec<Step>,
    abandons: bool,
}

fn round() -> impl Strategy<Value = Round> {
    (vec(op(), 0..4), vec(step(), 1..6), proptest::bool::weighted(0.2)).prop_map(|(input, steps, abandons)| Round {
        input,
        steps,
        abandons,
    })
}

/// The round that runs, and which nodes ran at which of its steps already.
#[derive(Default)]
struct Script {
    steps: Vec<Step>,
    ran: HashSet<(usize, usize)>,
}

type Shared = Arc<Mutex<Script>>;

#[derive(Route)]
#[route(stay)]
enum Go {
    A,
    B,
    C,
}

/// What a node does at this step of the round.
fn act(script: &Shared, node: usize, all: &All) -> Result<(AllUpdate, Step, bool), NodeError> {
    let mut script = script.lock().unwrap();
    let Some(step) = script.steps.get(all.at).cloned() else { return Err(NodeError::fatal("past the end")) };
    let (first, more) = (script.ran.insert((all.at, node)), all.at + 1 < script.steps.len());
    if first && step.fails == Some(node) {
        return Err(NodeError::fatal("not yet"));
    }
    let ops: Vec<Op> = step.ops[node].iter().filter(|op| first || !op.hinders()).cloned().collect();
    Ok((update(&ops), step, more))
}

fn graph(script: &Shared) -> Graph<All> {
    let shared = script.clone();
    let a = move |all: Snap<All>, _: Ctx| {
        let (shared, all) = (shared.clone(), all);
        async move {
            let (update, step, more) = act(&shared, 0, &all)?;
            let update = update.at(all.at + 1);
            let command = match (more, step.stays) {
                (true, true) => Command::stay("again"),
                (true, false) => Command::go_all([Go::A, Go::B, Go::C]),
                (false, _) => Command::declared(),
            };
            Ok::<Command<All, Go>, NodeError>(command.with(update))
        }
    };
    let other = |node: usize| {
        let shared = script.clone();
        move |all: Snap<All>| {
            let shared = shared.clone();
            async move { act(&shared, node, &all).map(|(update, ..)| update) }
        }
    };
    Graph::<All>::builder("all")
        .node("a", a)
        .node("b", other(1))
        .node("c", other(2))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .compile()
        .unwrap()
}

/// Runs a turn and notes the state at each of its checkpoints.
async fn drive(mut turn: Turn<All>, seen: &mut BTreeMap<CheckpointId, All>, now: &mut All) -> Result<All, RunError> {
    let modes = [Mode::Nodes, Mode::State, Mode::Checkpoints];
    let events = turn.reader(StreamOptions::default().modes(modes));
    let reading = events.fold((seen, now), |(seen, now), event| {
        match event.kind {
            EventKind::InputMerged { state: Some(state), .. } | EventKind::StepFinished { state: Some(state), .. } => {
                *now = (*state).clone();
            }
            EventKind::Checkpoint { id } => {
                seen.insert(id, now.clone());
            }
            _ => {}
        }
        std::future::ready((seen, now))
    });
    let turn = async { turn.await.map(|end| (*end.state).clone()).map_err(|failed| *failed.error) };
    tokio::join!(turn, reading).0
}

/// What is stored of a state.
fn lasting(state: &All) -> All {
    let mut state = state.clone();
    state.reset_transient();
    state
}

async fn check(thread: &Thread<All>, seen: &BTreeMap<CheckpointId, All>) {
    let history = thread.history(&Filter::default()).await.unwrap();
    assert_eq!(history.len(), seen.len());
    for info in history {
        let read = thread.state_at(Some(info.id)).await.unwrap();
        assert_eq!(*read.state, lasting(&seen[&info.id]), "checkpoint {} of step {}", info.id, info.step);
    }
}

async fn play(rounds: Vec<Round>) -> TestStore {
    let (store, script) = (TestStore::lasting(), Shared::default());
    let thread = graph(&script).runner().store(store.clone()).stay_limit(100).thread("t");
    let (mut seen, mut now) = (BTreeMap::new(), All::default());
    for round in rounds {
        *script.lock().unwrap() = Script { steps: round.steps, ran: HashSet::new() };
        let before = now.clone();
        let input = update(&round.input).at(0);
        let mut ended = drive(thread.run(input), &mut seen, &mut now).await;
        if matches!(ended, Err(RunError::Input { .. })) {
            now = before;
            continue;
        }
        let mut abandoned = false;
        for proceeded in 0..20 {
            let Err(error) = &ended else { break };
            // A super-step that was refused left no trace in the state.
            let failed = RunError::kind(error);
            assert!(["step", "merge", "write_conflict"].contains(&failed), "{error}");
            now = (*thread.state().await.unwrap().state).clone();
            // A result that was saved before its item was refused is refused for good.
            if round.abandons || proceeded == 10 {
                abandoned = true;
                drive_abandon(&thread, &mut seen, &now).await;
                break;
            }
            ended = drive(thread.proceed(), &mut seen, &mut now).await;
        }
        let head = thread.state().await.unwrap().state;
        assert_eq!(*head, lasting(&now));
        if !abandoned {
            assert_eq!(lasting(&ended.unwrap()), *head);
        }
    }
    check(&thread, &seen).await;
    store
}

/// Abandoning makes a checkpoint that no reader is told of.
async fn drive_abandon(thread: &Thread<All>, seen: &mut BTreeMap<CheckpointId, All>, now: &All) {
    thread.abandon().await.unwrap();
    seen.insert(thread.state().await.unwrap().checkpoint.unwrap(), now.clone());
}

/// A first input after which there is room for writes beside the bases.
fn first() -> Round {
    let texts = || (0..30).map(|n| format!("an entry {n}")).collect::<Vec<_>>();
    let map = texts().into_iter().zip(0..).collect();
    let mut input = vec![Op::OverwriteHistory(texts()), Op::OverwriteMap(map)];
    input.extend((0..60).flat_map(|n| [Op::Set(1_000 + n), Op::Queue(n), Op::Hashed(n as u8, n)]));
    let step = Step { ops: [Vec::new(), Vec::new(), Vec::new()], fails: None, stays: false };
    Round { input, steps: vec![step], abandons: false }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn every_checkpoint_reads_back_as_the_state_of_its_time(rounds in vec(round(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(play(std::iter::once(first()).chain(rounds).collect()));
    }
}

#[tokio::test]
async fn the_random_rounds_do_store_writes_of_every_such_field() {
    let ops =
        || vec![Op::Map("k".into(), 1), Op::Hashed(1, 1), Op::Set(1), Op::Queue(1), Op::History(Edit::RemoveFirst)];
    let step = Step { ops: [ops(), ops(), ops()], fails: Some(1), stays: true };
    let round = Round { input: ops(), steps: vec![step; 2], abandons: false };
    let store = play(vec![first(), round]).await;
    let stored = store.load(&Place::thread("t"), None).await.unwrap().unwrap();
    let writes = stored.fields.iter().filter(|segment| segment.encoding == Encoding::Writes);
    let fields: BTreeSet<&str> = writes.map(|segment| segment.name).collect();
    assert_eq!(fields, BTreeSet::from(["map", "hashed", "set", "queue", "history"]));
}
