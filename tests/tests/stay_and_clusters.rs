//! E9 and E10: a stay begins again at the entry of the innermost cluster, counts since that was entered, and brings
//! its feedback along.

use std::future::ready;

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{
    Command, Ctx, Graph, In, MemoryStore, Next, NodeError, NodeExt, Retry, Route, RunError, START, Snap,
};

#[derive(Route)]
#[route(stay)]
enum Gate {
    Done,
}

/// `done` notes the end.
fn base() -> graph_engine::Builder<Trip> {
    Graph::<Trip>::builder("g").node("done", note("done"))
}

/// Stays until it ran so often, then goes to `done`.
fn stays(
    runs: &Runs,
    times: usize,
    name: &'static str,
) -> impl Fn() -> std::future::Ready<Command<Trip, Gate>> + use<> {
    let runs = runs.clone();
    move || {
        let run = runs.hit(name);
        let next = if run < times { Command::stay(format!("{name} {run}")) } else { Command::go(Gate::Done) };
        ready(next.with(Trip::update().log([name.to_owned()])))
    }
}

async fn hear(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    let heard = ctx.feedbacks::<String>().collect::<Result<Vec<_>, _>>()?;
    Ok(Trip::update().log([format!("hear {heard:?}")]))
}

#[tokio::test]
async fn a_stay_runs_the_entry_of_the_cluster_with_the_feedback() {
    let runs = Runs::new();
    let graph = base()
        .cluster("c", "hear", |c| c.node("hear", hear).node("gate", stays(&runs, 2, "gate")).edge("hear", "gate"))
        .edge(START, "hear")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["hear []", "gate", "hear [\"gate 0\"]", "gate", "hear [\"gate 1\"]", "gate", "done"]);
    assert_eq!((end.report.stays, end.report.steps), (2, 7));
}

#[tokio::test]
async fn in_nested_clusters_the_innermost_counts() {
    let (inner, outer) = (Runs::new(), Runs::new());
    let graph = base()
        .cluster("outer", "first", |c| {
            c.node("first", note("first"))
                .cluster("inner", "hear", |c| {
                    c.node("hear", hear).node("check", stays_then_declared(&inner, 1)).edge("hear", "check")
                })
                .node("gate", stays(&outer, 1, "gate"))
                .edge("first", "hear")
                .edge("check", "gate")
        })
        .edge(START, "first")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    let round = ["first", "hear []", "check", "hear [\"again\"]", "check", "gate"];
    let again = ["first", "hear []", "check", "gate", "done"];
    assert_eq!(end.state.log, [&round[..], &again[..]].concat());
}

#[derive(Route)]
#[route(stay)]
enum Again {}

/// Stays the first times, then follows the declared edges.
fn stays_then_declared(runs: &Runs, times: usize) -> impl Fn() -> std::future::Ready<Command<Trip, Again>> + use<> {
    let runs = runs.clone();
    move || {
        let next = if runs.hit("check") < times { Command::stay("again") } else { Command::declared() };
        ready(next.with(Trip::update().log(["check".to_owned()])))
    }
}

#[derive(Route)]
enum Each {
    Each(u32),
}

async fn stubborn(In(item): In<u32>, ctx: Ctx) -> Result<Command<Trip, Again>, NodeError> {
    let round: Option<u32> = ctx.feedback()?;
    let update = Trip::update().log([format!("{item}:{}", round.unwrap_or(0))]);
    let again = round.unwrap_or(0) < *item;
    Ok(if again { Command::stay(round.unwrap_or(0) + 1) } else { Command::declared() }.with(update))
}

#[tokio::test]
async fn without_a_cluster_the_same_task_runs_again_with_its_payload() {
    let graph = Graph::<Trip>::builder("g")
        .node("each", stubborn)
        .route(START, |_: &Trip| Next::fan_out([2, 0, 1].map(Each::Each)))
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["2:0", "0:0", "1:0", "2:1", "1:1", "2:2"]);
    assert_eq!((end.report.stays, end.report.steps), (3, 3));
}

#[tokio::test]
async fn a_payload_survives_a_stay_through_a_store() {
    let graph = Graph::<Trip>::builder("g")
        .node("each", stubborn)
        .route(START, |_: &Trip| Next::fan_out([2, 0, 1].map(Each::Each)))
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    thread.proceed().await.unwrap_err();
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log, ["2:0", "0:0", "1:0", "2:1", "1:1", "2:2"]);
}

#[tokio::test]
async fn a_router_may_stay_and_every_task_of_its_node_runs_again() {
    #[derive(Route)]
    #[route(stay)]
    enum Or {
        Done,
    }
    async fn each(In(item): In<u32>) -> TripUpdate {
        Trip::update().log([item.to_string()])
    }
    let graph = base()
        .node("each", each)
        .route(START, |_: &Trip| Next::fan_out([1, 2, 3].map(Each::Each)))
        .route("each", |trip: &Trip| if trip.log.len() < 4 { Next::stay(()) } else { Next::go(Or::Done) })
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["1", "2", "3", "1", "2", "3", "done"]);
}

#[tokio::test]
async fn a_router_of_a_cluster_stays_at_its_entry() {
    #[derive(Route)]
    #[route(stay)]
    enum Or {
        Done,
    }
    let graph = base()
        .cluster("c", "hear", |c| c.node("hear", hear).node("gate", note("gate")).edge("hear", "gate"))
        .edge(START, "hear")
        .route("gate", |trip: &Trip| if trip.log.len() < 3 { Next::stay("why") } else { Next::go(Or::Done) })
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["hear []", "gate", "hear [\"why\"]", "gate", "done"]);
}

#[tokio::test]
async fn several_stays_of_one_step_run_the_entry_once_with_all_feedback_in_task_order_and_count_once() {
    let runs = Runs::new();
    let graph = base()
        .cluster("c", "hear", |c| {
            c.node("hear", hear)
                .node("b", stays(&runs, 1, "b"))
                .node("a", stays(&runs, 1, "a"))
                .edge("hear", "a")
                .edge("hear", "b")
        })
        .edge(START, "hear")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["hear []", "a", "b", "hear [\"a 0\", \"b 0\"]", "a", "b", "done"]);
    assert_eq!(end.report.stays, 1);
}

/// Stays so often in a cluster or alone, with a limit.
async fn limited(times: usize, clustered: bool, limit: Option<u32>) -> Result<u64, RunError> {
    let runs = Runs::new();
    let graph = if clustered {
        base().cluster("c", "gate", |c| c.node("gate", stays(&runs, times, "gate")))
    } else {
        base().node("gate", stays(&runs, times, "gate"))
    };
    let runner = graph.edge(START, "gate").compile().unwrap().runner();
    let runner = match limit {
        Some(limit) => runner.stay_limit(limit),
        None => runner,
    };
    let ended = runner.thread("t").run(Trip::update()).await;
    ended.map(|end| end.report.stays).map_err(|failed| *failed.error)
}

#[tokio::test]
async fn ten_stays_pass_and_the_eleventh_fails() {
    for clustered in [true, false] {
        assert_eq!(limited(10, clustered, None).await.unwrap(), 10);
        let error = limited(11, clustered, None).await.unwrap_err();
        let since = if clustered { "cluster `c`" } else { "it" };
        assert_eq!(
            error.to_string(),
            format!(
                "thread `t`, super-step 10: `gate` stayed more than 10 times since {since} was entered; raise the \
                 limit with `Runner::stay_limit`"
            )
        );
    }
}

#[tokio::test]
async fn the_limit_of_stays_can_be_set() {
    for clustered in [true, false] {
        assert_eq!(limited(2, clustered, Some(2)).await.unwrap(), 2);
        assert!(matches!(limited(3, clustered, Some(2)).await, Err(RunError::StayLimit { limit: 2, step: 2, .. })));
        assert_eq!(limited(0, clustered, Some(0)).await.unwrap(), 0);
        assert!(matches!(limited(1, clustered, Some(0)).await, Err(RunError::StayLimit { limit: 0, step: 0, .. })));
        assert_eq!(limited(50, clustered, Some(50)).await.unwrap(), 50);
    }
}

#[tokio::test]
async fn proceeding_after_the_limit_begins_a_new_count_and_loses_no_update() {
    for clustered in [true, false] {
        let runs = Runs::new();
        let graph = if clustered {
            base().cluster("c", "gate", |c| c.node("gate", stays(&runs, 5, "gate")))
        } else {
            base().node("gate", stays(&runs, 5, "gate"))
        };
        let runner = graph.edge(START, "gate").compile().unwrap().runner().stay_limit(2).store(MemoryStore::new());
        let thread = runner.thread("t");
        let error = thread.run(Trip::update()).await.unwrap_err();
        assert!(matches!(*error.error, RunError::StayLimit { step: 2, .. }), "{error}");
        assert_eq!(error.report.stays, 2);
        assert_eq!(thread.state().await.unwrap().state.log, ["gate"; 3]);
        let error = thread.proceed().await.unwrap_err();
        assert!(matches!(*error.error, RunError::StayLimit { step: 4, .. }), "{error}");
        let end = thread.proceed().await.unwrap();
        assert_eq!(end.state.log, ["gate", "gate", "gate", "gate", "gate", "gate", "done"]);
        assert_eq!(runs.count("gate"), 6);
    }
}

#[derive(Route)]
#[route(stay)]
enum Ring {
    Outside,
    Done,
}

#[tokio::test]
async fn leaving_and_entering_a_cluster_begins_a_new_count() {
    let runs = Runs::new();
    let gate = {
        let runs = runs.clone();
        move || {
            ready(match runs.hit("gate") {
                2 | 5 => Next::go(Ring::Outside),
                8 => Next::go(Ring::Done),
                run => Next::stay(run),
            })
        }
    };
    let graph = base()
        .cluster("c", "gate", |c| c.node("gate", gate))
        .node("outside", note("outside"))
        .edge(START, "gate")
        .edge("outside", "gate")
        .compile()
        .unwrap();
    let end = graph.runner().stay_limit(2).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["outside", "outside", "done"]);
    assert_eq!(end.report.stays, 6);
}

#[tokio::test]
async fn moving_inside_a_cluster_keeps_the_count() {
    let runs = Runs::new();
    let graph = base()
        .cluster("c", "a", |c| c.node("a", note("a")).node("gate", stays(&runs, 3, "gate")).edge("a", "gate"))
        .edge(START, "a")
        .compile()
        .unwrap();
    let error = graph.runner().stay_limit(2).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*error.error, RunError::StayLimit { .. }), "{error}");
}

#[tokio::test]
async fn an_outer_stay_enters_an_inner_cluster_anew() {
    let (inner, outer) = (Runs::new(), Runs::new());
    let check = {
        let runs = inner.clone();
        move || {
            // Two stays in every round.
            let next = if runs.hit("check") % 3 < 2 { Command::stay("again") } else { Command::declared() };
            ready::<Command<Trip, Again>>(next)
        }
    };
    let graph = base()
        .cluster("outer", "check", |c| {
            c.cluster("inner", "check", |c| c.node("check", check))
                .node("gate", stays(&outer, 2, "gate"))
                .edge("check", "gate")
        })
        .edge(START, "check")
        .compile()
        .unwrap();
    let end = graph.runner().stay_limit(2).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((inner.count("check"), outer.count("gate")), (9, 3));
    assert_eq!(end.report.stays, 8);
}

#[tokio::test]
async fn a_new_turn_begins_a_new_count() {
    let graph = base().cluster("c", "gate", |c| c.node("gate", two_of_three())).edge(START, "gate").compile().unwrap();
    let thread = graph.runner().stay_limit(2).store(MemoryStore::new()).thread("t");
    for _ in 0..3 {
        assert_eq!(thread.run(Trip::update()).await.unwrap().report.stays, 2);
    }
}

fn two_of_three() -> impl Fn() -> std::future::Ready<Next<Gate>> {
    let runs = Runs::new();
    move || ready(if runs.hit("gate") % 3 < 2 { Next::stay(()) } else { Next::go(Gate::Done) })
}

#[tokio::test]
async fn the_count_of_stays_survives_a_store() {
    let runs = Runs::new();
    let graph = base().cluster("c", "gate", |c| c.node("gate", stays(&runs, 9, "gate"))).edge(START, "gate");
    let thread = graph.compile().unwrap().runner().stay_limit(9).store(MemoryStore::new()).thread("t");
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!((end.report.stays, end.state.log.len()), (9, 11));
}

#[tokio::test(start_paused = true)]
async fn attempts_stays_and_steps_are_counted_apart() {
    let runs = Runs::new();
    let gate = {
        let runs = runs.clone();
        move |ctx: Ctx, trip: Snap<Trip>| {
            // Every second attempt fails; three tasks stay.
            let attempt = ctx.attempt();
            let stayed = trip.log.len();
            runs.hit("gate");
            ready(match attempt {
                1 => Err(NodeError::from("flaky")),
                _ if stayed < 3 => {
                    Ok(Command::<Trip, Gate>::stay("more").with(Trip::update().log([attempt.to_string()])))
                }
                _ => Ok(Command::go(Gate::Done)),
            })
        }
    };
    let gate = gate.retry(Retry::fixed(2, std::time::Duration::from_secs(1)));
    let graph = base().node("gate", gate).edge(START, "gate").compile().unwrap();
    let end = graph.runner().stay_limit(3).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["2", "2", "2", "done"], "a stay begins again at attempt 1");
    let report = &end.report;
    assert_eq!((report.steps, report.tasks, report.attempts, report.stays), (5, 5, 9, 3));
}

#[tokio::test]
async fn feedback_of_another_type_is_a_fatal_failure_that_says_so() {
    async fn wants_number(ctx: Ctx) -> Result<Command<Trip, Again>, NodeError> {
        let _: Option<u32> = ctx.feedback()?;
        Ok(Command::stay("text"))
    }
    let graph = Graph::<Trip>::builder("g").node("n", wants_number).edge(START, "n").compile().unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`n` (task 1.0) failed after 1 attempt: the feedback has not the type `u32`: invalid type: string \"text\", \
         expected u32; read it as the type that `stay` was given"
    );
    assert!(error.failures()[0].kind == graph_engine::FaultKind::Fatal);
}
