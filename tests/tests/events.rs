//! E24: what a turn tells, in one order for every reader, with `Ended` as the last event.

use std::future::{IntoFuture, ready};
use std::sync::Arc;
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, after, note};
use expect_test::expect;
use futures_util::StreamExt;
use graph_engine::testing::run_logged;
use graph_engine::{
    Command, Ctx, Event, EventKind, Graph, MemoryStore, Mode, Next, NodeError, Res, Route, START, Seams, StreamOptions,
    Thread, Turn, canonical_log,
};
use serde_json::json;

fn all_modes() -> StreamOptions {
    let modes = [Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Tokens, Mode::Checkpoints];
    StreamOptions::default().modes(modes)
}

/// Drives the turn beside readers with these options.
async fn read<const N: usize>(mut turn: Turn<Trip>, options: [StreamOptions; N]) -> [Vec<Event<Trip>>; N] {
    let readers = options.map(|options| turn.reader(options).collect::<Vec<_>>());
    let (_, events) = futures_util::future::join(turn.into_future(), futures_util::future::join_all(readers)).await;
    events.try_into().unwrap_or_else(|_| unreachable!("one list for each reader"))
}

fn kinds(events: &[Event<Trip>]) -> Vec<String> {
    events.iter().map(|event| event.kind.to_string()).collect()
}

#[derive(Route)]
#[route(stay, direct, finish)]
enum Go {
    B,
    #[route(end)]
    End,
}

async fn talk(ctx: Ctx) -> Result<Command<Trip, Go>, NodeError> {
    ctx.token("Os").await;
    ctx.token("lo").await;
    ctx.emit(json!({ "step": ctx.step(), "node": ctx.node() })).await?;
    Ok(Command::go(Go::B).with(Trip::update().city("Oslo").total(2)))
}

fn talking() -> Thread<Trip> {
    let graph = Graph::<Trip>::builder("g").node("a", talk).node("b", note("b")).edge(START, "a").compile().unwrap();
    graph.runner().store(MemoryStore::new()).seams(Seams::default().numbered_turns()).thread("t")
}

#[tokio::test]
async fn everything_is_told_in_order() {
    let [events] = read(talking().run(Trip::update()), [all_modes()]).await;
    expect![[r#"
        0: started
        1: input merged, next `a`
        2: checkpoint
        3: start
        4: token "Os"
        5: token "lo"
        6: custom {"node":"a","step":0}
        7: finish, wrote `city`, `total`, go `b`
        8: merged, next `b`
        9: checkpoint
        10: start
        11: finish, wrote `log`
        12: merged
        13: checkpoint
        14: ended: done
    "#]]
    .assert_eq(&events.iter().map(|event| format!("{}: {}\n", event.seq, event.kind)).collect::<String>());
    assert!(events.iter().all(|event| event.turn == "turn-1" && event.namespace.is_empty()));
    let places: Vec<_> = events.iter().filter(|event| event.task.is_some()).map(ToString::to_string).collect();
    assert_eq!(places[0], "0.0 a#1 start");
    let indices: Vec<_> = events[3..8].iter().map(|event| event.index).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_checkpoint_event_names_what_is_stored() {
    let thread = talking();
    let [events] = read(thread.run(Trip::update()), [all_modes()]).await;
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Checkpoint { id } => Some(id),
            _ => None,
        })
        .rev()
        .collect();
    let stored = thread.history(&graph_engine::Filter::default()).await.unwrap();
    assert_eq!(told, stored.iter().map(|info| info.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn readers_get_only_the_modes_they_ask_for() {
    let only = |modes: &[Mode]| StreamOptions::default().modes(modes.iter().copied());
    let options =
        [only(&[]), only(&[Mode::Tokens]), only(&[Mode::Custom]), only(&[Mode::Checkpoints]), only(&[Mode::Nodes])];
    let [none, tokens, custom, checkpoints, nodes] = read(talking().run(Trip::update()), options).await;
    assert_eq!(kinds(&none), ["started", "ended: done"]);
    assert_eq!(kinds(&tokens), ["started", "token \"Os\"", "token \"lo\"", "ended: done"]);
    assert_eq!(kinds(&custom), ["started", "custom {\"node\":\"a\",\"step\":0}", "ended: done"]);
    assert_eq!(kinds(&checkpoints), ["started", "checkpoint", "checkpoint", "checkpoint", "ended: done"]);
    let expected = ["started", "start", "finish, wrote `city`, `total`, go `b`", "merged, next `b`", "start"];
    assert_eq!(kinds(&nodes), [&expected[..], &["finish, wrote `log`", "merged", "ended: done"]].concat());
}

#[tokio::test]
async fn written_values_and_states_go_only_to_those_who_ask() {
    let only = |mode: Mode| StreamOptions::default().modes([mode]);
    let options = [only(Mode::Nodes), only(Mode::Updates), only(Mode::State)];
    let lists = read(talking().run(Trip::update()), options).await;
    let seen = lists.map(|events| {
        let has = |event: &Event<Trip>| match &event.kind {
            EventKind::NodeFinished { update, .. } => update.is_some(),
            EventKind::StepFinished { state, .. } => state.is_some(),
            _ => false,
        };
        events.iter().filter(|event| has(event)).map(|event| event.kind.to_string()).collect::<Vec<_>>()
    });
    assert_eq!(seen[0], [""; 0]);
    assert_eq!(seen[1], ["finish, wrote `city`, `total`, go `b`", "finish, wrote `log`"]);
    assert_eq!(seen[2], ["merged, next `b`", "merged"]);
}

#[tokio::test]
async fn updates_and_states_are_those_of_the_step() {
    let [events] = read(talking().run(Trip::update().total(5)), [all_modes()]).await;
    let updates: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::NodeFinished { update, .. } => update.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(updates[0], json!({ "city": "Oslo", "total": [2] }));
    assert_eq!(updates[1], json!({ "log": ["b"] }));
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::StepFinished { state, .. } => state.as_ref().map(|state| (state.total, state.log.len())),
            _ => None,
        })
        .collect();
    assert_eq!(states, [(7, 0), (7, 1)], "a kept state never changes");
}

#[tokio::test(start_paused = true)]
async fn the_order_of_every_reader_is_that_of_the_numbers() {
    let chat = |millis: u64| {
        move |ctx: Ctx| async move {
            for at in 0..5 {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                ctx.emit(at).await?;
            }
            Ok::<_, NodeError>(())
        }
    };
    let mut builder = Graph::<Trip>::builder("g");
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        builder = builder.node(name, chat(3 + at as u64)).edge(START, name);
    }
    let turn = builder.compile().unwrap().runner().thread("t").run(Trip::update());
    let tight = || all_modes().buffer(1);
    let [one, two, custom] = read(turn, [all_modes(), tight(), tight().modes([Mode::Custom])]).await;
    for events in [&one, &two, &custom] {
        assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        assert!(matches!(events.last().unwrap().kind, EventKind::Ended { .. }));
    }
    assert!(one.iter().map(|event| event.seq).eq(0..one.len() as u64), "no number is left out");
    assert_eq!(kinds(&one), kinds(&two));
    assert_eq!(custom.len(), 17);
}

#[tokio::test]
async fn every_move_is_told() {
    let told = async |next: fn() -> Command<Trip, Go>| {
        let runs = Runs::new();
        let node = move || ready(if runs.hit("n") == 0 { next() } else { Command::go(Go::End) });
        let graph =
            Graph::<Trip>::builder("g").node("n", node).node("b", note("b")).edge(START, "n").compile().unwrap();
        let [events] = read(graph.runner().thread("t").run(Trip::update()), [all_modes()]).await;
        (events[3].kind.to_string(), events.last().unwrap().kind.to_string())
    };
    let done = "ended: done".to_owned();
    assert_eq!(told(Command::declared).await, ("finish".to_owned(), done.clone()));
    assert_eq!(told(|| Command::go(Go::B)).await, ("finish, go `b`".to_owned(), done.clone()));
    assert_eq!(
        told(|| Command::go_all([Go::B, Go::End])).await,
        ("finish, go `b`, `__end__`".to_owned(), done.clone())
    );
    assert_eq!(told(|| Command::fan_out([Go::B])).await, ("finish, fan out `b`".to_owned(), done.clone()));
    assert_eq!(told(|| Command::stay("hm")).await, ("finish, stay \"hm\"".to_owned(), done.clone()));
    assert_eq!(told(|| Command::direct(json!([1]))).await, ("finish, direct [1]".to_owned(), done));
    let completed = "ended: completed".to_owned();
    assert_eq!(told(|| Command::finish("bye")).await, ("finish, finish \"bye\"".to_owned(), completed));
}

#[tokio::test]
async fn without_a_reader_nobody_observes() {
    async fn observed(ctx: Ctx) -> Result<TripUpdate, NodeError> {
        ctx.emit(1).await?;
        ctx.token("x").await;
        Ok(Trip::update().log([ctx.is_observed().to_string()]))
    }
    let graph = Graph::<Trip>::builder("g").node("n", observed).edge(START, "n").compile().unwrap();
    let thread = graph.runner().thread("t");
    assert_eq!(thread.run(Trip::update()).await.unwrap().state.log, ["false"]);
    // Whoever only waits for the end reads nothing.
    assert_eq!(thread.run(Trip::update()).stream().end().await.unwrap().state.log, ["false"]);
    let mut turn = thread.run(Trip::update());
    let _reader = turn.reader(StreamOptions::default());
    assert_eq!(turn.await.unwrap().state.log, ["true"]);
}

#[tokio::test]
async fn without_a_reader_nothing_is_serialised() {
    struct Never;
    impl serde::Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("nobody asked")
        }
    }
    let node = |ctx: Ctx| async move { ctx.emit(Never).await };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    graph.runner().thread("t").run(Trip::update()).await.unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).stream().end().await.unwrap_err();
    assert_eq!(error.failures()[0].source.to_string(), "it panicked: nobody asked");
}

#[tokio::test]
async fn emitting_what_is_not_json_is_a_fatal_failure() {
    let node = |ctx: Ctx| async move { ctx.emit(std::collections::BTreeMap::from([(vec![1], 1)])).await };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).stream().end().await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 0.0) failed after 1 attempt: the event can't be written as JSON: key must be a string"
    );
    assert_eq!(error.failures()[0].kind, graph_engine::FaultKind::Fatal);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_refused_ends_for_its_readers_too() {
    async fn needs(_: Res<u32>) {}
    let graph = Graph::<Trip>::builder("g").node("n", needs).edge(START, "n").compile().unwrap();
    let thread = graph.runner().thread("t");
    for turn in [thread.run(Trip::update()), thread.proceed()] {
        let mut stream = turn.stream();
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event.kind.to_string());
        }
        let error = stream.end().await.unwrap_err();
        assert_eq!(events, [format!("ended: {error}")]);
    }
    let graph = Graph::<Trip>::builder("g").node("n", after(100, "n")).edge(START, "n").compile().unwrap();
    let thread = graph.runner().thread("t");
    let first = thread.run(Trip::update()).stream();
    tokio::task::yield_now().await;
    let [events] = read(thread.run(Trip::update()), [all_modes()]).await;
    assert_eq!(kinds(&events), ["ended: thread `t` is busy with another turn; await that one first"]);
    first.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_ends_with_its_error() {
    let graph = Graph::<Trip>::builder("g").node("n", Runs::new().failing(1, "n")).edge(START, "n").compile().unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update());
    let reader = turn.reader(all_modes());
    let error = turn.await.unwrap_err();
    let events: Vec<_> = reader.collect().await;
    assert_eq!(events.last().unwrap().kind.to_string(), format!("ended: {error}"));
}

#[tokio::test(start_paused = true)]
async fn nothing_comes_after_the_end_even_from_work_that_a_node_left_behind() {
    let signal = Arc::new(tokio::sync::Notify::new());
    let node = {
        let signal = signal.clone();
        move |ctx: Ctx| {
            let signal = signal.clone();
            tokio::spawn(async move {
                signal.notified().await;
                ctx.token("late").await;
            });
            ready(())
        }
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update());
    let mut reader = turn.reader(all_modes().buffer(1));
    let turn = tokio::spawn(turn.into_future());
    let mut events = Vec::new();
    // Started, input merged, start, finish; then `merged` fills the queue and the end waits.
    for _ in 0..4 {
        events.push(reader.next().await.unwrap());
    }
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    signal.notify_one();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    while let Some(event) = reader.next().await {
        events.push(event);
    }
    turn.await.unwrap().unwrap();
    assert_eq!(kinds(&events), ["started", "input merged, next `n`", "start", "finish", "merged", "ended: done"]);
}

#[tokio::test(start_paused = true)]
async fn the_canonical_log_is_that_of_every_order_with_failures_and_stays() {
    let flaky = |millis: u64| {
        move |ctx: Ctx| async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            ctx.emit(ctx.attempt()).await?;
            if ctx.attempt() < 3 { Err(NodeError::from("no")) } else { Ok(()) }
        }
    };
    let mut logs = Vec::new();
    for (a, b) in [(1, 7), (7, 1), (3, 3)] {
        use graph_engine::NodeExt;
        let retry = graph_engine::Retry::fixed(3, Duration::from_millis(5));
        let graph = Graph::<Trip>::builder("g")
            .node("a", flaky(a).retry(retry.clone()))
            .node("b", flaky(b).retry(retry))
            .edge(START, "a")
            .edge(START, "b")
            .compile()
            .unwrap();
        logs.push(run_logged(graph.runner().store(MemoryStore::new()).thread("t").run(Trip::update())).await.1);
    }
    assert!(logs[0].contains("0.1 b#2 discarded\n"));
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0], logs[2]);
}

#[tokio::test]
async fn the_canonical_log_of_shuffled_events_is_the_same() {
    let [mut events] = read(talking().run(Trip::update()), [all_modes()]).await;
    let log = canonical_log(&events);
    assert!(log.starts_with("0 started\n") && log.ends_with("2 ended: done\n"), "{log}");
    for _ in 0..events.len() {
        events.rotate_left(1);
        assert_eq!(canonical_log(&events), log);
    }
    events.reverse();
    assert_eq!(canonical_log(&events), log);
    assert_eq!(canonical_log::<Trip>(&[]), "");
}

#[tokio::test]
async fn a_node_knows_where_it_is() {
    async fn tell(ctx: Ctx) -> TripUpdate {
        let place = format!("{} {} {} {} {}", ctx.thread(), ctx.turn(), ctx.node(), ctx.task(), ctx.step());
        Trip::update().log([place])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("a", tell)
        .node("b", tell)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "b")
        .compile()
        .unwrap();
    let runner = graph.runner().seams(Seams::default().numbered_turns()).store(MemoryStore::new());
    let end = runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["t turn-1 a 0.0 0", "t turn-1 b 0.1 0", "t turn-1 b 1.0 1"]);
    let end = runner.thread("t").run(Trip::update().overwrite_log(Vec::new())).await.unwrap();
    assert_eq!(end.state.log, ["t turn-2 a 2.0 2", "t turn-2 b 2.1 2", "t turn-2 b 3.0 3"]);
    let declared = Next::<Go>::declared();
    assert_eq!(declared.to_move(), graph_engine::Move::Declared);
}
