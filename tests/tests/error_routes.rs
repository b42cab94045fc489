//! E15: a failed task with an error route counts as finished without update and edges, and its handler runs next.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviour_tests::{Runs, TestStore, Times, Trip, TripUpdate, note};
use graph_engine::testing::Shuffled;
use graph_engine::{
    Builder, Command, END, FailedTask, FaultKind, Graph, In, IntoNode, MemoryStore, Next, NodeDefaults, NodeError,
    NodeExt, NodeSpec, Outcome, Parallel, Retry, Route, RunError, Runner, START, Siblings, Snap, TaskId,
};

const BOTH: [Parallel; 2] = [Parallel::Joined, Parallel::Spawned];

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Notes what it takes over, in the log.
fn takes_over(In(failed): In<FailedTask>) -> impl Future<Output = TripUpdate> {
    let FailedTask { node, task, attempts, kind, message, .. } = &*failed;
    ready(Trip::update().log([format!("{node} {task} {attempts} {kind:?}: {message}")]))
}

/// One node that fails, and one that takes over.
fn one(node: NodeSpec<Trip>) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("n", node.on_error("sorry"))
        .node("sorry", takes_over)
        .edge(START, "n")
        .compile()
        .unwrap()
}

fn fails() -> impl Future<Output = Result<(), NodeError>> {
    ready(Err(NodeError::fatal("broken")))
}

#[tokio::test(start_paused = true)]
async fn the_handler_learns_who_failed_how_often_and_why() {
    let end = one(fails.into_node()).runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["n 0.0 1 Fatal: broken"]);
    assert_eq!((end.report.rescued, end.report.steps, end.report.tasks, end.report.attempts), (1, 2, 2, 2));
    assert_eq!(end.report.pending, Vec::<graph_engine::Name>::new());
    assert!(end.report.to_string().contains("1 taken over by error routes"), "{}", end.report);
}

#[tokio::test(start_paused = true)]
async fn it_takes_over_only_after_the_last_attempt() {
    let (runs, times) = (Runs::new(), Times::new());
    let graph = one(runs.failing(9, "n").retry(Retry::fixed(3, millis(100))));
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["n 0.0 3 Retryable: no luck at run 2"]);
    assert_eq!((times.now(), end.report.attempts, end.report.rescued), (200, 4, 1));
    let runs = Runs::new();
    let graph = one(runs.failing(2, "n").retry(Retry::fixed(3, millis(100))));
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&end.state.log, end.report.rescued), (&vec!["n".to_owned()], 0));
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_failure_is_taken_over() {
    let panics = || async {
        tokio::task::yield_now().await;
        assert_eq!(1, 2, "one is not two");
    };
    let slow = || tokio::time::sleep(millis(500));
    let undeclared = || ready(Trip::update().city("Oslo"));
    struct Astray;
    #[graph_engine::async_trait]
    impl graph_engine::Node<Trip> for Astray {
        async fn run(&self, _: &graph_engine::Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
            Ok(Outcome::of(Trip::update().city("Oslo")).go("sorry"))
        }
    }
    let cases: [(NodeSpec<Trip>, &str); 6] = [
        (panics.into_node(), "n 0.0 1 Panicked: it panicked: assertion `left == right` failed: one is not two"),
        (slow.timeout(millis(100)), "n 0.0 1 TimedOut: it ran longer than its timeout of 100ms; raise"),
        (slow.idle_timeout(millis(100)), "n 0.0 1 Idle: it was silent for 100ms; emit"),
        (undeclared.writes(Trip::LOG), "n 0.0 1 Fatal: it wrote field `city`, which it doesn't declare"),
        (Astray.into_node(), "n 0.0 1 Fatal: it goes to `sorry`, which it doesn't declare"),
        (fails.retry(Retry::fixed(5, millis(1))), "n 0.0 1 Fatal: broken"),
    ];
    for (node, said) in cases {
        let end = one(node).runner().thread("t").run(Trip::update()).await.unwrap();
        assert_eq!((end.state.log.len(), &*end.state.city, end.report.rescued), (1, "", 1), "{said}");
        assert!(end.state.log[0].starts_with(said), "{}", end.state.log[0]);
    }
}

#[derive(Route)]
enum Each {
    Work(u32),
}

/// `split` sends 0 to 4 to `work`, which fails for odd ones.
fn odd_ones_fail(runs: &Runs) -> Builder<Trip> {
    let runs = runs.clone();
    let work = move |In(n): In<u32>| {
        runs.hit(&n.to_string());
        ready(if *n % 2 == 1 { Err(format!("{n} is odd")) } else { Ok(Trip::update().log([n.to_string()])) })
    };
    let split = || ready(Command::<Trip, Each>::fan_out([0, 1, 2, 3, 4].map(Each::Work)));
    Graph::<Trip>::builder("g")
        .node("split", split)
        .node("work", work.on_error("sorry"))
        .node("after", note("after"))
        .edge(START, "split")
        .edge("work", "after")
}

#[tokio::test(start_paused = true)]
async fn several_failures_are_several_handler_tasks_in_task_order_with_their_payloads() {
    let sorry = |In(failed): In<FailedTask>| {
        let payload = failed.payload::<u32>().unwrap().unwrap();
        ready(Trip::update().log([format!("sorry for {payload} of {}", failed.task)]))
    };
    for parallel in BOTH {
        let graph = odd_ones_fail(&Runs::new()).node("sorry", sorry).compile().unwrap();
        for runner in
            [graph.runner(), graph.runner().store(MemoryStore::new()), graph.runner().store(TestStore::lasting())]
        {
            let end = runner.parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
            assert_eq!(
                end.state.log,
                ["0", "2", "4", "after", "sorry for 1 of 1.1", "sorry for 3 of 1.3"],
                "plain tasks come first; the updates of the siblings are there"
            );
            assert_eq!((end.report.rescued, end.report.steps), (2, 3));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_payload_of_another_type_is_a_typed_failure_of_the_handler() {
    let sorry = |In(failed): In<FailedTask>| ready(failed.payload::<String>().map(|_| ()));
    let graph = odd_ones_fail(&Runs::new()).node("sorry", sorry).compile().unwrap();
    let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(failed.failures().iter().map(|f| &*f.task.node).collect::<Vec<_>>(), ["sorry", "sorry"]);
    assert_eq!(failed.failures()[0].kind, FaultKind::Fatal);
}

/// Sends a payload that may itself be nothing, fails, and stops before the handler.
async fn payload_after_restore<T>(payload: T) -> (Option<T>, Option<T>)
where
    T: serde::Serialize + serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    let seen: Arc<Mutex<Vec<Option<T>>>> = Arc::default();
    let sorry = {
        let seen = seen.clone();
        move |In(failed): In<FailedTask>| {
            seen.lock().unwrap().push(failed.payload::<T>().unwrap().map(|p| (*p).clone()));
            ready(())
        }
    };
    let split = move || ready(Outcome::<Trip>::default().fan_out("work", [payload.clone()]));
    let graph = Graph::<Trip>::builder("g")
        .node("split", split)
        .node("work", fails.on_error("sorry"))
        .node("sorry", sorry)
        .edge(START, "split")
        .compile()
        .unwrap();
    graph.runner().thread("t").run(Trip::update()).await.unwrap();
    let thread = graph.runner().store(MemoryStore::new()).step_limit(2).thread("t");
    let stopped = thread.run(Trip::update()).await.unwrap_err();
    assert!(matches!(*stopped, RunError::StepLimit { .. }));
    thread.proceed().await.unwrap();
    let mut seen = seen.lock().unwrap();
    let restored = seen.pop().unwrap();
    (seen.pop().unwrap(), restored)
}

#[tokio::test(start_paused = true)]
async fn a_payload_is_the_same_after_a_restore_also_when_it_is_null() {
    assert_eq!(payload_after_restore(7_u32).await, (Some(7), Some(7)));
    assert_eq!(payload_after_restore("x".to_owned()).await, (Some("x".to_owned()), Some("x".to_owned())));
    assert_eq!(payload_after_restore(()).await, (Some(()), Some(())));
    assert_eq!(payload_after_restore(None::<u32>).await, (Some(None), Some(None)));
    assert_eq!(
        payload_after_restore(vec![Some(1_u8), None]).await,
        (Some(vec![Some(1), None]), Some(vec![Some(1), None]))
    );
}

#[test]
fn a_failed_task_without_a_payload_has_none_after_serialising() {
    let plain = FailedTask::new("n", FaultKind::Fatal, "m");
    let again: FailedTask = serde_json::from_str(&serde_json::to_string(&plain).unwrap()).unwrap();
    assert!(again.payload::<u32>().unwrap().is_none());
    let with = FailedTask::new("n", FaultKind::Idle, "m").with_payload(());
    let again: FailedTask = serde_json::from_str(&serde_json::to_string(&with).unwrap()).unwrap();
    assert!(again.payload::<()>().unwrap().is_some());
    assert_eq!((again.kind, again.attempts, again.task), (FaultKind::Idle, 1, TaskId::default()));
}

#[tokio::test(start_paused = true)]
async fn a_failed_source_does_not_arrive_at_its_join_and_takes_no_edges() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", fails.on_error("sorry"))
        .node("both", note("both"))
        .node("next", note("next"))
        .node("sorry", takes_over)
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "next")
        .join(["a", "b"], "both")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a", "b 0.1 1 Fatal: broken"]);
    assert_eq!(end.report.waiting_joins[0].to_string(), "join `both` waits for `b`");
}

#[tokio::test(start_paused = true)]
async fn a_router_is_not_asked_for_a_failed_task_only_for_its_siblings() {
    #[derive(Route)]
    enum To {
        Next,
    }
    for (payloads, routed) in [(vec![1_u32, 3], 0), (vec![1, 2], 1)] {
        let asked = Runs::new();
        let work = |In(n): In<u32>| ready(if *n % 2 == 1 { Err("odd") } else { Ok(()) });
        let split = move || ready(Command::<Trip, Each>::fan_out(payloads.clone().into_iter().map(Each::Work)));
        let router = {
            let asked = asked.clone();
            move |_: &Trip| {
                asked.hit("router");
                To::Next
            }
        };
        let graph = Graph::<Trip>::builder("g")
            .node("split", split)
            .node("work", work.on_error("sorry"))
            .node("sorry", takes_over)
            .node("next", note("next"))
            .edge(START, "split")
            .route("work", router)
            .compile()
            .unwrap();
        let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(asked.count("router"), routed);
        assert_eq!(end.state.log.iter().filter(|line| *line == "next").count(), routed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_fails_fails_the_turn_and_is_named() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", fails.on_error("sorry"))
        .node("sorry", |_: In<FailedTask>| ready(Err::<(), _>("no words")))
        .edge(START, "n")
        .compile()
        .unwrap();
    let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(failed.failures()[0].to_string(), "`sorry` (task 1.0) failed after 1 attempt: no words");
    assert_eq!((failed.report.rescued, failed.failures().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn routes_form_chains_and_the_last_handler_sees_the_failure_of_the_first_inside() {
    let second = |In(failed): In<FailedTask>| {
        let inner = failed.payload::<FailedTask>().unwrap().unwrap();
        ready(Trip::update().log([format!("{} after {}: {}", failed.node, inner.node, inner.message)]))
    };
    let graph = Graph::<Trip>::builder("g")
        .node("n", fails.on_error("first"))
        .node("first", (|_: In<FailedTask>| ready(Err::<(), _>("me too"))).on_error("second"))
        .node("second", second)
        .edge(START, "n")
        .compile()
        .unwrap();
    for runner in [graph.runner(), graph.runner().store(MemoryStore::new())] {
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["first after n: broken"]);
        assert_eq!((end.report.rescued, end.report.steps), (2, 3));
    }
}

/// Two tasks of one step fail; only one has a route. The other fails so often.
fn mixed(runs: &Runs, times: usize) -> Graph<Trip> {
    let routed = {
        let runs = runs.clone();
        move || {
            runs.hit("routed");
            fails()
        }
    };
    let sorry = {
        let runs = runs.clone();
        move |failed: In<FailedTask>| {
            runs.hit("sorry");
            takes_over(failed)
        }
    };
    Graph::<Trip>::builder("g")
        .node("fine", runs.node("fine"))
        .node("plain", {
            let (runs, luck) = (runs.clone(), Runs::new());
            move || {
                runs.hit("plain");
                luck.failing(times, "plain")()
            }
        })
        .node("routed", routed.on_error("sorry"))
        .node("sorry", sorry)
        .edge(START, "fine")
        .edge(START, "plain")
        .edge(START, "routed")
        .compile()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn in_a_mixed_step_proceeding_runs_only_the_task_without_a_route_and_the_handler_once() {
    for parallel in BOTH {
        for store in [TestStore::new(), TestStore::lasting()] {
            let runs = Runs::new();
            let graph = mixed(&runs, 2);
            let runner = || graph.runner().parallel(parallel).store(store.clone());
            let failed = runner().thread("t").run(Trip::update()).await.unwrap_err();
            let named: Vec<_> = failed.failures().iter().map(|f| f.task.node.to_string()).collect();
            assert_eq!((named, failed.report.rescued), (vec!["plain".to_owned()], 1));
            assert_eq!(failed.report.pending, ["plain"]);
            let mut ran = runs.take();
            ran.sort();
            assert_eq!(ran, ["fine", "plain", "routed"]);
            // Everything comes from the store now.
            let state = runner().thread("t").state().await.unwrap();
            assert_eq!((state.next, state.state.log.len()), (vec!["plain".into()], 0));
            let failed = runner().thread("t").proceed().await.unwrap_err();
            assert_eq!((failed.failures().len(), failed.report.rescued, runs.take()), (1, 0, vec!["plain".to_owned()]));
            let end = runner().thread("t").proceed().await.unwrap();
            assert_eq!(runs.take(), ["plain", "sorry"]);
            assert_eq!(end.state.log, ["fine", "plain", "routed 0.2 1 Fatal: broken"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_order_with_failures_and_crashes_ends_like_an_undisturbed_run() {
    let graph = odd_ones_fail(&Runs::new())
        .node("sorry", |In(failed): In<FailedTask>| {
            let payload = failed.payload::<u32>().unwrap().unwrap();
            ready(Trip::update().log([format!("sorry for {payload}: {}", failed.message)]).total(1))
        })
        .compile()
        .unwrap();
    let calm = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(calm.state.total, 2);
    let (mut failures, mut crashes) = (0, 0);
    for seed in 0..100 {
        // An injected failure of `work` is taken over too, so only crashes leave the result as it is.
        let run = Shuffled::new(seed).crashes(4).run(&graph.runner(), Trip::update).await;
        assert!(run.error.is_none(), "{seed}: {:?}", run.error);
        assert_eq!(*run.state, *calm.state, "{seed}");
        crashes += run.crashes;
        let run = Shuffled::new(seed).failures(4).crashes(4).run(&graph.runner(), Trip::update).await;
        assert!(run.error.is_none(), "{seed}: {:?}", run.error);
        let sorry = run.state.log.iter().filter(|line| line.starts_with("sorry")).count();
        let done = run.state.log.iter().filter(|line| line.parse::<u32>().is_ok()).count();
        assert_eq!((sorry + done, run.state.total), (5, i64::try_from(sorry).unwrap()), "{seed}: each once");
        failures += run.failures;
    }
    assert!(failures > 30 && crashes > 30, "{failures} {crashes}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_between_the_steps_leaves_the_failure_to_be_taken_over_again() {
    let runs = Runs::new();
    let graph = mixed(&runs, 0);
    for commit in 0..4 {
        let store = TestStore::lasting();
        store.fail_commit_after(commit);
        let runner = graph.runner().store(store);
        let first = runner.thread("t").run(Trip::update()).await;
        let end = match first {
            Ok(end) => end,
            Err(_) if commit == 0 => runner.thread("t").run(Trip::update()).await.unwrap(),
            Err(_) => runner.thread("t").proceed().await.unwrap(),
        };
        assert_eq!(end.state.log, ["fine", "plain", "routed 0.2 1 Fatal: broken"], "{commit}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deferred_handler_waits_until_nothing_else_would_run() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", note("a"))
        .node("b", note("b"))
        .node("n", fails.on_error("sorry"))
        .node("sorry", takes_over.deferred())
        .edge(START, "a")
        .edge(START, "n")
        .edge("a", "b")
        .compile()
        .unwrap();
    for runner in [graph.runner(), graph.runner().store(MemoryStore::new())] {
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(
            (&*end.state.log, end.report.steps),
            (&["a", "b", "n 0.1 1 Fatal: broken"].map(str::to_owned)[..], 3)
        );
    }
    let thread = graph.runner().store(MemoryStore::new()).step_limit(1).thread("t");
    assert!(matches!(*thread.run(Trip::update()).await.unwrap_err(), RunError::StepLimit { .. }));
    assert!(matches!(*thread.proceed().await.unwrap_err(), RunError::StepLimit { .. }));
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "b", "n 0.1 1 Fatal: broken"]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_in_a_cluster_enters_it_anew_and_one_within_does_not() {
    // The gate stays as often as it may, then leaves the cluster and fails; the handler leads back.
    let gate = |trip: Snap<Trip>| {
        ready(match trip.total {
            0..=1 | 3..=4 => Command::<Trip, Moves>::stay("again").with(Trip::update().total(1)),
            2 => Command::go(Moves::Outside).with(Trip::update().total(1)),
            _ => Command::declared(),
        })
    };
    #[derive(Route)]
    #[route(stay)]
    enum Moves {
        Outside,
    }
    let graph = Graph::<Trip>::builder("g")
        .cluster("stage", "agent", |c| {
            c.node("agent", note("agent"))
                .node("rescue", |_: In<FailedTask>| ready(Trip::update().log(["rescue".to_owned()])))
                .edge("rescue", "gate")
                .node("gate", gate)
                .edge("agent", "gate")
        })
        .node("outside", fails.on_error("rescue"))
        .edge(START, "agent")
        .edge("gate", END)
        .compile()
        .unwrap();
    let end = graph.runner().stay_limit(2).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["agent", "agent", "agent", "rescue", "agent", "agent"]);
    assert_eq!(end.report.stays, 4);
    // Within the cluster nothing is entered: the count goes on.
    let gate = |trip: Snap<Trip>| {
        ready(match trip.total {
            0 | 2 => Ok(Command::<Trip, Again>::stay("again").with(Trip::update().total(1))),
            1 => Err("no verdict"),
            _ => Ok(Command::declared()),
        })
    };
    #[derive(Route)]
    #[route(stay)]
    enum Again {}
    let helper = |_: In<FailedTask>| ready(Trip::update().total(1).log(["helper".to_owned()]));
    let graph = Graph::<Trip>::builder("g")
        .cluster("stage", "agent", |c| {
            c.node("agent", note("agent"))
                .node("gate", gate.on_error("helper"))
                .node("helper", helper)
                .edge("agent", "gate")
        })
        .edge("helper", "agent")
        .edge(START, "agent")
        .edge("gate", END)
        .compile()
        .unwrap();
    let failed = graph.runner().stay_limit(1).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*failed, RunError::StayLimit { limit: 1, .. }), "{failed}");
    let end = graph.runner().stay_limit(2).thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(
        (end.state.log.clone(), end.report.stays),
        (["agent", "agent", "helper", "agent", "agent"].map(str::to_owned).to_vec(), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_goes_back_is_bounded_by_the_step_limit() {
    #[derive(Route)]
    enum Back {
        N,
    }
    let graph = Graph::<Trip>::builder("g")
        .node("n", fails.on_error("sorry"))
        .node("sorry", |_: In<FailedTask>| ready(Next::go(Back::N)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let failed = graph.runner().step_limit(7).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(
        matches!(&*failed, RunError::StepLimit { limit: 7, step: 7, pending, .. } if *pending == ["sorry"]),
        "{failed}"
    );
    assert_eq!(failed.report.rescued, 4);
}

#[tokio::test(start_paused = true)]
async fn a_default_route_serves_every_node_but_the_handlers_and_a_node_may_say_otherwise() {
    let build = |sorry: NodeSpec<Trip>| {
        Graph::<Trip>::builder("g")
            .defaults(NodeDefaults::new().on_error("sorry"))
            .node("a", fails)
            .node("b", fails.on_error("other"))
            .node("sorry", sorry)
            .node("other", |_: In<FailedTask>| ready(Trip::update().log(["other".to_owned()])))
            .edge(START, "a")
            .edge(START, "b")
            .compile()
            .unwrap()
    };
    let end = build(takes_over.into_node()).runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["a 0.0 1 Fatal: broken", "other"]);
    // A handler doesn't take over from itself, nor one handler from another.
    let failed = build((|_: In<FailedTask>| fails()).into_node()).runner().thread("t").run(Trip::update()).await;
    assert_eq!(failed.unwrap_err().failures()[0].task.node, "sorry");
}

#[tokio::test(start_paused = true)]
async fn nobody_is_cancelled_when_a_route_takes_over() {
    for parallel in BOTH {
        let graph = Graph::<Trip>::builder("g")
            .siblings(Siblings::Cancel)
            .node("n", fails.on_error("sorry"))
            .node("slow", behaviour_tests::after(50, "slow"))
            .node("sorry", takes_over)
            .edge(START, "n")
            .edge(START, "slow")
            .compile()
            .unwrap();
        let end = graph.runner().parallel(parallel).thread("t").run(Trip::update()).await.unwrap();
        assert_eq!(end.state.log, ["slow", "n 0.0 1 Fatal: broken"]);
    }
}

#[tokio::test(start_paused = true)]
async fn handler_tasks_count_for_the_limit_of_a_fan_out() {
    let graph = odd_ones_fail(&Runs::new()).node("sorry", takes_over).compile().unwrap();
    let runner: Runner<Trip> = graph.runner().store(MemoryStore::new());
    assert!(runner.clone().fan_out_limit(5).thread("a").run(Trip::update()).await.is_ok());
    let failed = runner.fan_out_limit(4).thread("b").run(Trip::update()).await.unwrap_err();
    assert!(matches!(*failed, RunError::FanOutLimit { sent: 5, limit: 4, .. }));
}
