//! A state, a payload, nodes and a store with hooks: each place where an engine calls its user panics when it is armed.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use behaviour_tests::{Runs, TestStore};
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointStore, Commit, Filter, FromTask, Graph, In, Keep, Name, Next, NodeError,
    NodeExt, NodeInfo, Place, Retry, Route, START, SavedResult, Segment, Snap, State, StoreError, Stored, Task,
    ThreadFilter, ThreadInfo, async_trait,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

thread_local! {
    static ARMED: Cell<(&str, usize)> = const { Cell::new(("", 0)) };
}

/// Makes the call of this hook behind so many other ones panic, once.
pub(crate) fn arm(hook: &'static str, behind: usize) {
    ARMED.set((hook, behind));
}

/// Nothing panics any more. Says whether what was armed went off.
pub(crate) fn disarm() -> bool {
    ARMED.replace(("", 0)).0.is_empty()
}

fn is_armed(hook: &str) -> bool {
    ARMED.get().0 == hook
}

fn hook(name: &'static str) {
    match ARMED.get() {
        (armed, 0) if armed == name => {
            ARMED.set(("", 0));
            panic!("{name} went off");
        }
        (armed, behind) if armed == name => ARMED.set((name, behind - 1)),
        _ => {}
    }
}

/// A text whose serde panics when armed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Loud(pub(crate) String);

impl Serialize for Loud {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hook("the Serialize of a field");
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Loud {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hook("the Deserialize of a field");
        String::deserialize(deserializer).map(Self)
    }
}

/// A payload whose serde panics when armed.
pub(crate) struct Parcel(u32);

impl Serialize for Parcel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hook("the Serialize of a payload");
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Parcel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hook("the Deserialize of a payload");
        u32::deserialize(deserializer).map(Self)
    }
}

/// Its default panics when armed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fresh(u8);

impl Default for Fresh {
    fn default() -> Self {
        hook("the Default of a transient field");
        Self(0)
    }
}

#[derive(State, Debug, Default, PartialEq)]
pub(crate) struct Hooked {
    #[state(any)]
    pub(crate) note: Loud,
    #[state(append)]
    pub(crate) log: Vec<String>,
    #[state(with = add)]
    pub(crate) total: u64,
    #[state(transient)]
    pub(crate) fresh: Fresh,
}

impl Clone for Hooked {
    fn clone(&self) -> Self {
        hook("the Clone of the state");
        Self { note: self.note.clone(), log: self.log.clone(), total: self.total, fresh: self.fresh.clone() }
    }
}

fn add(total: &u64, item: u64) -> Result<u64, std::convert::Infallible> {
    hook("a reducer");
    Ok(total + item)
}

struct Extracted;

impl FromTask<Hooked> for Extracted {
    fn describe(_: &mut NodeInfo) {}

    fn from_task(_: &Task<Hooked>) -> Result<Self, NodeError> {
        hook("an extractor");
        Ok(Self)
    }
}

/// An error whose text panics when armed.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hook("the Display of an error");
        f.write_str("unspeakable")
    }
}

impl std::error::Error for Unspeakable {}

/// A reply or an event whose Serialize panics when armed.
struct Said(&'static str);

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hook(self.0);
        self.0.serialize(serializer)
    }
}

#[derive(Route)]
enum To {
    Open(Parcel),
}

#[derive(Route)]
#[route(direct)]
enum Reply {}

async fn work(_: Extracted, ctx: graph_engine::Ctx) -> Result<HookedUpdate, NodeError> {
    tokio::time::sleep(Duration::from_millis(5)).await;
    hook("a node");
    ctx.emit(Said("the Serialize of an event")).await?;
    if is_armed("the Display of an error") {
        return Err(Unspeakable.into());
    }
    if is_armed("a retry predicate") {
        return Err("ask the predicate".into());
    }
    Ok(Hooked::update().note(Loud("worked".into())).log(["work".to_owned()]).total(1))
}

async fn open(In(parcel): In<Parcel>, state: Snap<Hooked>) -> Next<Reply> {
    assert_eq!(parcel.0, 7);
    drop(state);
    Next::direct(Said("the Serialize of a reply"))
}

/// `work`, whose router sends a parcel to `open`; beside it a slow `sibling`, if there shall be one.
pub(crate) fn graph(runs: &Runs, sibling: bool) -> Graph<Hooked> {
    let predicate = |_: &NodeError| {
        hook("a retry predicate");
        false
    };
    let retry = Retry::fixed(2, Duration::from_millis(1)).when(predicate);
    let graph = Graph::<Hooked>::builder("hooked")
        .node("work", work.retry(retry))
        .node("open", open)
        .edge(START, "work")
        .route("work", |_: &Hooked| {
            hook("a router");
            To::Open(Parcel(7))
        });
    if !sibling {
        return graph.compile().unwrap();
    }
    let runs = runs.clone();
    let beside = move || {
        runs.hit("sibling");
        async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Hooked::update().log(["sibling".to_owned()])
        }
    };
    graph.node("sibling", beside).edge(START, "sibling").compile().unwrap()
}

/// A store whose methods panic when armed. It says that it outlives the process, so that single results are saved.
#[derive(Clone, Debug)]
pub(crate) struct HookedStore(pub(crate) TestStore);

#[async_trait]
impl CheckpointStore for HookedStore {
    fn outlives_process(&self) -> bool {
        self.0.outlives_process()
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        hook("`commit` of a store");
        self.0.commit(place, commit).await
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        hook("`save` of a store");
        self.0.save(place, head, results).await
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        hook("`load` of a store");
        self.0.load(place, at).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.0.field(place, at, field, range).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        hook("`list` of a store");
        self.0.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.0.prune(place, keep).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.0.row(place, id).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.0.namespaces(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.0.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.0.clear(place).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.0.copy(from, to).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        hook("`delete` of a store");
        self.0.delete(thread).await
    }
}
