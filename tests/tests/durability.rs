//! E20: when checkpoints are stored: each super-step, beside the work, or only the end.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::TestStore;
use graph_engine::{
    CheckpointId, CheckpointInfo, CheckpointKind, CheckpointStore, Commit, Ctx, Durability, Filter, Graph, Keep, Name,
    NodeError, Parallel, Place, RunError, Runner, START, SavedResult, Segment, State, Status, StoreError, Stored,
    ThreadFilter, ThreadInfo, async_trait,
};

#[derive(State, Clone, Default)]
struct Trip {
    #[state(append)]
    log: Vec<u32>,
}

/// A store whose commits take a while, or wait for a permit.
#[derive(Clone)]
struct SlowStore {
    inner: TestStore,
    takes: Duration,
    /// More than one commit of a thread was under way at once.
    at_once: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl SlowStore {
    fn new(takes: Duration) -> Self {
        Self { inner: TestStore::lasting(), takes, at_once: Arc::default(), most: Arc::default() }
    }
}

#[async_trait]
impl CheckpointStore for SlowStore {
    fn outlives_process(&self) -> bool {
        true
    }

    async fn commit(&self, place: &Place, commit: &Commit) -> Result<(), StoreError> {
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        let done = self.inner.commit(place, commit).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        done
    }

    async fn save(&self, place: &Place, head: CheckpointId, results: &[SavedResult]) -> Result<(), StoreError> {
        self.inner.save(place, head, results).await
    }

    async fn load(&self, place: &Place, at: Option<CheckpointId>) -> Result<Option<Stored>, StoreError> {
        self.inner.load(place, at).await
    }

    async fn field(
        &self,
        place: &Place,
        at: Option<CheckpointId>,
        field: &str,
        range: Range<u64>,
    ) -> Result<Vec<Segment>, StoreError> {
        self.inner.field(place, at, field, range).await
    }

    async fn row(&self, place: &Place, id: CheckpointId) -> Result<Option<Commit>, StoreError> {
        self.inner.row(place, id).await
    }

    async fn list(&self, place: &Place, filter: &Filter) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.inner.list(place, filter).await
    }

    async fn prune(&self, place: &Place, keep: Keep) -> Result<u64, StoreError> {
        self.inner.prune(place, keep).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<Name>, StoreError> {
        self.inner.namespaces(thread).await
    }

    async fn threads(&self, filter: &ThreadFilter) -> Result<Vec<ThreadInfo>, StoreError> {
        self.inner.threads(filter).await
    }

    async fn clear(&self, place: &Place) -> Result<bool, StoreError> {
        self.inner.clear(place).await
    }

    async fn copy(&self, from: &str, to: &str) -> Result<(), StoreError> {
        self.inner.copy(from, to).await
    }

    async fn delete(&self, thread: &str) -> Result<bool, StoreError> {
        self.inner.delete(thread).await
    }
}

/// `a` goes round until there are so many numbers, each round taking so long; keys of all tasks are noted.
fn counting(rounds: u32, takes: Duration, keys: &Arc<Mutex<Vec<String>>>) -> Graph<Trip> {
    #[derive(graph_engine::Route)]
    enum Again {
        A,
        #[route(end)]
        End,
    }
    let keys = keys.clone();
    let node = move |state: graph_engine::Snap<Trip>, ctx: Ctx| {
        keys.lock().unwrap().push(ctx.idempotency_key());
        let at = u32::try_from(state.log.len()).unwrap();
        drop(state);
        async move {
            if !takes.is_zero() {
                tokio::time::sleep(takes).await;
            }
            Trip::update().log([at])
        }
    };
    let more = move |trip: &Trip| match trip.log.len() < rounds as usize {
        true => graph_engine::Next::go(Again::A),
        false => graph_engine::Next::go(Again::End),
    };
    Graph::<Trip>::builder("trip").node("a", node).edge(START, "a").route("a", more).compile().unwrap()
}

fn runner(graph: Graph<Trip>, store: impl CheckpointStore, durability: Durability) -> Runner<Trip> {
    graph.runner().store(store).durability(durability).step_limit(10_000)
}

async fn kinds(runner: &Runner<Trip>) -> Vec<(CheckpointKind, u64)> {
    let mut all = runner.thread("t").history(&Filter::default()).await.unwrap();
    all.reverse();
    all.iter().map(|info| (info.kind, info.step)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_chain_of_three_stores_its_input_and_each_step_or_only_its_end() {
    use CheckpointKind::{Input, Step};
    let keys = Arc::default();
    for (durability, wanted) in
        [(Durability::Sync, vec![(Input, 0), (Step, 1), (Step, 2), (Step, 3)]), (Durability::Exit, vec![(Step, 3)])]
    {
        let runner = runner(counting(3, Duration::ZERO, &keys), TestStore::lasting(), durability);
        runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(kinds(&runner).await, wanted, "{durability:?}");
        assert_eq!(runner.thread("t").state().await.unwrap().state.log, [0, 1, 2]);
    }
}

#[tokio::test(start_paused = true)]
async fn beside_the_work_steps_that_end_during_a_commit_are_stored_together_one_commit_at_a_time() {
    let store = SlowStore::new(Duration::from_millis(100));
    let runner = runner(counting(50, Duration::from_millis(10), &Arc::default()), store.clone(), Durability::Async);
    let began = tokio::time::Instant::now();
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    // The input, then 50 steps of 10 ms with commits of 100 ms beside them, then the last commits.
    assert_eq!((end.report.steps, end.state.log.len()), (50, 50));
    assert_eq!(began.elapsed(), Duration::from_millis(750));
    let commits = store.inner.commits();
    assert!((5..=8).contains(&commits), "{commits} commits of 50 steps");
    assert_eq!(store.most.load(Ordering::SeqCst), 1);
    let state = runner.thread("t").state().await.unwrap();
    assert_eq!((state.step, state.state.log.len()), (50, 50), "the end is stored before the turn says so");
}

#[tokio::test(start_paused = true)]
async fn with_a_store_slower_than_the_steps_there_are_at_most_a_tenth_as_many_commits() {
    let store = SlowStore::new(Duration::from_millis(20));
    let runner = runner(counting(1_000, Duration::from_millis(1), &Arc::default()), store.clone(), Durability::Async);
    runner.thread("t").run(Trip::update()).await.unwrap();
    let commits = store.inner.commits();
    assert!((10..=100).contains(&commits), "{commits} commits of 1,000 steps");
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_fails_beside_the_work_fails_the_turn_and_the_last_stored_checkpoint_stands() {
    let store = SlowStore::new(Duration::from_millis(15));
    let runner = runner(counting(50, Duration::from_millis(10), &Arc::default()), store.clone(), Durability::Async);
    store.inner.fail_commit_after(3);
    let error = runner.thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Store { cause: StoreError::Unavailable { .. }, .. }), "{error}");
    let state = runner.thread("t").state().await.unwrap();
    assert!(state.step >= 2 && state.next == ["a"], "{} {:?}", state.step, state.next);
    let end = runner.thread("t").proceed().await.unwrap();
    assert_eq!(end.state.log, (0..50).collect::<Vec<_>>(), "nothing is lost, nothing is there twice");
}

#[tokio::test(start_paused = true)]
async fn steps_that_run_again_after_a_crash_have_the_keys_that_they_had() {
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let store = SlowStore::new(Duration::from_millis(25));
    let runner = runner(counting(20, Duration::from_millis(10), &keys), store, Durability::Async);
    let turn = runner.thread("t").run(Trip::update()).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(95), turn).await.is_err());
    // What was being stored when the turn was dropped may still arrive.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = std::mem::take(&mut *keys.lock().unwrap());
    let reached = usize::try_from(runner.thread("t").state().await.unwrap().step).unwrap();
    assert!((1..9).contains(&reached), "{reached}");
    let end = runner.thread("t").proceed().await.unwrap();
    assert_eq!(end.state.log, (0..20).collect::<Vec<_>>());
    let after = keys.lock().unwrap();
    assert_eq!(before[reached..], after[..before.len() - reached], "the steps that ran twice");
    let mut all = after.clone();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), after.len(), "no two steps share a key");
}

#[tokio::test(start_paused = true)]
async fn a_pause_a_failure_and_a_drain_are_stored_whatever_the_mode() {
    async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
        Ok(Trip::update().log([ctx.interrupt::<u32>("how many?")?]))
    }
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let graph = Graph::<Trip>::builder("trip").node("ask", ask).edge(START, "ask").compile().unwrap();
        let asking = runner(graph, SlowStore::new(Duration::from_millis(5)), durability);
        let paused = asking.thread("t").run(Trip::update().log([1])).await.unwrap();
        assert_eq!(paused.status, Status::Paused);
        let state = asking.thread("t").state().await.unwrap();
        assert_eq!((&state.interrupts[..], &state.state.log[..]), (paused.interrupts(), &[1][..]));
        assert_eq!(asking.thread("t").resume(7).await.unwrap().state.log, [1, 7], "{durability:?}");

        let graph = counting(9, Duration::from_millis(1), &Arc::default());
        let limited = runner(graph, SlowStore::new(Duration::from_millis(5)), durability).step_limit(4);
        let error = limited.thread("t").run(Trip::update()).await.unwrap_err();
        assert!(matches!(&*error.error, RunError::StepLimit { step: 4, .. }), "{error}");
        assert_eq!(limited.thread("t").state().await.unwrap().step, 4);

        let graph = counting(9, Duration::from_millis(1), &Arc::default());
        let drained = runner(graph, SlowStore::new(Duration::from_millis(5)), durability);
        let turn = drained.thread("t").run(Trip::update());
        let control = turn.control();
        let wait = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            control.drain();
        };
        let (end, ()) = futures_util::future::join(turn.into_future(), wait).await;
        let end = end.unwrap();
        if end.status == Status::Drained {
            let state = drained.thread("t").state().await.unwrap();
            assert_eq!(state.state.log, end.state.log, "{durability:?}");
            assert_eq!(drained.thread("t").proceed().await.unwrap().state.log.len(), 9);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_holds_its_thread_until_its_last_commit_is_over() {
    let store = SlowStore::new(Duration::from_millis(50));
    let graph = counting(20, Duration::from_millis(10), &Arc::default());
    let runner = runner(graph, store, Durability::Async);
    let turn = runner.thread("t").run(Trip::update()).into_future();
    assert!(tokio::time::timeout(Duration::from_millis(70), turn).await.is_err());
    // The commit under way would move the head below another turn.
    let busy = runner.thread("t").proceed().await.unwrap_err();
    assert!(matches!(&*busy.error, RunError::Busy { .. }), "{busy}");
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(runner.thread("t").proceed().await.unwrap().state.log.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn parallel_results_are_saved_after_the_checkpoint_that_they_belong_to() {
    for parallel in [Parallel::Joined, Parallel::Spawned] {
        let store = SlowStore::new(Duration::from_millis(30));
        let slow = |takes: u64, n: u32| {
            move || async move {
                tokio::time::sleep(Duration::from_millis(takes)).await;
                Trip::update().log([n])
            }
        };
        let graph = Graph::<Trip>::builder("trip")
            .node("a", slow(1, 1))
            .node("b", slow(2, 2))
            .node("c", slow(500, 3))
            .edge(START, "a")
            .edge(START, "b")
            .edge(START, "c")
            .compile()
            .unwrap();
        let runner = runner(graph, store.clone(), Durability::Async).parallel(parallel);
        let turn = runner.thread("t").run(Trip::update()).into_future();
        assert!(tokio::time::timeout(Duration::from_millis(100), turn).await.is_err());
        let saved = store.load(&Place::thread("t"), None).await.unwrap().unwrap().saved;
        assert_eq!(saved.iter().map(|saved| saved.task.rank).collect::<Vec<_>>(), [0, 1], "{parallel:?}");
        assert_eq!(runner.thread("t").proceed().await.unwrap().state.log, [1, 2, 3]);
    }
}
