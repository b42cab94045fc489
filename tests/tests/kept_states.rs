//! A runner keeps states that it has read: whatever happens to a thread, each turn begins, ends and is stored as if everything
//! were read each time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use graph_engine::{
    CheckpointStore, Ctx, Edit, Filter, Graph, Ids, Keep, KeptStates, Log, MemoryStore, NodeError, Place, Runner,
    START, Seams, Snap, State, Thread, TurnEnd, TurnError,
};
use graph_engine_sealed::{Key, KeyRing, Sealed};
use graph_engine_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};

/// Something that was said, and what only the process that said it knows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Said {
    text: String,
    #[serde(skip)]
    live: u64,
}

#[derive(State, Clone, Debug, Default)]
struct Talk {
    n: u64,
    #[state(append)]
    log: Log<Said>,
    #[state(append)]
    list: Vec<String>,
    #[state(append)]
    words: BTreeMap<String, u64>,
    #[state(append)]
    text: String,
    #[state(with = join)]
    path: String,
    #[state(transient)]
    draft: String,
    /// Written in every turn of the newer program, unknown to the older one.
    #[state(append)]
    extra: Vec<u64>,
}

fn join(path: &String, more: String) -> Result<String, String> {
    if more.is_empty() { Err("nothing".to_owned()) } else { Ok(format!("{path}/{more}")) }
}

/// What a node sees goes into what it writes, so that a wrong state is stored.
async fn listen(talk: Snap<Talk>, ctx: Ctx) -> Result<TalkUpdate, NodeError> {
    let n = talk.n;
    let live: u64 = talk.log.iter().map(|said| said.live).sum();
    let seen = format!("{n}: {} {} {} {live} {:?}", talk.log.len(), talk.list.len(), talk.words.len(), talk.draft);
    if n % 7 == 3 {
        return Err(NodeError::fatal("no"));
    }
    let mut update = Talk::update().log([Said { text: format!("said {n}"), live: 1 }]).list([seen]).draft("written");
    if n.is_multiple_of(2) {
        update = update.words([(format!("word {}", n % 9), n)]).text([format!("{n} ")]);
    }
    if n.is_multiple_of(3) {
        update = update.path(n.to_string());
    }
    if n % 11 == 5 {
        update = update.overwrite_list(vec![format!("again from {n}")]).overwrite_path(String::new());
    }
    if n % 5 == 1 {
        let answer: u64 = ctx.interrupt("more?")?;
        update = update.text([format!("<{answer}> ")]);
    }
    Ok(update)
}

/// Ids that a test sets.
#[derive(Clone, Default)]
struct Chosen(Arc<Mutex<String>>);

impl Ids for Chosen {
    fn turn(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

fn graph(schema: u32) -> Graph<Talk> {
    let talk = Graph::<Talk>::builder("talk").node("listen", listen).node("after", after);
    let talk = talk.edge(START, "listen").edge("listen", "after").schema(schema);
    // A later version begins to count anew, and takes a field out for once.
    let talk = talk.migrate(|_, stored| {
        stored.set("text", "migrated");
        stored.remove("path");
        Ok(())
    });
    talk.compile().unwrap()
}

async fn after(talk: Snap<Talk>) -> TalkUpdate {
    let live: u64 = talk.log.iter().map(|said| said.live).sum();
    Talk::update().list([format!("after {live} {:?}", talk.draft)])
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Three programs over the same threads: two of one version, which stand for two processes, and a newer one.
struct World {
    store: Arc<dyn CheckpointStore>,
    runners: Vec<Runner<Talk>>,
    ids: Chosen,
    /// Turns of a thread since it was made: their ids are those of the thread that was deleted before.
    turns: BTreeMap<String, u64>,
}

impl World {
    fn new(stores: [Arc<dyn CheckpointStore>; 2], kept: [KeptStates; 3]) -> Self {
        let ids = Chosen::default();
        let seams = Seams::default().ids(ids.clone()).seed(1);
        let [one, two] = stores;
        let runner = |store: &Arc<dyn CheckpointStore>, schema, kept| {
            let runner = graph(schema).runner().store_arc(store.clone()).seams(seams.clone()).timings(false);
            runner.kept_states(kept).record_path(true)
        };
        let runners = vec![runner(&one, 1, kept[0]), runner(&two, 1, kept[1]), runner(&one, 2, kept[2])];
        Self { store: one, runners, ids, turns: BTreeMap::new() }
    }

    /// Does something and tells what came of it.
    async fn act(&mut self, dice: &mut Dice) -> String {
        let id = ["a", "b", "c"][dice.roll(3)];
        let runner = self.runners[[0, 0, 0, 0, 1, 1, 1, 2][dice.roll(8)]].clone();
        let thread = runner.thread(id);
        let turn = self.turns.entry(id.to_owned()).or_default();
        *turn += 1;
        *self.ids.0.lock().unwrap() = format!("turn-{turn}");
        let n = dice.roll(60) as u64;
        let (about, any) = (dice.roll(40), dice.roll(1_000));
        let history = self.store.list(&Place::thread(id), &Filter::default()).await.unwrap();
        let at = history.get(any % history.len().max(1)).map(|info| thread.at(info.id));
        let input = || {
            let said = Said { text: format!("input {n}"), live: 1_000 };
            Talk::update().n(n).log([said]).draft("input").extra([n])
        };
        let done = match about {
            0..=17 => turn_of(thread.run(input()).await),
            18..=20 => turn_of(thread.resume(n).await),
            21 => turn_of(thread.proceed().await),
            22..=25 => format!("{:?}", thread.abandon().await.map_err(|error| error.to_string())),
            26 | 27 => {
                let edit = Edit::new(Talk::update().list(["edited".to_owned()]).text(["e".to_owned()])).in_place();
                shown(thread.edit_all([edit]).await)
            }
            28 => shown(thread.edit(Talk::update().overwrite_log(Log::new())).as_node("after").await),
            29..=31 => match at {
                Some(at) => turn_of(at.run(input()).await),
                None => String::new(),
            },
            32 => match at {
                Some(at) => format!("{:?}", at.abandon().await.map_err(|error| error.to_string())),
                None => String::new(),
            },
            33 | 34 => format!("{:?}", self.store.prune(&Place::thread(id), Keep::Last(1 + any % 5)).await.unwrap()),
            35 => {
                self.turns.remove(id);
                format!("{:?}", thread.delete().await.map_err(|error| error.to_string()))
            }
            // Behind the runners' backs.
            36 => {
                self.turns.remove(id);
                format!("{:?}", self.store.delete(id).await.unwrap())
            }
            37 => {
                // Another thread comes to stand in its place, with another history of the same ids.
                let other = ["b", "c", "a"][dice.roll(3)];
                let from = self.store.copy(other, "aside").await.is_ok();
                if from {
                    self.store.delete(id).await.unwrap();
                    self.store.copy("aside", id).await.unwrap();
                    self.store.delete("aside").await.unwrap();
                }
                format!("{from}")
            }
            _ => shown(thread.state().await),
        };
        format!("{about} of {id}: {done}")
    }

    /// Where all threads stand, by each program, and all that is stored.
    async fn all(&self) -> String {
        let mut all = String::new();
        for id in ["a", "b", "c"] {
            for runner in &self.runners {
                writeln!(all, "{}", shown(runner.thread(id).state().await)).unwrap();
            }
            let place = Place::thread(id);
            for info in self.store.list(&place, &Filter::default()).await.unwrap() {
                let row = self.store.row(&place, info.id).await.unwrap().unwrap();
                let mut fields: Vec<_> = row.fields.iter().map(|field| (&field.name, row.field_bytes(field))).collect();
                fields.sort();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let fields: Vec<_> =
                    fields.into_iter().map(|(name, bytes)| format!("{name}={}", text(bytes))).collect();
                writeln!(all, "{} {} {fields:?} {}", info.id, row.turn, text(row.position())).unwrap();
            }
        }
        all
    }
}

fn turn_of(ended: Result<TurnEnd<Talk>, TurnError>) -> String {
    match ended {
        Ok(end) => format!("{:?} {:?} {:?}", end.status, *end.state, end.report),
        Err(failed) => format!("{} {:?}", failed.error, failed.report),
    }
}

fn shown(state: Result<graph_engine::ThreadState<Talk>, graph_engine::RunError>) -> String {
    match state {
        Ok(state) => format!(
            "{:?} {:?} {:?} {:?} {:?} {}",
            *state.state, state.checkpoint, state.next, state.finished, state.interrupts, state.step
        ),
        Err(error) => error.to_string(),
    }
}

/// The same in two worlds, of which one keeps nothing.
async fn compare(
    seeds: std::ops::Range<u64>,
    stores: impl Fn() -> ([Arc<dyn CheckpointStore>; 2], Option<tempfile::TempDir>),
) {
    let all = KeptStates::default().at_least(0);
    // The first one keeps two threads of three, so something is always pushed out.
    let kept = [all.threads(2), all, all.bytes(2_000)];
    for seed in seeds {
        let (keeping, _one) = stores();
        let (reading, _two) = stores();
        let (mut keeping, mut reading) = (World::new(keeping, kept), World::new(reading, [KeptStates::none(); 3]));
        for step in 0..60 {
            let mut dice = Dice(seed << 32 | step);
            let mut same = Dice(dice.0);
            let (one, two) = (keeping.act(&mut dice).await, reading.act(&mut same).await);
            assert_eq!(one, two, "seed {seed}, step {step}");
            assert_eq!(keeping.all().await, reading.all().await, "seed {seed}, step {step}, after {one}");
        }
    }
}

#[tokio::test]
async fn whatever_happens_to_threads_in_memory_they_are_as_if_read_each_time() {
    compare(0..60, || {
        let store: Arc<dyn CheckpointStore> = Arc::new(MemoryStore::new());
        ([store.clone(), store], None)
    })
    .await;
}

#[tokio::test]
async fn whatever_happens_to_threads_in_a_file_they_are_as_if_read_each_time() {
    compare(100..112, || {
        let folder = tempfile::tempdir().unwrap();
        let open = || -> Arc<dyn CheckpointStore> {
            let options = graph_engine_sqlite::SqliteOptions::new().synchronous(graph_engine_sqlite::Synchronous::Off);
            Arc::new(options.open(folder.path().join("threads.sqlite")).unwrap())
        };
        ([open(), open()], Some(folder))
    })
    .await;
}

#[tokio::test]
async fn whatever_happens_to_sealed_threads_they_are_as_if_read_each_time() {
    compare(200..206, || {
        let store: Arc<dyn CheckpointStore> =
            Arc::new(Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &[7; 32]))));
        ([store.clone(), store], None)
    })
    .await;
}

/// An item that counts how many of its kind were read.
#[derive(Clone, Serialize)]
struct Counted(u64);

thread_local! {
    static READ: Cell<usize> = const { Cell::new(0) };
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        READ.set(READ.get() + 1);
        u64::deserialize(deserializer).map(Self)
    }
}

#[derive(State, Clone, Default)]
struct Long {
    #[state(append)]
    items: Log<Counted>,
}

/// Reads of items in each of some calls on a thread of a hundred turns.
async fn reads(store: Arc<dyn CheckpointStore>, kept: KeptStates) -> Vec<usize> {
    let graph = Graph::<Long>::builder("long").node("more", || async { Long::update().items([Counted(1)]) });
    let runner = graph.edge(START, "more").compile().unwrap().runner().store_arc(store).kept_states(kept);
    let thread: Thread<Long> = runner.thread("t");
    for _ in 0..100 {
        thread.run(Long::update()).await.unwrap();
    }
    let mut reads = Vec::new();
    let mut counted = || reads.push(READ.take());
    counted();
    thread.run(Long::update()).await.unwrap();
    counted();
    assert_eq!(thread.state().await.unwrap().state.items.len(), 101);
    counted();
    assert_eq!(thread.state().await.unwrap().state.items.len(), 101);
    counted();
    // Somebody else goes on.
    runner.clone().kept_states(KeptStates::none()).thread("t").run(Long::update()).await.unwrap();
    counted();
    assert_eq!(thread.state().await.unwrap().state.items.len(), 102);
    counted();
    runner.clone().thread("u").run(Long::update()).await.unwrap();
    assert_eq!(runner.thread("t").state().await.unwrap().state.items.len(), 102);
    counted();
    reads.remove(0);
    reads
}

#[tokio::test]
async fn a_turn_reads_only_what_was_stored_since_the_last_one() {
    let keep = KeptStates::default().at_least(0);
    for store in [Arc::new(MemoryStore::new()) as Arc<dyn CheckpointStore>, Arc::new(SqliteStore::in_memory().unwrap())]
    {
        // Of 100 items the turn begins with the 99 that the turn before it has read.
        assert_eq!(reads(store, keep).await, [1, 1, 0, 101, 1, 0]);
    }
    assert_eq!(reads(Arc::new(MemoryStore::new()), KeptStates::none()).await, [100, 101, 101, 101, 102, 102]);
    let sealed = Sealed::new(MemoryStore::new(), KeyRing::new(Key::new(1, &[7; 32])));
    assert_eq!(reads(Arc::new(sealed), keep).await, [100, 101, 101, 101, 102, 102], "nothing that was opened stays");
}

#[tokio::test]
async fn only_so_many_threads_and_bytes_are_kept_and_no_small_ones() {
    let keep = KeptStates::default().at_least(0);
    // Each of two threads in turn: what the second turn of each reads.
    let read = async |kept: KeptStates| {
        let graph = Graph::<Long>::builder("long").node("more", || async { Long::update().items([Counted(1)]) });
        let graph = graph.edge(START, "more").compile().unwrap();
        let runner = graph.runner().store(MemoryStore::new()).kept_states(kept);
        let mut read = 0;
        for turn in 0..4 {
            for id in ["a", "b"] {
                let before = READ.get();
                runner.thread(id).run(Long::update()).await.unwrap();
                if turn == 3 {
                    read += READ.get() - before;
                }
            }
        }
        read
    };
    // Three items each; with two threads kept, one each.
    assert_eq!([read(keep).await, read(keep.threads(1)).await, read(keep.threads(2)).await], [2, 6, 2]);
    // Two items are 6 bytes, three are 9.
    assert_eq!([read(keep.bytes(24)).await, read(keep.bytes(11)).await, read(keep.at_least(13)).await], [2, 6, 6]);
}
