//! Turns that run away: each limit lets exactly its number pass and stops the next one with an error that names it.
//! What was done until then stays, and the thread can go on.

use std::future::ready;
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, after, note};
use graph_engine::{
    Builder, Command, Graph, In, MemoryStore, Next, Route, RunError, Runner, START, Snap, State, Status, Thread,
};
use tokio::time::Instant;

fn graph() -> Builder<Trip> {
    Graph::<Trip>::builder("g")
}

fn stored(builder: Builder<Trip>, limit: impl FnOnce(Runner<Trip>) -> Runner<Trip>) -> Thread<Trip> {
    limit(builder.compile().unwrap().runner().store(MemoryStore::new())).thread("t")
}

#[derive(Route)]
#[route(stay)]
enum Loop {
    Again,
    Done,
}

/// `again` so many times, then `done`.
fn loops(times: usize) -> Builder<Trip> {
    graph()
        .node("again", note("again"))
        .node("done", note("done"))
        .edge(START, "again")
        .route("again", move |trip: &Trip| if trip.log.len() < times { Loop::Again } else { Loop::Done })
}

#[tokio::test]
async fn exactly_so_many_super_steps_as_the_limit_says() {
    for limit in [2_u64, 3, 10, 250] {
        let times = usize::try_from(limit).unwrap() - 1;
        let at = stored(loops(times), |runner| runner.step_limit(limit));
        assert_eq!(at.run(Trip::update()).await.unwrap().status, Status::Done, "{limit}");
        let beyond = stored(loops(times + 1), |runner| runner.step_limit(limit));
        let error = beyond.run(Trip::update()).await.unwrap_err();
        assert!(matches!(*error.error, RunError::StepLimit { limit: l, step, .. } if l == limit && step == limit));
        assert_eq!(beyond.state().await.unwrap().state.log.len() as u64, limit, "the partial result is kept");
        assert_eq!(beyond.proceed().await.unwrap().state.log.last().unwrap(), "done");
    }
}

/// Stays so many times.
fn stays(times: usize) -> Builder<Trip> {
    let gate = move |trip: Snap<Trip>| {
        let next = if trip.log.len() < times { Command::stay(()) } else { Command::go(Loop::Done) };
        ready(next.with(Trip::update().log(["gate".to_owned()])))
    };
    graph()
        .cluster("c", "gate", |c| c.node("gate", gate))
        .node("again", note("again"))
        .node("done", note("done"))
        .edge(START, "gate")
}

#[tokio::test]
async fn exactly_so_many_stays_as_the_limit_says() {
    for limit in [0_u32, 1, 10, 40] {
        let times = limit as usize;
        let end = stored(stays(times), |runner| runner.stay_limit(limit)).run(Trip::update()).await.unwrap();
        assert_eq!(end.report.stays, u64::from(limit));
        let beyond = stored(stays(times + 1), |runner| runner.stay_limit(limit));
        let error = beyond.run(Trip::update()).await.unwrap_err();
        assert!(matches!(*error.error, RunError::StayLimit { limit: l, .. } if l == limit), "{error}");
        assert_eq!(beyond.state().await.unwrap().state.log.len(), times + 1, "the partial result is kept");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_shorter_than_its_deadline_ends_and_a_longer_one_is_cancelled_at_exactly_that_time() {
    let chain = || graph().node("a", after(600, "a")).node("b", after(400, "b")).edge(START, "a").edge("a", "b");
    for (limit, ends) in [(999, false), (1_001, true)] {
        for by_turn in [false, true] {
            let limit = Duration::from_millis(limit);
            let thread = stored(chain(), |runner| if by_turn { runner } else { runner.deadline(limit) });
            let turn = thread.run(Trip::update());
            let begin = Instant::now();
            let ended = if by_turn { turn.deadline(limit) } else { turn }.await;
            if ends {
                assert_eq!(ended.unwrap().status, Status::Done);
                continue;
            }
            let error = ended.unwrap_err();
            assert_eq!(begin.elapsed(), limit);
            let RunError::Deadline { step: 1, limit: told, pending, .. } = &*error.error else { panic!("{error}") };
            assert_eq!((*told, &pending[..]), (limit, &["b".into()][..]));
            assert_eq!(thread.state().await.unwrap().state.log, ["a"], "the partial result is kept");
            let proceed = if by_turn { thread.proceed().deadline(limit) } else { thread.proceed() };
            assert_eq!(proceed.await.unwrap().state.log, ["a", "b"], "with a new deadline");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_reaches_a_node_that_never_ends_and_a_wait_for_the_next_attempt() {
    let forever = graph().node("n", std::future::pending::<()>).edge(START, "n");
    let runs = Runs::new();
    let retry = graph_engine::Retry::fixed(100, Duration::from_secs(60));
    let again = graph().node("n", graph_engine::NodeExt::retry(runs.failing(99, "n"), retry)).edge(START, "n");
    for builder in [forever, again] {
        let begin = Instant::now();
        let error = stored(builder, |runner| runner.deadline(Duration::from_secs(5))).run(Trip::update()).await;
        assert!(matches!(*error.unwrap_err().error, RunError::Deadline { .. }));
        assert_eq!(begin.elapsed(), Duration::from_secs(5));
    }
    assert_eq!(runs.count("n"), 1);
}

#[derive(Route)]
enum Each {
    Each(u32),
}

async fn each(In(n): In<u32>) -> TripUpdate {
    Trip::update().log([n.to_string()])
}

#[tokio::test]
async fn exactly_so_many_sends_in_one_super_step_as_the_limit_says() {
    for limit in [1_usize, 7, 100] {
        // Half of them by a node, half by a router: together they are one super-step.
        let spread = |sent: usize| {
            let half = u32::try_from(sent / 2).unwrap();
            let rest = u32::try_from(sent).unwrap() - half;
            graph()
                .node("node", move || ready(Next::fan_out((0..half).map(Each::Each))))
                .node("routed", note("routed"))
                .node("each", each)
                .edge(START, "node")
                .edge(START, "routed")
                .route("routed", move |_: &Trip| Next::fan_out((0..rest).map(Each::Each)))
        };
        let end = stored(spread(limit), |runner| runner.fan_out_limit(limit)).run(Trip::update()).await.unwrap();
        assert_eq!(end.report.tasks as usize, limit + 2);
        let beyond = stored(spread(limit + 1), |runner| runner.fan_out_limit(limit));
        let error = beyond.run(Trip::update()).await.unwrap_err();
        let RunError::FanOutLimit { step: 0, sent, limit: told, .. } = &*error.error else { panic!("{error}") };
        assert_eq!((*sent, *told), (limit + 1, limit));
        assert_eq!(error.report.tasks, 2, "none of them runs");
        assert_eq!(beyond.state().await.unwrap().state.log, ["routed"], "the partial result is kept");
    }
}

#[tokio::test]
async fn ten_thousand_sends_pass_when_nobody_says_otherwise_and_one_more_does_not() {
    let spread = |sent: u32| {
        let send = move || ready(Next::fan_out((0..sent).map(Each::Each)));
        graph().node("send", send).node("each", each).edge(START, "send").compile().unwrap().runner().thread("t")
    };
    assert_eq!(spread(10_000).run(Trip::update()).await.unwrap().state.log.len(), 10_000);
    let error = spread(10_001).run(Trip::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::FanOutLimit { sent: 10_001, limit: 10_000, .. }), "{error}");
}

#[tokio::test]
async fn the_entry_of_a_graph_may_send_as_many_tasks_and_no_more() {
    let spread =
        |sent: u32| graph().node("each", each).route(START, move |_: &Trip| Next::fan_out((0..sent).map(Each::Each)));
    let limited = |sent: u32| stored(spread(sent), |runner| runner.fan_out_limit(5));
    assert_eq!(limited(5).run(Trip::update()).await.unwrap().state.log.len(), 5);
    let thread = limited(6);
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::FanOutLimit { sent: 6, limit: 5, .. }), "{error}");
    assert!(error.to_string().ends_with("nothing of the input was kept"), "{error}");
    assert_eq!(thread.state().await.unwrap().checkpoint, None, "nothing of the input is kept");
}

#[derive(State, Clone, Default)]
struct Text {
    text: String,
    #[state(append)]
    more: Vec<String>,
}

#[tokio::test]
async fn a_state_of_exactly_so_many_stored_bytes_as_the_limit_says() {
    let writes = |chars: usize| {
        let write = move || ready(Text::update().text("x".repeat(chars)));
        Graph::<Text>::builder("g").node("write", write).edge(START, "write").compile().unwrap().runner()
    };
    // A text is stored with its two quotes.
    for (chars, fits) in [(98, true), (99, false)] {
        let thread = writes(chars).store(MemoryStore::new()).state_limit(100).thread("t");
        let ended = thread.run(Text::update().text("begin")).await;
        if fits {
            assert_eq!(ended.unwrap().state.text.len(), chars);
            assert_eq!(thread.state().await.unwrap().state.text.len(), chars);
            continue;
        }
        let error = ended.unwrap_err();
        let RunError::StateLimit { bytes, limit, field, .. } = &*error.error else { panic!("{error}") };
        assert_eq!((*bytes, *limit, field.as_str()), (101, 100, "text"));
        assert_eq!(thread.state().await.unwrap().state.text, "begin", "the last checkpoint stands");
    }
}

#[tokio::test]
async fn a_state_that_grows_is_counted_as_a_whole_over_turns_and_after_a_restart() {
    let store = MemoryStore::new();
    let thread = || {
        let graph = Graph::<Text>::builder("g").node("n", || ready(())).edge(START, "n").compile().unwrap();
        graph.runner().store(store.clone()).state_limit(60).thread("t")
    };
    let mut stored = 0;
    let error = loop {
        // A runner of its own for every turn knows only what the store says.
        match thread().run(Text::update().more(["twelve chars".to_owned()])).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10, "nobody counts");
    };
    let RunError::StateLimit { bytes, field, .. } = &*error.error else { panic!("{error}") };
    assert!(*bytes > 60 && field == "more", "{error}");
    assert!((3..=4).contains(&stored), "{stored} items of 14 bytes and their brackets fit in 60");
    assert_eq!(thread().state().await.unwrap().state.more.len(), stored);
    // An overwrite makes room again.
    thread().run(Text::update().overwrite_more(Vec::<String>::new())).await.unwrap();
    thread().run(Text::update().more(["twelve chars".to_owned()])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_at_exactly_its_deadline_has_ended_in_time() {
    // As a node that is ready at exactly its timeout is not timed out.
    for millis in [1, 1_000] {
        let graph = graph().node("a", after(millis, "a")).edge(START, "a");
        let thread = stored(graph, |runner| runner.deadline(Duration::from_millis(millis)));
        let end = thread.run(Trip::update()).await.expect("it took no longer than it may");
        assert_eq!(end.status, Status::Done);
    }
}
