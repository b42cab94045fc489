//! Stored rows that somebody or something has changed: a checkpoint is read, or refused with its thread and id. Never a
//! panic, and checkpoints that nobody touched stay readable.

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::TestStore;
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Command, Commit, Ctx, DynState, Encoding, Filter, Graph, In, Keep,
    Log, Name, NodeError, NodeExt, Place, Route, RunError, START, SavedResult, Schema, SchemaField, Segment, State,
    StoreError, Stored, TaskId, ThreadFilter, ThreadInfo, async_trait,
};
use serde_json::{Value, json};

/// A store whose head is what the test says; older checkpoints are as they were.
#[derive(Clone)]
struct Given {
    real: TestStore,
    head: Arc<Mutex<Option<Stored>>>,
}

#[async_trait]
impl CheckpointStore for Given {
    fn outlives_process(&self) -> bool {
        true
    }
    /// What a turn on a changed head stores is nobody's.
    async fn commit(&self, _: &Place, _: &Commit) -> Result<(), StoreError> {
        Ok(())
    }
    async fn save(&self, _: &Place, _: CheckpointId, _: &[SavedResult]) -> Result<(), StoreError> {
        Ok(())
    }
    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        match at {
            None => Ok(self.head.lock().unwrap().clone()),
            Some(_) => self.real.load(place, at).await,
        }
    }
    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.real.field(place, at, field, range).await
    }
    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.real.row(place, id).await
    }
    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.real.list(place, filter).await
    }
    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.real.prune(place, keep).await
    }
    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.real.namespaces(thread).await
    }
    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.real.threads(filter).await
    }
    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.real.clear(place).await
    }
    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.real.copy(from, to).await
    }
    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.real.delete(thread).await
    }
}

#[derive(State, Clone, Debug, Default)]
struct Hotel {
    city: Option<String>,
    nights: u8,
    price: f64,
    #[state(append)]
    log: Log<String>,
    #[state(append)]
    notes: Vec<String>,
    #[state(append)]
    text: String,
    #[state(append)]
    rooms: BTreeMap<String, u32>,
    #[state(with = join)]
    path: String,
    any: Value,
}

fn join(path: &String, more: String) -> Result<String, &'static str> {
    if more.contains('!') { Err("no shouting") } else { Ok(format!("{path}/{more}")) }
}

fn input(n: u32) -> HotelUpdate {
    let update = Hotel::update().city("Oslo").nights(n as u8).price(1.5).log([format!("entry {n}")]);
    let update = update.notes(["a \"note\""]).text(["é"]).rooms([(format!("room {n}"), n)]).path(n.to_string());
    let update = if n > 0 { update } else { update.overwrite_path("x".repeat(200)) };
    update.any(json!({ "deep": [[1, null], { "a": 1.25e-7 }] }))
}

#[derive(Route)]
#[route(stay, direct)]
enum Go {
    Each(u32),
    Late,
}

/// Everything that a position can hold: sends with payloads and timeouts, stays with feedback, a join that waits, a
/// deferred node, replies, results of finished tasks.
fn busy() -> Graph<Hotel> {
    Graph::<Hotel>::builder("busy")
        .node("fans", || ready(Command::fan_out([Go::Each(1), Go::Each(2)]).with(input(1))))
        .node("goes", || ready(Command::<Hotel, Go>::go(Go::Late).with(input(2))))
        .node("replies", || ready(Command::<Hotel, Go>::direct(json!({ "reply": [1, null] }))))
        .node("stays", |ctx: Ctx| match ctx.feedback::<String>() {
            Ok(None) => ready(Command::<Hotel, Go>::stay("more")),
            _ => ready(Command::declared()),
        })
        .node("each", |In(n): In<u32>| ready(if *n == 2 { Err(NodeError::fatal("two")) } else { Ok(input(*n)) }))
        .node("timed", || ready(Command::<Hotel, Go>::fan_out_within(Duration::from_secs(9), [Go::Each(3)])))
        .node("late", (|| ready(())).deferred())
        .node("joined", || ready(()))
        .edge(START, "fans")
        .edge(START, "goes")
        .edge(START, "replies")
        .edge(START, "stays")
        .edge(START, "timed")
        .join(["each", "stays"], "joined")
        .compile()
        .unwrap()
}

/// A state that is described at run time.
fn described() -> (Graph<DynState>, DynState) {
    let keep = |value: &Value, item: Value| -> Result<Value, String> {
        let mut list = value.as_array().cloned().ok_or("no list")?;
        list.push(item);
        Ok(list.into())
    };
    let schema = Schema::new([
        SchemaField::new("any"),
        SchemaField::new("list").append(),
        SchemaField::new("kept").reduced("keep", keep).default_value(json!([])),
    ]);
    let state = DynState::new(schema.unwrap());
    let graph = Graph::starting_from("dyn", state.clone()).node("n", || ready(())).edge(START, "n").compile().unwrap();
    (graph, state)
}

/// A number that follows from the last one.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.roll(items.len())]
    }
}

/// What stands where a value may stand.
fn strange(dice: &mut Dice) -> Vec<u8> {
    let texts = [
        "null",
        "-1",
        "256",
        "18446744073709551615",
        "18446744073709551616",
        "1e999",
        "-0.0",
        "NaN",
        "{}",
        "[]",
        "\"\"",
        "true",
        "[null]",
        "{\"overwrite\":true}",
        "\"\\ud800\"",
        "9007199254740993",
        "1e-400",
        "{\"a\":1,\"a\":2}",
    ];
    match dice.roll(24) {
        0 => nested("[", "]"),
        1 => nested("{\"a\":", "}"),
        2 if dice.roll(20) == 0 => format!("\"{}\"", "x".repeat(200_000)).into_bytes(),
        3 => "9".repeat(400).into_bytes(),
        _ => dice.pick(&texts).as_bytes().to_vec(),
    }
}

fn nested(open: &str, close: &str) -> Vec<u8> {
    format!("{}1{}", open.repeat(10_000), close.repeat(10_000)).into_bytes()
}

/// Changes bytes anyhow.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    if bytes.is_empty() {
        bytes.push(b'{');
    }
    let at = dice.roll(bytes.len());
    match dice.roll(7) {
        0 | 1 => bytes[at] ^= 1 << dice.roll(8),
        2 => bytes.truncate(at),
        3 => *bytes = strange(dice),
        // A number, a name or a member becomes something else.
        4 | 5 => {
            let starts: Vec<usize> =
                (1..bytes.len()).filter(|at| matches!(bytes[at - 1], b':' | b',' | b'[')).collect();
            let Some(start) = starts.get(dice.roll(starts.len())).copied() else { return };
            let ends = [b',', b'}', b']'];
            let end = (start..bytes.len()).find(|at| ends.contains(&bytes[*at])).unwrap_or(bytes.len());
            bytes.splice(start..end, strange(dice));
        }
        _ => {
            // A member twice.
            let twice: &[&str] =
                &["{\"version\":1,", "{\"version\":2,", "{\"step\":0,", "{\"node\":\"each\",", "{\"items\":[],"];
            let members: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'{').collect();
            if let Some(at) = members.get(dice.roll(members.len())).copied() {
                bytes.splice(at..=at, dice.pick(twice).bytes());
            }
        }
    }
}

fn change(stored: &mut Stored, dice: &mut Dice) {
    let fields = stored.fields.len();
    if fields < 2 {
        return spoil(&mut stored.position, dice);
    }
    let (one, other) = (dice.roll(fields), dice.roll(fields));
    let mut all: Vec<Segment> = std::mem::take(&mut stored.fields).into_iter().collect();
    change_one(stored, &mut all, (one, other), dice);
    stored.fields = all.into();
}

fn change_one(stored: &mut Stored, fields: &mut Vec<Segment>, (one, other): (usize, usize), dice: &mut Dice) {
    let saved = stored.saved.len();
    match dice.roll(16) {
        0..=3 => spoil(&mut stored.position, dice),
        4..=6 => spoil(&mut fields[one].bytes, dice),
        7 => {
            let bytes = std::mem::take(&mut fields[one].bytes);
            fields[one].bytes = std::mem::replace(&mut fields[other].bytes, bytes);
        }
        8 => fields.swap(one, other),
        9 => drop(fields.remove(one)),
        10 => {
            let again = fields[one].clone();
            fields.insert(other, again);
        }
        11 => {
            let all = [Encoding::Base, Encoding::Delta, Encoding::Writes, Encoding::Removed];
            fields[one].encoding = *dice.pick(&all);
        }
        12 => {
            let wild = [0, 1, 7, u64::MAX - 1, u64::MAX];
            fields[one].items = *dice.pick(&wild)..*dice.pick(&wild);
        }
        13 => fields[one].name = fields[other].name.clone(),
        14 => {
            let task = TaskId { step: stored.info.step, rank: *dice.pick(&[0, 1, 7, u32::MAX]) };
            let bytes = if saved > 0 { stored.saved[dice.roll(saved)].bytes.clone() } else { strange(dice) };
            stored.saved.push(SavedResult::new(task, *dice.pick(&["", "", "memo"]), bytes));
        }
        _ if saved > 0 => {
            let at = dice.roll(saved);
            spoil(&mut stored.saved[at].bytes, dice);
        }
        _ => spoil(&mut stored.position, dice),
    }
}

/// Every checkpoint of a thread, as it was.
async fn all(store: &TestStore) -> Vec<Stored> {
    let place = Place::thread("t");
    let mut found = Vec::new();
    for info in store.list(&place, &Filter::default()).await.unwrap() {
        found.push(store.load(&place, Some(info.id)).await.unwrap().unwrap());
    }
    assert!(!found.is_empty());
    found
}

#[derive(Default, Debug)]
struct Tally {
    read: usize,
    refused: usize,
}

/// Reads so many changed checkpoints. Some of those that could be read are run.
async fn hammer<S: State>(graph: Graph<S>, store: TestStore, mutations: usize, seed: u64) -> Tally {
    let originals = all(&store).await;
    let given = Given { real: store, head: Arc::default() };
    let thread = graph.runner().store(given.clone()).step_limit(4).thread("t");
    let (mut dice, mut tally) = (Dice(seed), Tally::default());
    for nth in 0..mutations {
        let mut stored = dice.pick(&originals).clone();
        for _ in 0..=dice.roll(3) {
            change(&mut stored, &mut dice);
        }
        let id = stored.info.id;
        let shown = |stored: &Stored| {
            let bytes = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(3000)]).into_owned();
            let fields = stored.fields.iter().map(|segment| {
                let text = bytes(segment.bytes);
                (segment, text)
            });
            format!("{} {:?} {:?}", bytes(&stored.position), fields.collect::<Vec<_>>(), stored.saved)
        };
        *given.head.lock().unwrap() = Some(stored.clone());
        match thread.state().await {
            Ok(_) => {
                tally.read += 1;
                if nth % 8 == 0 {
                    let ended = thread.proceed().await.map_err(|failed| *failed.error);
                    let broken = matches!(&ended, Err(RunError::Panicked { .. } | RunError::Internal { .. }));
                    assert!(!broken, "mutation {nth}: {}\n{}", ended.unwrap_err(), shown(&stored));
                }
            }
            Err(RunError::Restore { thread, checkpoint, why }) => {
                tally.refused += 1;
                assert!(thread == "t" && checkpoint == id && !why.is_empty(), "mutation {nth}: {why}");
            }
            Err(error) => panic!("mutation {nth}: {error}\n{}", shown(&stored)),
        }
        if nth % 500 == 0 {
            for original in &originals {
                thread.state_at(Some(original.info.id)).await.unwrap();
            }
        }
    }
    tally
}

fn run(test: impl Future<Output = Tally>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let tally = runtime.block_on(test);
    // Both happen often, or the changes are none.
    assert!(tally.read * 20 > tally.refused && tally.refused * 20 > tally.read, "{tally:?}");
}

/// Four times so many changed checkpoints are read.
const EACH: usize = 25_000;

/// Another number gives other changes.
const SEED: u64 = 100;

async fn halfway() -> TestStore {
    let store = TestStore::lasting();
    let thread = busy().runner().store(store.clone()).thread("t");
    thread.run(input(0)).await.map(drop).unwrap_err();
    store
}

#[test]
fn changed_rows_of_fields_are_read_or_refused() {
    run(async {
        let store = TestStore::lasting();
        let graph = Graph::<Hotel>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
        for n in 0..5 {
            graph.runner().store(store.clone()).thread("t").run(input(n)).await.map(drop).unwrap();
        }
        hammer(graph, store, EACH, SEED + 1).await
    });
}

#[test]
fn changed_rows_of_an_unfinished_step_are_read_or_refused() {
    run(async { hammer(busy(), halfway().await, EACH, SEED + 2).await });
}

#[test]
fn changed_rows_of_an_unfinished_step_are_read_or_refused_with_another_seed() {
    run(async { hammer(busy(), halfway().await, EACH, SEED + 3).await });
}

#[test]
fn changed_rows_of_a_state_that_is_described_at_run_time_are_read_or_refused() {
    run(async {
        let (graph, state) = described();
        let store = TestStore::lasting();
        for n in 0..4 {
            let update = state.update().set("any", json!({ "n": [n] })).unwrap().append("list", [n, n]).unwrap();
            let update = match n {
                0 => update.overwrite("kept", vec![1; 50]).unwrap(),
                _ => update.reduce("kept", json!({ "n": n })).unwrap(),
            };
            graph.runner().store(store.clone()).thread("t").run(update).await.map(drop).unwrap();
        }
        hammer(graph, store, EACH, SEED + 4).await
    });
}
