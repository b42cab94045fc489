//! E18-E20: what a review of durable threads found: work that outlives its attempt, results that can't be kept or merged.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use behaviour_tests::{TestStore, Trip, TripUpdate};
use graph_engine::{
    Cache, CheckpointStore, Ctx, Durability, Graph, MemoryStore, NodeError, NodeExt, Retry, RunError, START, Status,
    StoreError,
};
use tokio::sync::Notify;

fn said(text: impl Into<String>) -> TripUpdate {
    Trip::update().log([text.into()])
}

/// Notes and counts.
type Notes = Arc<Mutex<Vec<String>>>;

#[tokio::test(start_paused = true)]
async fn work_left_behind_by_an_earlier_attempt_neither_asks_nor_takes_the_answers_of_a_later_one() {
    let (late, notes) = (Arc::new(Notify::new()), Notes::default());
    let node = {
        let (late, notes) = (late.clone(), notes.clone());
        move |ctx: Ctx| {
            let (late, notes) = (late.clone(), notes.clone());
            async move {
                if ctx.attempt() == 1 {
                    tokio::spawn(async move {
                        late.notified().await;
                        let asked = ctx.interrupt::<bool>("from the grave?").unwrap_err();
                        let kept = ctx.memo("price", async { Ok::<_, NodeError>(1) }).await.unwrap_err();
                        notes.lock().unwrap().extend([asked.to_string(), kept.to_string()]);
                    });
                    return Err(NodeError::retryable("try again"));
                }
                late.notify_one();
                tokio::time::sleep(Duration::from_secs(1)).await;
                let price = ctx.memo("price", async { Ok::<_, NodeError>(2) }).await?;
                let sure: bool = ctx.interrupt("book?")?;
                Ok(said(format!("{price} {sure}")))
            }
        }
    };
    let node = node.retry(Retry::fixed(2, Duration::ZERO));
    let graph = Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let paused = thread.run(Trip::update()).await.unwrap();
    let questions: Vec<_> = paused.interrupts().iter().map(|asked| asked.question.clone()).collect();
    assert_eq!((paused.status, questions), (Status::Paused, vec!["book?".into()]));
    let over = "attempt 1 of `n` is over, so nothing can be asked or remembered for it any more";
    let notes = notes.lock().unwrap();
    assert!(notes.len() == 2 && notes.iter().all(|note| note.contains(over)), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_context_that_is_kept_after_a_pause_adds_no_question() {
    let late = Arc::new(Notify::new());
    let node = {
        let late = late.clone();
        move |ctx: Ctx| {
            let late = late.clone();
            async move {
                let kept = ctx.clone();
                tokio::spawn(async move {
                    late.notified().await;
                    assert!(kept.interrupt::<bool>("one more?").is_err());
                });
                Ok::<_, NodeError>(said(ctx.interrupt::<String>("who?")?))
            }
        }
    };
    async fn slow(ctx: Ctx) -> Result<(), NodeError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let _ = ctx;
        Ok(())
    }
    let graph = Graph::<Trip>::builder("trip")
        .node("n", node)
        .node("slow", slow)
        .edge(START, "n")
        .edge(START, "slow")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let wake = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        late.notify_waiters();
    };
    let (paused, ()) = tokio::join!(async { thread.run(Trip::update()).await }, wake);
    assert_eq!(paused.unwrap().interrupts().len(), 1);
    assert_eq!(thread.resume("me").await.unwrap().state.log, ["me"]);
}

#[tokio::test]
async fn what_depends_on_a_persons_answer_is_never_served_from_the_cache() {
    let runs = Arc::new(AtomicUsize::new(0));
    let node = {
        let runs = runs.clone();
        move |ctx: Ctx| {
            runs.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, NodeError>(said(ctx.interrupt::<String>("who?")?)) }
        }
    };
    let cached = node.cache(Cache::by(|_: &Trip| "all"));
    let graph = Graph::<Trip>::builder("trip").node("n", cached).edge(START, "n").compile().unwrap();
    let runner = graph.runner().store(MemoryStore::new());
    for guest in ["ann", "bob"] {
        let thread = runner.thread(guest);
        assert_eq!(thread.run(Trip::update()).await.unwrap().status, Status::Paused, "{guest}");
        let end = thread.resume(guest).await.unwrap();
        assert_eq!((&end.state.log[..], end.report.cached), (&[guest.to_owned()][..], 0));
        assert_eq!(end.report.warnings, ["the result of `n` was not cached: it depends on an answer"]);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 4);
}

/// Two tasks; the sum of what they write is refused once.
fn refused_once(calls: &Arc<AtomicUsize>, value: i64) -> Graph<Trip> {
    let calls = calls.clone();
    let second = move |ctx: Ctx| {
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            drop(ctx);
            Trip::update().total(if first { value } else { 7 })
        }
    };
    Graph::<Trip>::builder("trip")
        .node("a", async || Trip::update().total(5))
        .node("b", second)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_step_whose_merge_was_refused_runs_again_whatever_was_saved_of_it() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for value in [13, 666] {
            let (store, calls) = (TestStore::lasting(), Arc::default());
            let runner = refused_once(&calls, value).runner().store(store).durability(durability);
            let thread = runner.thread("t");
            let refused = thread.run(Trip::update().total(1)).await.unwrap_err();
            assert!(matches!(*refused.error, RunError::Merge { step: 0, .. }), "{refused}");
            assert_eq!(refused.report.pending, ["a", "b"]);
            let state = thread.state().await.unwrap();
            assert_eq!(
                (state.state.total, state.finished.len(), &state.next[..]),
                (1, 0, &["a".into(), "b".into()][..])
            );
            assert_eq!(thread.proceed().await.unwrap().state.total, 13, "{durability:?} {value}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_result_that_a_checkpoint_holds_is_made_again_with_its_answers_and_memos() {
    let (memos, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let first = {
        let (memos, calls) = (memos.clone(), calls.clone());
        move |ctx: Ctx| {
            let (memos, calls) = (memos.clone(), calls.clone());
            async move {
                let paid = ctx.memo("pay", async { Ok::<_, NodeError>(memos.fetch_add(1, Ordering::SeqCst)) }).await?;
                let name: String = ctx.interrupt("name?")?;
                let total = if calls.fetch_add(1, Ordering::SeqCst) == 0 { 13 } else { 2 };
                Ok::<_, NodeError>(said(format!("{name} {paid}")).total(total))
            }
        }
    };
    let second = async |ctx: Ctx| Ok::<_, NodeError>(said(ctx.interrupt::<String>("other?")?));
    let graph = Graph::<Trip>::builder("trip")
        .node("a", first)
        .node("b", second)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let runner = graph.runner().store(TestStore::lasting());
    let thread = runner.thread("t");
    let paused = thread.run(Trip::update()).await.unwrap();
    let [name, other] = paused.interrupts() else { panic!("two questions") };
    // `a` finishes in this turn, and only in the next one it turns out that its result can't be merged.
    assert_eq!(thread.resume_by_id([(name.id, "ann")]).await.unwrap().status, Status::Paused);
    let refused = thread.resume_by_id([(other.id, "bob")]).await.unwrap_err();
    assert!(matches!(*refused.error, RunError::Merge { .. }), "{refused}");
    let end = thread.proceed().await.unwrap();
    assert_eq!((&end.state.log[..], end.state.total), (&["ann 0".to_owned(), "bob".to_owned()][..], 2));
    assert_eq!((memos.load(Ordering::SeqCst), calls.load(Ordering::SeqCst)), (1, 2));
}

#[tokio::test]
async fn keys_of_outside_effects_are_the_same_before_and_after_a_pause_in_every_mode_and_differ_between_turns() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let keys = Notes::default();
        let node = {
            let keys = keys.clone();
            move |ctx: Ctx| {
                keys.lock().unwrap().push(ctx.idempotency_key());
                async move { Ok::<_, NodeError>(said(ctx.interrupt::<String>("who?")?)) }
            }
        };
        let graph = Graph::<Trip>::builder("trip")
            .node("before", async || ())
            .node("n", node)
            .edge(START, "before")
            .edge("before", "n")
            .compile()
            .unwrap();
        let runner = graph.runner().store(TestStore::lasting()).durability(durability);
        let thread = runner.thread("t");
        for _ in 0..2 {
            thread.run(Trip::update()).await.unwrap();
            thread.resume("me").await.unwrap();
        }
        let keys = keys.lock().unwrap();
        assert_eq!((&keys[0], &keys[2]), (&keys[1], &keys[3]), "{durability:?}");
        assert_ne!(keys[0], keys[2], "{durability:?}");
    }
}

#[tokio::test]
async fn two_turns_that_store_only_their_end_never_share_a_key_although_the_first_was_lost() {
    let keys = Notes::default();
    let node = {
        let keys = keys.clone();
        move |ctx: Ctx| {
            keys.lock().unwrap().push(ctx.idempotency_key());
            async {}
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").compile().unwrap();
    let store = TestStore::lasting();
    let thread = graph.runner().store(store.clone()).durability(Durability::Exit).thread("t");
    thread.run(Trip::update()).await.unwrap();
    store.fail_commit_after(0);
    thread.run(Trip::update().total(1)).await.unwrap_err();
    thread.run(Trip::update().total(2)).await.unwrap();
    let keys = keys.lock().unwrap();
    assert!(keys[1] != keys[2] && keys[0] != keys[1], "{keys:?}");
}

#[tokio::test]
async fn a_thread_that_somebody_answered_meanwhile_is_not_reported_as_expired() {
    async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
        let name: String = ctx.ask("who?").expires(Duration::from_secs(60), "nobody").answer()?;
        Ok(said(name))
    }
    let build = |node: fn(Ctx) -> futures_util::future::BoxFuture<'static, Result<TripUpdate, NodeError>>| {
        Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").compile().unwrap()
    };
    let store = MemoryStore::new();
    let other = build(|ctx| Box::pin(ask(ctx))).runner().store(store.clone());
    for id in ["a", "b"] {
        other.thread(id).run(Trip::update()).await.unwrap();
    }
    // While thread `a` goes on, somebody answers the question of thread `b`.
    let answering = other.clone();
    let node = move |ctx: Ctx| {
        let answering = answering.clone();
        async move {
            if ctx.thread() == "a" {
                answering.thread("b").resume("me").await.unwrap();
            }
            ask(ctx).await
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").compile().unwrap();
    let runner = graph.runner().store(store);
    let expired = runner.expire(SystemTime::now() + Duration::from_secs(61)).await.unwrap();
    let threads: Vec<_> = expired.iter().map(|expired| expired.thread.as_str()).collect();
    assert_eq!(threads, ["a"]);
    assert_eq!(runner.thread("b").state().await.unwrap().state.log, ["me"]);
}

#[tokio::test(start_paused = true)]
async fn a_checkpoint_that_is_lost_beside_the_work_fails_the_turn_with_its_own_error_although_a_node_met_it_first() {
    let store = TestStore::lasting();
    // The input is stored, the first super-step is not.
    store.fail_commit_after(1);
    store.commits_take(Duration::from_millis(20));
    let seen = Notes::default();
    let second = {
        let seen = seen.clone();
        move |ctx: Ctx| {
            let seen = seen.clone();
            async move {
                let kept = ctx.memo("price", async { Ok::<_, NodeError>(1) }).await;
                seen.lock().unwrap().push(kept.unwrap_err().to_string());
            }
        }
    };
    let graph = Graph::<Trip>::builder("trip")
        .node("a", async || said("a"))
        .node("b", second)
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let thread = graph.runner().store(store).durability(Durability::Async).thread("t");
    let failed = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*failed.error, RunError::Store { cause: StoreError::Unavailable { .. }, .. }), "{failed}");
    assert!(failed.to_string().contains("the disk is gone"), "{failed}");
    assert!(seen.lock().unwrap()[0].contains("the disk is gone"));
    let state = thread.state().await.unwrap();
    assert_eq!((state.step, &state.next[..]), (0, &["a".into()][..]));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_store_refuses_is_refused_to_its_task_alone_and_not_sent_again() {
    let store = TestStore::lasting();
    store.refuse_key("huge");
    let keeps = |key: &'static str| {
        move |ctx: Ctx| async move {
            let scope = ctx.scope(key);
            tokio::time::sleep(Duration::from_millis(1)).await;
            match scope.memo(key, async { Ok::<_, NodeError>(key.to_owned()) }).await {
                Ok(kept) => said(kept),
                Err(error) => said(error.to_string()),
            }
        }
    };
    let graph = Graph::<Trip>::builder("trip")
        .node("a", keeps("huge"))
        .node("b", keeps("small"))
        .node("c", keeps("tiny"))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .compile()
        .unwrap();
    let end = graph.runner().store(store.clone()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log[1..], ["small", "tiny"]);
    assert!(end.state.log[0].contains("it is too large"), "{:?}", end.state.log);
    // Each task at most twice for its memo, and once for its result.
    assert!(store.saves().len() <= 10, "{:?}", store.saves());
}

#[tokio::test]
async fn what_an_import_was_stopped_with_is_never_run_and_no_thread_of_a_user_is_taken_for_it() {
    let runs = Arc::new(AtomicUsize::new(0));
    let node = {
        let runs = runs.clone();
        move |ctx: Ctx| {
            runs.fetch_add(1, Ordering::SeqCst);
            async move {
                let name: String = ctx.ask("who?").expires(Duration::from_secs(60), "nobody").answer()?;
                Ok::<_, NodeError>(said(name))
            }
        }
    };
    let graph = Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").compile().unwrap();
    let store = MemoryStore::new();
    let runner = graph.runner().store(store.clone());
    let own = runner.thread("u (incomplete)");
    own.run(Trip::update()).await.unwrap();
    let mut lines = Vec::new();
    own.export(&mut lines).await.unwrap();
    runner.import_as("u", &lines[..]).await.unwrap();
    assert_eq!(own.state().await.unwrap().interrupts.len(), 1);
    assert_eq!(runner.thread("u").state().await.unwrap().interrupts, own.state().await.unwrap().interrupts);
    // A process was stopped in the middle of another import.
    store.copy("u", "__incomplete__ v").await.unwrap();
    let expired = runner.expire(SystemTime::now() + Duration::from_secs(61)).await.unwrap();
    let threads: Vec<_> = expired.iter().map(|expired| expired.thread.as_str()).collect();
    assert_eq!((threads, runs.load(Ordering::SeqCst)), (vec!["u", "u (incomplete)"], 3));
}
