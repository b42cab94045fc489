//! E9, E10, E13: limits of steps, stays, sends and stored bytes, each exact: the last that is allowed, and one more.

use std::future::ready;
use std::sync::Arc;

use behaviour_tests::{Runs, TestStore, Trip, note};
use graph_engine::{Command, Ctx, Graph, In, MemoryStore, Next, Parallel, Route, RunError, Runner, START, Snap};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

/// A line of five nodes.
fn five() -> Graph<Trip> {
    let names = ["a", "b", "c", "d", "e"];
    let mut builder = Graph::<Trip>::builder("g").edge(START, "a");
    for name in names {
        builder = builder.node(name, note(name));
    }
    names.windows(2).fold(builder, |builder, pair| builder.edge(pair[0], pair[1])).compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_step_limit_is_exact_and_keeps_what_was_done() {
    for limit in 1..=6_u64 {
        let thread = five().runner().step_limit(limit).store(MemoryStore::new()).thread("t");
        let ended = thread.run(Trip::update()).await;
        assert_eq!(ended.is_ok(), limit >= 5, "{limit}");
        let Err(failed) = ended else { continue };
        let RunError::StepLimit { limit: told, step, pending, .. } = &*failed else { panic!("{failed}") };
        let next = ["a", "b", "c", "d", "e"][usize::try_from(limit).unwrap()];
        assert_eq!((*told, *step, &**pending), (limit, limit, &[next.into()][..]));
        assert_eq!((failed.report.steps, &failed.report.pending), (limit, pending));
        assert_eq!(thread.state().await.unwrap().state.log.len() as u64, limit);
        // Proceeding begins a new count.
        let mut proceeds = 1;
        while let Err(failed) = thread.proceed().await {
            assert!(matches!(*failed, RunError::StepLimit { .. }));
            proceeds += 1;
        }
        assert_eq!(proceeds, 5_u64.div_ceil(limit) - 1, "{limit}");
        assert_eq!(thread.state().await.unwrap().state.log, ["a", "b", "c", "d", "e"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_limit_of_zero_counts_as_one_and_nodes_know_what_remains() {
    let rest = |ctx: Ctx| ready(Trip::update().log([ctx.remaining_steps().to_string()]));
    let graph =
        Graph::<Trip>::builder("g").node("a", rest).node("b", rest).edge(START, "a").edge("a", "b").compile().unwrap();
    let thread = graph.runner().step_limit(0).store(MemoryStore::new()).thread("t");
    assert!(matches!(*thread.run(Trip::update()).await.unwrap_err(), RunError::StepLimit { limit: 1, .. }));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["0", "0"]);
    let end = graph.runner().step_limit(7).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["6", "5"]);
}

#[derive(Route)]
#[route(stay)]
enum Again {}

/// Stays until the total is so large.
fn staying(times: i64) -> Graph<Trip> {
    let node = move |trip: Snap<Trip>| {
        ready(if trip.total < times {
            Command::<Trip, Again>::stay("again").with(Trip::update().total(1))
        } else {
            Command::declared()
        })
    };
    Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_stay_limit_is_exact_and_proceeding_begins_a_new_count() {
    for limit in 0..=4_u32 {
        let thread = staying(3).runner().stay_limit(limit).store(MemoryStore::new()).thread("t");
        let ended = thread.run(Trip::update()).await;
        assert_eq!(ended.is_ok(), limit >= 3, "{limit}");
        let Err(failed) = ended else { continue };
        assert!(
            matches!(&*failed, RunError::StayLimit { limit: told, node, cluster: None, .. } if *told == limit && node == "n")
        );
        assert_eq!(failed.report.stays, u64::from(limit));
        // The update of the stay that was one too many is kept.
        let state = thread.state().await.unwrap();
        assert_eq!((state.state.total, state.next), (i64::from(limit) + 1, vec!["n".into()]));
        if limit > 0 {
            let mut proceeds = 0;
            while thread.proceed().await.is_err() {
                proceeds += 1;
                assert!(proceeds < 5);
            }
            assert_eq!(thread.state().await.unwrap().state.total, 3);
        } else {
            assert!(matches!(*thread.proceed().await.unwrap_err(), RunError::StayLimit { .. }));
        }
    }
}

#[derive(Route)]
enum Each {
    Work(u32),
}

/// `split` sends so many tasks, or its router does, or that of START.
fn sending(runs: &Runs, by: &'static str, count: u32) -> Graph<Trip> {
    let work = {
        let runs = runs.clone();
        move |In(n): In<u32>| {
            runs.hit("work");
            ready(Trip::update().total((*n).into()))
        }
    };
    let builder = Graph::<Trip>::builder("g").node("work", work);
    let all = move || (1..=count).map(Each::Work);
    let split = {
        let runs = runs.clone();
        move || {
            runs.hit("split");
            ready(Command::<Trip, Each>::fan_out(all()).with(Trip::update().log(["split".to_owned()])))
        }
    };
    let builder = match by {
        "command" => builder.node("split", split).edge(START, "split"),
        "router" => builder
            .node("split", runs.node("split"))
            .edge(START, "split")
            .route("split", move |_: &Trip| Next::fan_out(all())),
        _ => builder.route(START, move |_: &Trip| Next::fan_out(all())),
    };
    builder.compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_fan_out_limit_is_exact_and_proceeding_with_a_raised_one_only_routes() {
    for parallel in BOTH {
        for by in ["command", "router"] {
            let runs = Runs::new();
            let graph = sending(&runs, by, 5);
            for limit in [5, 6, 10_000] {
                let end = graph.runner().parallel(parallel).fan_out_limit(limit).thread("t").run(Trip::update()).await;
                assert_eq!(end.unwrap().state.total, 15);
            }
            assert_eq!(runs.take().len(), 3 * 6);
            let store = Arc::new(MemoryStore::new());
            let runner = |limit| graph.runner().parallel(parallel).fan_out_limit(limit).store_arc(store.clone());
            for limit in [4, 1, 0] {
                let thread = runner(limit).thread(format!("t{limit}"));
                let failed = thread.run(Trip::update()).await.unwrap_err();
                assert!(
                    matches!(*failed, RunError::FanOutLimit { step: 0, sent: 5, limit: told, .. } if told == limit),
                    "{failed}"
                );
                assert_eq!(runs.take(), ["split"], "before any of them runs");
                let state = thread.state().await.unwrap();
                assert_eq!((&*state.state.log, state.next), (&["split".to_owned()][..], vec!["split".into()]));
                assert!(matches!(*thread.proceed().await.unwrap_err(), RunError::FanOutLimit { .. }));
                let end = runner(5).thread(format!("t{limit}")).proceed().await.unwrap();
                assert_eq!((end.state.total, end.state.log.len()), (15, 1), "{by}");
                assert_eq!(runs.take(), vec!["work"; 5]);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_router_of_start_is_bounded_too_and_keeps_nothing_of_the_input() {
    let graph = sending(&Runs::new(), "start", 5);
    let store = Arc::new(MemoryStore::new());
    let runner = |limit| graph.runner().fan_out_limit(limit).store_arc(store.clone());
    let failed = runner(4).thread("t").run(Trip::update().city("Oslo")).await.unwrap_err();
    assert!(matches!(*failed, RunError::FanOutLimit { sent: 5, limit: 4, .. }), "{failed}");
    assert_eq!(runner(4).thread("t").state().await.unwrap().checkpoint, None);
    assert_eq!(runner(5).thread("t").run(Trip::update()).await.unwrap().state.total, 15);
}

#[tokio::test(start_paused = true)]
async fn sends_of_all_tasks_of_a_step_count_together_and_plain_targets_do_not() {
    #[derive(Route)]
    enum Mixed {
        Work(u32),
        Plain,
    }
    let split = || ready(Command::<Trip, Mixed>::go_all([Mixed::Work(1), Mixed::Plain, Mixed::Work(2)]));
    let graph = Graph::<Trip>::builder("g")
        .node("a", split)
        .node("b", split)
        .node("plain", note("plain"))
        .node("work", |In(n): In<u32>| ready(Trip::update().total((*n).into())))
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    assert_eq!(graph.runner().fan_out_limit(4).thread("t").run(Trip::update()).await.unwrap().state.total, 6);
    let failed = graph.runner().fan_out_limit(3).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*failed, RunError::FanOutLimit { sent: 4, limit: 3, .. }));
}

#[tokio::test(start_paused = true)]
async fn stays_of_sent_tasks_count_as_sends() {
    let split = || ready(Command::<Trip, Each>::fan_out([1, 2, 3].map(Each::Work)));
    let work = |In(_): In<u32>, trip: Snap<Trip>| {
        ready(if trip.total == 0 {
            Command::<Trip, Again>::stay("again").with(Trip::update().total(1))
        } else {
            Command::declared().with(Trip::update().log(["done".to_owned()]))
        })
    };
    let graph =
        Graph::<Trip>::builder("g").node("split", split).node("work", work).edge(START, "split").compile().unwrap();
    let end = graph.runner().fan_out_limit(3).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.state.log.len(), end.report.stays), (3, 3));
}

/// Writes `city` and `log` as its input says.
fn writing() -> Graph<Trip> {
    let write = |trip: Snap<Trip>| {
        let size = usize::try_from(trip.total).unwrap();
        ready(Trip::update().city("x".repeat(size)))
    };
    Graph::<Trip>::builder("g")
        .node("write", write)
        .node("then", note("then"))
        .edge(START, "write")
        .edge("write", "then")
        .compile()
        .unwrap()
}

/// The bytes of the stored state at the end, found by the limits that are refused.
async fn stored_bytes(run: impl AsyncFn(u64) -> Result<(), RunError>) -> u64 {
    for limit in 0..500 {
        match run(limit).await {
            Ok(()) => return limit,
            Err(RunError::StateLimit { bytes, limit: told, .. }) => assert!(told == limit && bytes > limit),
            Err(other) => panic!("{other}"),
        }
    }
    panic!("it is larger than 500 bytes");
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_stored_bytes_is_exact() {
    let run = async |limit| {
        let runner = writing().runner().state_limit(limit).store(MemoryStore::new());
        runner.thread("t").run(Trip::update().total(40)).await.map(|_| ()).map_err(|failed| *failed.error)
    };
    let least = stored_bytes(run).await;
    // `total` is `40`, `city` has 40 letters in quotes, `log` one line in a list: what JSON needs, to the byte.
    assert_eq!(least, 2 + 42 + "[\"then\"]".len() as u64);
    assert!(run(least).await.is_ok() && run(u64::MAX).await.is_ok());
    let Err(RunError::StateLimit { bytes, field, step, .. }) = run(least - 1).await else { panic!("one more") };
    assert_eq!((bytes, &*field, step), (least, "city", 2), "the last step would have been the one too large");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_too_large_is_not_stored_and_proceeds_with_a_raised_limit() {
    let store = TestStore::lasting();
    let runner = |limit| writing().runner().state_limit(limit).store(store.clone());
    let failed = runner(20).thread("t").run(Trip::update().total(40)).await.unwrap_err();
    assert!(matches!(&*failed, RunError::StateLimit { limit: 20, field, .. } if field == "city"), "{failed}");
    assert_eq!(store.commits(), 1, "only the input was stored");
    let state = runner(20).thread("t").state().await.unwrap();
    assert_eq!((&*state.state.city, state.state.total, state.next), ("", 40, vec!["write".into()]));
    assert!(matches!(*runner(20).thread("t").proceed().await.unwrap_err(), RunError::StateLimit { .. }));
    let end = runner(100).thread("t").proceed().await.unwrap();
    assert_eq!((end.state.city.len(), end.state.log.len()), (40, 1));
}

#[tokio::test(start_paused = true)]
async fn an_input_that_is_too_large_is_not_stored() {
    let runner: Runner<Trip> = writing().runner().state_limit(50).store(MemoryStore::new());
    let failed = runner.thread("t").run(Trip::update().last("y".repeat(60))).await.unwrap_err();
    assert!(matches!(&*failed, RunError::StateLimit { bytes: 62, field, .. } if field == "last"), "{failed}");
    assert_eq!(runner.thread("t").state().await.unwrap().checkpoint, None);
    // The thread takes a smaller one.
    assert!(runner.thread("t").run(Trip::update().last("y")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_shrinks_counts_less_and_what_grows_over_turns_counts_together() {
    let runner = writing().runner().state_limit(130).store(MemoryStore::new());
    let thread = runner.thread("t");
    thread.run(Trip::update().total(100)).await.unwrap();
    // The city shrinks to 5 letters; so there is room for a long `last`.
    thread.run(Trip::update().total(-95)).await.unwrap();
    assert!(thread.run(Trip::update().last("y".repeat(60))).await.is_ok());
    // The log grows by a line each turn until it is too long; its items are stored as they come.
    let mut turns = 0;
    let failed = loop {
        match thread.run(Trip::update()).await {
            Ok(_) => turns += 1,
            Err(failed) => break failed,
        }
    };
    assert!(matches!(&*failed, RunError::StateLimit { limit: 130, .. }), "{failed}");
    assert!((2..10).contains(&turns), "{turns}");
}

#[tokio::test(start_paused = true)]
async fn without_a_store_nothing_is_counted() {
    let end = writing().runner().state_limit(1).thread("t").run(Trip::update().total(400)).await.unwrap();
    assert_eq!(end.state.city.len(), 400);
}

#[tokio::test(start_paused = true)]
async fn an_update_that_no_store_keeps_is_not_counted() {
    let write = || ready(Trip::update().draft("z".repeat(1_000)));
    let graph = Graph::<Trip>::builder("g").node("n", write).edge(START, "n").compile().unwrap();
    let end = graph.runner().state_limit(0).store(MemoryStore::new()).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.draft.len(), 1_000);
}
