//! E24: readers that are slow, that leave, and turns that run as a stream.

use std::future::IntoFuture;
use std::time::Duration;

use behaviour_tests::{Alive, Trip, note};
use futures_util::StreamExt;
use graph_engine::{Ctx, EventKind, Graph, Mode, NodeError, RunError, START, Slow, Status, StreamOptions, Thread};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// Sends ten tokens and one value.
fn chatty() -> Thread<Trip> {
    async fn chat(ctx: Ctx) -> Result<(), NodeError> {
        for at in 0..10 {
            ctx.token(at.to_string()).await;
        }
        ctx.emit("value").await
    }
    Graph::<Trip>::builder("g").node("chat", chat).edge(START, "chat").compile().unwrap().runner().thread("t")
}

fn tokens(buffer: usize, slow: Slow) -> StreamOptions {
    StreamOptions::default().modes([Mode::Tokens, Mode::Custom]).buffer(buffer).slow(slow)
}

/// Reads an event every second.
async fn read_slowly(reader: impl futures_util::Stream<Item = graph_engine::Event<Trip>>) -> Vec<String> {
    reader
        .then(|event| async move {
            tokio::time::sleep(SECOND).await;
            event.kind.to_string()
        })
        .collect()
        .await
}

#[tokio::test(start_paused = true)]
async fn a_blocking_reader_gets_everything_and_the_turn_waits() {
    for buffer in [0, 1, 3, 100] {
        let mut turn = chatty().run(Trip::update());
        let reader = turn.reader(tokens(buffer, Slow::Block));
        let begin = Instant::now();
        let turn = async move {
            turn.await.unwrap();
            begin.elapsed().as_secs()
        };
        let (took, events) = futures_util::future::join(turn, read_slowly(reader)).await;
        assert_eq!(events.len(), 13, "{buffer}");
        assert_eq!((&*events[1], &*events[10], &*events[12]), ("token \"0\"", "token \"9\"", "ended: done"));
        // The turn ends once its last event has room: thirteen events, less those that wait and the one in hand.
        assert_eq!(took, 12_u64.saturating_sub(buffer.max(1) as u64), "{buffer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_drops_tokens_gets_all_else_and_the_turn_does_not_wait_for_tokens() {
    let mut turn = chatty().run(Trip::update());
    let reader = turn.reader(tokens(3, Slow::DropTokens));
    let (_, events) = futures_util::future::join(turn.into_future(), read_slowly(reader)).await;
    assert_eq!(events, ["started", "token \"0\"", "token \"1\"", "custom \"value\"", "ended: done"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_too_slow_is_disconnected_without_an_end_and_the_turn_goes_on() {
    let mut turn = chatty().run(Trip::update());
    let reader = turn.reader(tokens(3, Slow::Disconnect));
    let other = turn.reader(StreamOptions::default());
    let begin = Instant::now();
    let ((end, took), events, all) = futures_util::future::join3(
        async move { (turn.await, begin.elapsed()) },
        read_slowly(reader),
        other.collect::<Vec<_>>(),
    )
    .await;
    assert!(end.is_ok());
    assert_eq!(took, Duration::ZERO);
    assert_eq!(events, ["started", "token \"0\"", "token \"1\""]);
    assert_eq!(all.last().unwrap().kind.to_string(), "ended: done");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_keeps_up_is_not_disconnected() {
    let mut turn = chatty().run(Trip::update());
    let reader = turn.reader(tokens(100, Slow::Disconnect));
    let (_, events) = futures_util::future::join(turn.into_future(), reader.collect::<Vec<_>>()).await;
    assert_eq!(events.len(), 13);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_leaves_ends_only_its_own_reading() {
    let mut turn = chatty().run(Trip::update());
    let (gone, stays) = (turn.reader(tokens(1, Slow::Block)), turn.reader(tokens(1, Slow::Block)));
    let leave = async move {
        let mut gone = gone;
        gone.next().await.unwrap();
    };
    let (end, (), events) = futures_util::future::join3(turn.into_future(), leave, stays.collect::<Vec<_>>()).await;
    assert!(end.is_ok());
    assert_eq!(events.len(), 13);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_left_before_the_turn_began_is_no_reader() {
    let mut turn = chatty().run(Trip::update());
    drop(turn.reader(tokens(1, Slow::Block)));
    turn.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stream_runs_by_itself_and_gives_the_end() {
    let thread = chatty();
    let mut stream = thread.run(Trip::update().city("Oslo")).stream();
    let mut last = None;
    while let Some(event) = stream.next().await {
        last = Some(event.kind);
    }
    assert!(matches!(last, Some(EventKind::Ended { .. })));
    assert!(stream.next().await.is_none(), "nothing comes after the end");
    let end = stream.end().await.unwrap();
    assert_eq!((end.state.city.as_str(), end.report.steps), ("Oslo", 1));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_stream_can_be_had_without_reading() {
    for buffer in [1, 256] {
        let stream = chatty().run(Trip::update()).stream_with(StreamOptions::default().buffer(buffer));
        assert_eq!(stream.end().await.unwrap().report.steps, 1);
        let mut stream = chatty().run(Trip::update()).stream_with(StreamOptions::default().buffer(buffer));
        for _ in 0..3 {
            stream.next().await.unwrap();
        }
        assert_eq!(stream.end().await.unwrap().report.steps, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_stream_cancels_and_dropping_its_end_does_too() {
    let alive = Alive::new();
    let node = {
        let alive = alive.clone();
        move |_: Ctx| {
            let guard = alive.guard();
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .node("a", node.clone())
        .node("b", node)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let thread = graph.runner().thread("t");
    let mut stream = thread.run(Trip::update()).stream();
    for _ in 0..3 {
        stream.next().await.unwrap();
    }
    tokio::time::sleep(SECOND).await;
    assert_eq!(alive.count(), 2);
    drop(stream);
    tokio::time::sleep(SECOND).await;
    assert_eq!(alive.count(), 0);
    let ended = tokio::time::timeout(SECOND, thread.run(Trip::update()).stream().end()).await;
    assert!(ended.is_err());
    tokio::time::sleep(SECOND).await;
    assert_eq!(alive.count(), 0, "whoever waits for the end and gives up cancels too");
    let ended = tokio::time::timeout(SECOND, thread.run(Trip::update()).into_future()).await;
    assert!(ended.is_err(), "the thread is free again");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_cuts_off_a_reader_that_never_reads() {
    let graph = Graph::<Trip>::builder("g")
        .node("chat", |ctx: Ctx| async move {
            ctx.token("1").await;
            ctx.token("2").await;
            std::future::pending::<()>().await;
        })
        .edge(START, "chat")
        .compile()
        .unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update()).cancel_on(tokio::time::sleep(SECOND));
    let reader = turn.reader(tokens(2, Slow::Block));
    let begin = Instant::now();
    assert_eq!(turn.await.unwrap().status, Status::Cancelled);
    assert_eq!(begin.elapsed(), SECOND);
    let events: Vec<_> = reader.map(|event| event.kind.to_string()).collect().await;
    assert_eq!(events, ["started", "token \"1\""], "it was cut off, so there is no end");
}

#[tokio::test(start_paused = true)]
async fn nobody_observes_once_the_last_reader_left() {
    let node = |ctx: Ctx| async move {
        tokio::time::sleep(SECOND).await;
        Trip::update().log([ctx.is_observed().to_string()])
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    for (readers, observed) in [(1, "false"), (2, "true")] {
        let mut turn = graph.runner().thread("t").run(Trip::update());
        let mut leaves = turn.reader(StreamOptions::default());
        let stays = (readers == 2).then(|| turn.reader(StreamOptions::default()));
        let leave = async move {
            leaves.next().await.unwrap();
        };
        let (end, ()) = futures_util::future::join(turn.into_future(), leave).await;
        assert_eq!(end.unwrap().state.log, [observed]);
        drop(stays);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cancelled_by_a_signal_ends_properly() {
    let node = |_: Ctx| std::future::pending::<()>();
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let stream = graph.runner().thread("t").run(Trip::update()).cancel_on(tokio::time::sleep(SECOND)).stream();
    let events: Vec<_> = stream.map(|event| event.kind.to_string()).collect().await;
    assert_eq!(events, ["started", "start", "ended: cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_beside_a_stream_gets_the_same() {
    let mut turn = chatty().run(Trip::update());
    let beside = turn.reader(StreamOptions::default());
    let stream = turn.stream();
    let seqs = |events: Vec<graph_engine::Event<Trip>>| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let (one, two) = futures_util::future::join(stream.collect::<Vec<_>>(), beside.collect::<Vec<_>>()).await;
    assert_eq!(one.len(), 16);
    assert_eq!(seqs(one), seqs(two));
}

#[tokio::test]
async fn no_buffer_is_too_small_or_too_large() {
    for buffer in [0, usize::MAX] {
        let graph = Graph::<Trip>::builder("g").node("n", note("n")).edge(START, "n").compile().unwrap();
        let stream =
            graph.runner().thread("t").run(Trip::update()).stream_with(StreamOptions::default().buffer(buffer));
        assert_eq!(stream.count().await, 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_thread_refuses_a_stream() {
    let thread = chatty();
    let first = thread.run(Trip::update()).stream_with(StreamOptions::default().buffer(1));
    tokio::task::yield_now().await;
    let error = thread.run(Trip::update()).stream().end().await.unwrap_err();
    assert!(matches!(*error.error, RunError::Busy { .. }));
    first.end().await.unwrap();
}
