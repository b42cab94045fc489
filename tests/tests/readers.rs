//! E24: readers of some nodes or some events, readers that come late, and readers that are slow or leave.

use std::collections::BTreeMap;
use std::future::{IntoFuture, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{BoxNode, Runs, Times, Trip, TripUpdate, after, note};
use futures_util::StreamExt;
use graph_engine::{
    Ctx, Event, EventKind, Graph, MemoryStore, Mode, NodeError, NodeExt, Parallel, Retry, START, Slow, Snap,
    StreamOptions, TaskId, Thread,
};
use tokio::time::sleep;

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Emits a token and a value, waits 10 ms, and does so again.
fn chatty(name: &'static str) -> impl Fn(Ctx) -> BoxNode<Result<TripUpdate, NodeError>> + Clone {
    move |ctx: Ctx| {
        Box::pin(async move {
            for at in 0..2 {
                ctx.token(format!("{name}{at}")).await;
                ctx.emit(at).await?;
                sleep(millis(10)).await;
            }
            Ok(Trip::update().log([name.to_owned()]))
        })
    }
}

/// `a`, then `b` and `c` beside each other.
fn three(parallel: Parallel) -> Thread<Trip> {
    Graph::<Trip>::builder("g")
        .node("a", chatty("a"))
        .node("b", chatty("b"))
        .node("c", chatty("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .compile()
        .unwrap()
        .runner()
        .parallel(parallel)
        .thread("t")
}

fn told(events: &[Event<Trip>]) -> Vec<String> {
    events.iter().map(ToString::to_string).collect()
}

fn all() -> StreamOptions {
    StreamOptions::default().modes([
        Mode::Nodes,
        Mode::Updates,
        Mode::State,
        Mode::Custom,
        Mode::Tokens,
        Mode::Checkpoints,
    ])
}

#[tokio::test(start_paused = true)]
async fn a_filter_of_nodes_leaves_what_happens_in_them_and_in_none() {
    for parallel in BOTH {
        let mut turn = three(parallel).run(Trip::update());
        let reader = turn.reader(StreamOptions::default().nodes(["b"]));
        let tokens = turn.reader(StreamOptions::default().modes([Mode::Tokens]).nodes(["b", "a"]));
        let nobody = turn.reader(StreamOptions::default().nodes::<&str>([]));
        let end = turn.await.unwrap();
        assert_eq!(end.report.warnings, Vec::<String>::new());
        assert_eq!(
            told(&reader.collect::<Vec<_>>().await),
            [
                "0 started",
                "0 merged, next `b`, `c`",
                "1.0 b#1 start",
                "1.0 b#1 token \"b0\"",
                "1.0 b#1 custom 0",
                "1.0 b#1 token \"b1\"",
                "1.0 b#1 custom 1",
                "1.0 b#1 finish, wrote `log`",
                "1 merged",
                "2 ended: done"
            ],
            "{parallel:?}"
        );
        let said = told(&tokens.collect::<Vec<_>>().await);
        assert_eq!(said.len(), 6, "{said:?}");
        assert_eq!(told(&nobody.collect::<Vec<_>>().await).len(), 4, "beginning, two steps, end");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_node_in_a_filter_is_a_warning_and_the_reader_gets_the_others() {
    let mut turn = three(Parallel::Joined).run(Trip::update());
    let reader = turn.reader(StreamOptions::default().modes([Mode::Tokens]).nodes(["a", "nobody"]));
    let end = turn.await.unwrap();
    let warning = "a reader asks for events of node `nobody`, but the graph has none of that name";
    assert_eq!(end.report.warnings, [warning]);
    assert_eq!(reader.collect::<Vec<_>>().await.len(), 4);
    // Also in a turn that fails before it begins, and for a reader that comes late.
    let thread = three(Parallel::Joined);
    let running = tokio::spawn(thread.run(Trip::update()).into_future());
    sleep(millis(5)).await;
    let late = thread.subscribe(StreamOptions::default().nodes(["nobody"])).unwrap();
    let mut turn = thread.run(Trip::update());
    let _reader = turn.reader(StreamOptions::default().nodes(["nobody"]));
    assert_eq!(turn.await.unwrap_err().report.warnings, [warning], "the thread was busy");
    assert_eq!(running.await.unwrap().unwrap().report.warnings, [warning]);
    assert_eq!(told(&late.collect::<Vec<_>>().await).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn nobody_can_subscribe_before_a_turn_runs_or_after_it() {
    let thread = three(Parallel::Joined);
    let turn = thread.run(Trip::update());
    assert!(thread.subscribe(all()).is_none());
    turn.await.unwrap();
    assert!(thread.subscribe(all()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_late_reader_gets_everything_from_then_on() {
    for parallel in BOTH {
        for at in [1, 5, 10, 15, 19, 21, 25, 39] {
            let thread = three(parallel);
            let mut turn = thread.run(Trip::update());
            let early = turn.reader(StreamOptions::default());
            let running = tokio::spawn(turn.into_future());
            sleep(millis(at)).await;
            let late = thread.subscribe(StreamOptions::default()).expect("it runs");
            running.await.unwrap().unwrap();
            let (early, late) = (early.collect::<Vec<_>>().await, late.collect::<Vec<_>>().await);
            // The early reader was there from the beginning, so the numbers of events are exact for both.
            let rest = &told(&early)[early.len() - late.len()..];
            assert_eq!(told(&late), rest, "{at} {parallel:?}");
            assert!(late.len() < early.len() && late.len() > 1);
            let seq: Vec<_> = late.iter().map(|event| event.seq).collect();
            assert!(seq.is_sorted());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn events_of_attempts_that_nobody_read_at_first_have_rising_indices() {
    for parallel in BOTH {
        for at in 1..40 {
            let thread = three(parallel);
            let running = tokio::spawn(thread.run(Trip::update()).into_future());
            sleep(millis(at)).await;
            let Some(late) = thread.subscribe(all()) else { panic!("{at}: it runs") };
            running.await.unwrap().unwrap();
            let mut last: BTreeMap<TaskId, (u32, u32)> = BTreeMap::new();
            let events = late.collect::<Vec<_>>().await;
            for event in &events {
                let Some(task) = event.task else { continue };
                let now = (event.attempt, event.index);
                let before = last.insert(task, now);
                assert!(before.is_none_or(|before| before < now), "{at} {parallel:?}: {event} {before:?} {now:?}");
            }
            assert_eq!(events.last().unwrap().kind.to_string(), "ended: done", "{at}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_reader_is_told_of_a_discarded_attempt_only_if_it_had_emitted() {
    for parallel in BOTH {
        let runs = Runs::new();
        // `loud` emits after 20 ms and fails, `quiet` fails without a word.
        let loud = {
            let runs = runs.clone();
            move |ctx: Ctx| {
                let run = runs.hit("loud");
                async move {
                    sleep(millis(20)).await;
                    if run == 0 {
                        ctx.token("hel").await;
                        return Err("no");
                    }
                    Ok(())
                }
            }
        };
        let quiet = {
            let runs = runs.clone();
            move || {
                let run = runs.hit("quiet");
                async move {
                    sleep(millis(25)).await;
                    if run == 0 { Err("no") } else { Ok(()) }
                }
            }
        };
        let retry = || Retry::fixed(2, Duration::ZERO);
        let graph = Graph::<Trip>::builder("g")
            .node("loud", loud.retry(retry()))
            .node("quiet", quiet.retry(retry()))
            .edge(START, "loud")
            .edge(START, "quiet")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).thread("t");
        let running = tokio::spawn(thread.run(Trip::update()).into_future());
        sleep(millis(10)).await;
        let late = thread.subscribe(StreamOptions::default()).unwrap();
        running.await.unwrap().unwrap();
        let discarded: Vec<_> = late
            .collect::<Vec<_>>()
            .await
            .iter()
            .filter(|event| matches!(event.kind, EventKind::AttemptDiscarded))
            .map(|event| event.node.clone().unwrap().to_string())
            .collect();
        assert_eq!(discarded, ["loud"], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn readers_that_come_and_go_never_hold_the_turn_up() {
    for parallel in BOTH {
        let times = Times::new();
        let thread = three(parallel);
        let running = tokio::spawn(thread.run(Trip::update()).into_future());
        sleep(millis(5)).await;
        for _ in 0..20 {
            // Dropped unread, with room for one event.
            drop(thread.subscribe(all().buffer(1)));
        }
        let kept = thread.subscribe(all()).unwrap();
        sleep(millis(10)).await;
        drop(thread.subscribe(all().buffer(1).slow(Slow::Block)));
        let end = running.await.unwrap().unwrap();
        assert_eq!((times.now(), end.state.log.len()), (40, 3));
        assert!(kept.collect::<Vec<_>>().await.len() > 10);
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_readers_of_whole_states_cost_no_copies() {
    let thread = three(Parallel::Joined);
    let mut turn = thread.run(Trip::update());
    drop(turn.reader(all()));
    let running = tokio::spawn(turn.into_future());
    sleep(millis(5)).await;
    drop(thread.subscribe(all()));
    let end = running.await.unwrap().unwrap();
    assert_eq!(end.report.copies, 0);
}

#[tokio::test(start_paused = true)]
async fn one_may_subscribe_while_a_slow_reader_blocks_the_turn() {
    for parallel in BOTH {
        let thread = three(parallel);
        let mut turn = thread.run(Trip::update());
        let slow = turn.reader(StreamOptions::default().buffer(1).slow(Slow::Block));
        let running = tokio::spawn(turn.into_future());
        sleep(millis(500)).await;
        assert!(!running.is_finished(), "the reader has room for one event and reads none");
        let late = thread.subscribe(StreamOptions::default()).expect("it runs");
        let (slow, late, end) =
            tokio::join!(slow.collect::<Vec<_>>(), late.collect::<Vec<_>>(), async { running.await.unwrap() });
        end.unwrap();
        assert_eq!(told(&slow).len(), 1 + 3 * 6 + 2 + 1);
        // The event that waited for room went only to those who were there.
        assert_eq!(told(&late), told(&slow)[2..], "{parallel:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_reader_gets_what_its_own_modes_say() {
    for parallel in BOTH {
        let graph = Graph::<Trip>::builder("g")
            .node("a", chatty("a"))
            .node("b", note("b"))
            .edge(START, "a")
            .edge("a", "b")
            .compile()
            .unwrap();
        let thread = graph.runner().parallel(parallel).store(MemoryStore::new()).thread("t");
        let mut turn = thread.run(Trip::update());
        let mut reader = |mode| turn.reader(StreamOptions::default().modes([mode]));
        let (nodes, updates, state) = (reader(Mode::Nodes), reader(Mode::Updates), reader(Mode::State));
        let (custom, tokens, checkpoints) = (reader(Mode::Custom), reader(Mode::Tokens), reader(Mode::Checkpoints));
        turn.await.unwrap();
        let kinds = async |reader: graph_engine::EventReader<Trip>| reader.collect::<Vec<_>>().await;
        let (nodes, updates, state) = (kinds(nodes).await, kinds(updates).await, kinds(state).await);
        let finished = |events: &[Event<Trip>]| -> Vec<bool> {
            let updates = events.iter().filter_map(|event| match &event.kind {
                EventKind::NodeFinished { update, .. } => Some(update.is_some()),
                _ => None,
            });
            updates.collect()
        };
        assert_eq!((finished(&nodes), finished(&updates)), (vec![false; 2], vec![true; 2]));
        let states = |events: &[Event<Trip>]| -> Vec<Option<usize>> {
            let states = events.iter().filter_map(|event| match &event.kind {
                EventKind::StepFinished { state, .. } => Some(state.as_ref().map(|state| state.log.len())),
                _ => None,
            });
            states.collect()
        };
        assert_eq!((states(&nodes), states(&state)), (vec![None; 2], vec![Some(1), Some(2)]));
        let shown = |events: Vec<Event<Trip>>| events.iter().map(|e| e.kind.to_string()).collect::<Vec<_>>();
        assert_eq!(shown(kinds(custom).await), ["started", "custom 0", "custom 1", "ended: done"]);
        assert_eq!(shown(kinds(tokens).await), ["started", "token \"a0\"", "token \"a1\"", "ended: done"]);
        assert_eq!(
            shown(kinds(checkpoints).await),
            ["started", "checkpoint", "checkpoint", "checkpoint", "ended: done"]
        );
        assert!(shown(state).contains(&"input merged, next `a`".to_owned()));
        assert!(!shown(nodes).iter().any(|kind| kind.starts_with("input merged")));
    }
}

#[tokio::test(start_paused = true)]
async fn the_merged_input_is_told_with_the_state_that_it_made_once_a_turn() {
    let graph = Graph::<Trip>::builder("g").node("a", note("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    for (turn, before) in [(0_u64, 0), (1, 2)] {
        let mut turn_ = thread.run(Trip::update().log(["in".to_owned()]).city(format!("city {turn}")));
        let reader = turn_.reader(StreamOptions::default().modes([Mode::State]));
        turn_.await.unwrap();
        let events = reader.collect::<Vec<_>>().await;
        let merged: Vec<_> = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::InputMerged { next, state } => Some((next.clone(), state.clone().unwrap(), event.step)),
                _ => None,
            })
            .collect();
        let [(next, state, step)] = &merged[..] else { panic!("once") };
        assert_eq!((&**next, *step, state.log.len()), (&["a".into()][..], turn, before + 1));
        assert_eq!(&*state.city, format!("city {turn}"));
    }
    // A refused input was not merged; what proceeds has none.
    let mut turn = thread.run(Trip::update().total(13));
    let reader = turn.reader(StreamOptions::default().modes([Mode::State]));
    turn.await.unwrap_err();
    let events = told(&reader.collect::<Vec<_>>().await);
    assert_eq!(events.len(), 2, "{events:?}");
    let turn = thread.run(Trip::update());
    turn.control().drain();
    turn.await.unwrap();
    let mut turn = thread.proceed();
    let reader = turn.reader(StreamOptions::default().modes([Mode::State]));
    turn.await.unwrap();
    assert!(!told(&reader.collect::<Vec<_>>().await).iter().any(|event| event.contains("input")));
}

#[tokio::test(start_paused = true)]
async fn typed_tokens_say_which_pieces_count_for_nothing() {
    for parallel in BOTH {
        let runs = Runs::new();
        let speak = {
            let runs = runs.clone();
            move |ctx: Ctx| {
                let run = runs.hit("n");
                async move {
                    ctx.token("Hel").await;
                    ctx.emit("no token").await?;
                    if run == 0 {
                        return Err(NodeError::retryable("lost"));
                    }
                    ctx.token("lo").await;
                    Ok(())
                }
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .node("n", speak.retry(Retry::fixed(2, millis(1))))
            .edge(START, "n")
            .compile()
            .unwrap();
        let mut turn = graph.runner().parallel(parallel).thread("t").run(Trip::update());
        let tokens = turn.tokens(16);
        turn.await.unwrap();
        let pieces = tokens.collect::<Vec<_>>().await;
        let shown: Vec<_> = pieces.iter().map(|p| (p.attempt, p.text.as_deref(), p.is_discarded())).collect();
        assert_eq!(shown, [(1, Some("Hel"), false), (1, None, true), (2, Some("Hel"), false), (2, Some("lo"), false)]);
        assert!(pieces.iter().all(|piece| piece.node == "n" && piece.task == TaskId::default()));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_readers_of_every_policy_beside_each_other_each_get_their_due() {
    for parallel in BOTH {
        let chat = |ctx: Ctx| async move {
            for at in 0..10 {
                ctx.token(at.to_string()).await;
            }
            ctx.emit("value").await
        };
        let graph = Graph::<Trip>::builder("g").node("chat", chat).edge(START, "chat").compile().unwrap();
        let mut turn = graph.runner().parallel(parallel).thread("t").run(Trip::update());
        let options = |slow| StreamOptions::default().modes([Mode::Tokens, Mode::Custom]).buffer(3).slow(slow);
        let (block, drop_tokens) = (turn.reader(options(Slow::Block)), turn.reader(options(Slow::DropTokens)));
        let disconnect = turn.reader(options(Slow::Disconnect));
        let slowly = |reader: graph_engine::EventReader<Trip>| {
            reader.then(|event| async move {
                sleep(millis(1_000)).await;
                event.kind.to_string()
            })
        };
        let begin = Times::new();
        let (end, block, dropped, cut) = tokio::join!(
            turn.into_future(),
            slowly(block).collect::<Vec<_>>(),
            slowly(drop_tokens).collect::<Vec<_>>(),
            slowly(disconnect).collect::<Vec<_>>()
        );
        end.unwrap();
        assert_eq!(block.len(), 13);
        assert_eq!((&*block[12], &*dropped[dropped.len() - 1]), ("ended: done", "ended: done"));
        assert!(dropped.contains(&"custom \"value\"".to_owned()));
        // The turn goes at the pace of the blocking reader, which is slow enough for the others.
        assert!(cut.len() >= 3 && cut.len() <= 13, "{cut:?}");
        assert_eq!(begin.now(), 13_000);
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_sees_whether_it_is_observed() {
    let seen: Arc<Mutex<Vec<bool>>> = Arc::default();
    let node = {
        let seen = seen.clone();
        move |ctx: Ctx| {
            let seen = seen.clone();
            async move {
                for _ in 0..4 {
                    seen.lock().unwrap().push(ctx.is_observed());
                    sleep(millis(10)).await;
                }
            }
        }
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let thread = graph.runner().thread("t");
    let running = tokio::spawn(thread.run(Trip::update()).into_future());
    sleep(millis(5)).await;
    let late = thread.subscribe(all());
    sleep(millis(20)).await;
    drop(late);
    running.await.unwrap().unwrap();
    assert_eq!(*seen.lock().unwrap(), [false, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn work_that_a_node_left_behind_tells_nothing_after_the_end() {
    for parallel in BOTH {
        let node = |ctx: Ctx| {
            tokio::spawn(async move {
                sleep(millis(5)).await;
                ctx.token("in time").await;
                sleep(millis(50)).await;
                ctx.token("too late").await;
            });
            ready(())
        };
        let graph = Graph::<Trip>::builder("g")
            .node("n", node)
            .node("then", after(20, "then"))
            .edge(START, "n")
            .edge("n", "then")
            .compile()
            .unwrap();
        let mut turn = graph.runner().parallel(parallel).thread("t").run(Trip::update());
        let tokens = turn.tokens(16);
        turn.await.unwrap();
        sleep(millis(100)).await;
        let said: Vec<_> = tokens.map(|piece| piece.text.unwrap()).collect().await;
        assert_eq!(said, ["in time"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_that_is_kept_keeps_no_stream_open() {
    let kept: Arc<Mutex<Vec<Snap<Trip>>>> = Arc::default();
    let node = {
        let kept = kept.clone();
        move |trip: Snap<Trip>| {
            kept.lock().unwrap().push(trip);
            ready(())
        }
    };
    let graph = Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap();
    let mut turn = graph.runner().thread("t").run(Trip::update());
    let reader = turn.reader(all());
    turn.await.unwrap();
    let events = tokio::time::timeout(millis(1_000), reader.collect::<Vec<_>>()).await.expect("it ends");
    assert_eq!(events.last().unwrap().kind.to_string(), "ended: done");
    assert_eq!(kept.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn two_threads_are_subscribed_apart() {
    let runner = {
        let graph = Graph::<Trip>::builder("g").node("n", chatty("n")).edge(START, "n").compile().unwrap();
        graph.runner()
    };
    let (one, two) = (runner.thread("one"), runner.thread("two"));
    let first = tokio::spawn(one.run(Trip::update()).into_future());
    sleep(millis(5)).await;
    assert!(two.subscribe(all()).is_none());
    let second = tokio::spawn(two.run(Trip::update()).into_future());
    sleep(millis(5)).await;
    let (a, b) = (one.subscribe(all()).unwrap(), two.subscribe(all()).unwrap());
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    let turns = |events: Vec<Event<Trip>>| {
        let mut turns: Vec<_> = events.iter().map(|event| event.turn.to_string()).collect();
        turns.dedup();
        turns
    };
    let (a, b) = (turns(a.collect().await), turns(b.collect().await));
    assert!(a.len() == 1 && b.len() == 1 && a != b, "{a:?} {b:?}");
}
