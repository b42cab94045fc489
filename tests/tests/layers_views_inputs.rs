//! E14, E17: what users wrap around nodes, what callers see of a state, and what the input of a turn may be.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use behaviour_tests::{Runs, Trip, TripUpdate, findings, note};
use graph_engine::{
    Cache, Command, FaultKind, Graph, IntoNode, Layer, MemoryStore, Need, Next, Node, NodeError, NodeExt, NodeInfo,
    Outcome, Retry, Route, RunError, START, Snap, State, Status, TargetSpec, Task, async_trait,
};
use serde_json::json;

type Inner = Arc<dyn Node<Trip>>;

/// What a layer does around a node.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Nothing,
    SwallowErrors,
    Panic,
    PanicAtOnce,
    WriteCity,
    GoOn,
    Fail,
}

/// Notes its name before and behind the node.
struct Named {
    name: &'static str,
    runs: Runs,
    does: Does,
    says: bool,
}

struct Wrapped {
    name: &'static str,
    runs: Runs,
    does: Does,
    says: bool,
    inner: Inner,
}

impl Layer<Trip> for Named {
    fn wrap(&self, inner: Inner) -> Inner {
        let Self { name, runs, does, says } = self;
        Arc::new(Wrapped { name, runs: runs.clone(), does: *does, says: *says, inner })
    }
}

#[async_trait]
impl Node<Trip> for Wrapped {
    async fn run(&self, task: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
        self.runs.hit(&format!("{} in", self.name));
        assert!(self.does != Does::PanicAtOnce, "the layer is broken");
        tokio::task::yield_now().await;
        let outcome = self.inner.run(task).await;
        self.runs.hit(&format!("{} out", self.name));
        match self.does {
            Does::Nothing | Does::PanicAtOnce => outcome,
            Does::SwallowErrors => Ok(outcome.unwrap_or_default()),
            Does::Panic => panic!("the layer is broken"),
            Does::WriteCity => {
                let mut outcome = outcome?;
                outcome.update = Trip::compose(outcome.update, Trip::update().city("Oslo"));
                Ok(outcome)
            }
            Does::GoOn => outcome.map(|outcome| Outcome::of(outcome.update).go("next")),
            Does::Fail => Err(NodeError::retryable("the layer says no")),
        }
    }

    fn describe(&self) -> NodeInfo {
        let mut info = NodeInfo::default();
        if self.says {
            match self.does {
                Does::WriteCity => info.writes = Some(graph_engine::Fields::from(Trip::CITY).set()),
                Does::GoOn => info = info.target(TargetSpec::new("next")),
                _ => info.needs.push(Need::of::<String>()),
            }
        }
        info
    }
}

fn layer(runs: &Runs, name: &'static str, does: Does) -> Named {
    Named { name, runs: runs.clone(), does, says: false }
}

fn saying(runs: &Runs, name: &'static str, does: Does) -> Named {
    Named { says: true, ..layer(runs, name, does) }
}

fn one<M>(node: impl IntoNode<Trip, M>) -> Graph<Trip> {
    Graph::<Trip>::builder("g").node("n", node).edge(START, "n").compile().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_last_layer_is_the_outermost_and_each_attempt_passes_all() {
    let runs = Runs::new();
    let node = runs.failing(1, "n").layer(layer(&runs, "inner", Does::Nothing));
    let node = node.retry(Retry::fixed(2, Duration::ZERO)).layer(layer(&runs, "outer", Does::Nothing));
    let end = one(node).runner().thread("t").run(Trip::update()).await.unwrap();
    let pass = ["outer in", "inner in", "n", "inner out", "outer out"];
    assert_eq!(
        (runs.take(), end.report.attempts),
        ([pass, pass].concat().iter().map(|s| (*s).to_owned()).collect(), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn layers_stand_inside_of_the_cache_the_retry_and_the_timeout() {
    let runs = Runs::new();
    let node = note("n").layer(layer(&runs, "layer", Does::Nothing)).cache(Cache::by(|_: &Trip| 1));
    let runner = one(node).runner();
    runner.thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(runner.thread("t").run(Trip::update()).await.unwrap().report.cached, 1);
    assert_eq!(runs.take(), ["layer in", "layer out"]);
    let node = note("n").layer(layer(&runs, "layer", Does::Fail)).retry(Retry::fixed(3, Duration::ZERO));
    let failed = one(node).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!((failed.failures()[0].attempts, runs.count("layer in")), (3, 3));
    struct Slow;
    impl Layer<Trip> for Slow {
        fn wrap(&self, inner: Inner) -> Inner {
            struct Slept(Inner);
            #[async_trait]
            impl Node<Trip> for Slept {
                async fn run(&self, task: &Task<Trip>) -> Result<Outcome<Trip>, NodeError> {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    self.0.run(task).await
                }
            }
            Arc::new(Slept(inner))
        }
    }
    let node = note("n").timeout(Duration::from_secs(1)).layer(Slow);
    let failed = one(node).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(failed.failures()[0].kind, FaultKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_panics_is_a_failure_and_one_that_swallows_errors_a_success() {
    let runs = Runs::new();
    for does in [Does::Panic, Does::PanicAtOnce] {
        let failed = one(note("n").layer(layer(&runs, "l", does))).runner().thread("t").run(Trip::update()).await;
        let failed = failed.unwrap_err();
        assert_eq!(
            failed.failures()[0].to_string(),
            "`n` (task 0.0) failed after 1 attempt: it panicked: the layer is broken"
        );
        assert_eq!(failed.failures()[0].kind, FaultKind::Panicked);
    }
    let node = runs.failing(9, "n").layer(layer(&runs, "l", Does::SwallowErrors)).on_error("sorry");
    let graph = Graph::<Trip>::builder("g")
        .node("n", node)
        .node("sorry", note("sorry"))
        .node("then", note("then"))
        .edge(START, "n")
        .edge("n", "then")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&*end.state.log, end.report.rescued), (&["then".to_owned()][..], 0));
    // A panic of the node passes the layer by: it is no error that it could swallow.
    let panics = || -> std::future::Ready<()> { panic!("of the node") };
    let failed =
        one(panics.layer(layer(&runs, "l", Does::SwallowErrors))).runner().thread("t").run(Trip::update()).await;
    assert_eq!(failed.unwrap_err().failures()[0].kind, FaultKind::Panicked);
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_needs_and_where_it_goes_is_declared_by_its_node() {
    let runs = Runs::new();
    // A resource that only the layer needs is missing when the turn starts.
    let graph = one(note("n").layer(saying(&runs, "l", Does::Nothing)));
    let failed = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*failed, RunError::MissingResource { node, .. } if node == "n"), "{failed}");
    assert!(graph.runner().provide(String::new()).thread("t").run(Trip::update()).await.is_ok());
    // A move that it doesn't declare is the failure of the task; a declared one is found and taken.
    let build = |layer: Named| {
        Graph::<Trip>::builder("g").node("n", note("n").layer(layer)).node("next", note("next")).edge(START, "n")
    };
    let silent = build(layer(&runs, "l", Does::GoOn)).edge("n", "next").compile().unwrap();
    let failed = silent.runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert!(failed.to_string().contains("it goes to `next`, which it doesn't declare"), "{failed}");
    let said = build(saying(&runs, "l", Does::GoOn)).compile().unwrap();
    assert_eq!(said.runner().thread("t").run(Trip::update()).await.unwrap().state.log, ["n", "next"]);
    assert!(
        findings(build(layer(&runs, "l", Does::GoOn))).iter().any(|f| f.contains("no path from START leads to `next`"))
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_node_declares_stays_declared_under_a_layer() {
    #[derive(Route)]
    #[route(stay, direct)]
    enum Moves {
        Next,
    }
    let runs = Runs::new();
    let node = |trip: Snap<Trip>| {
        ready(match trip.log.len() {
            0 => Command::<Trip, Moves>::stay("again").with(Trip::update().log(["n".to_owned()])),
            1 => Command::go(Moves::Next).with(Trip::update().log(["n".to_owned()])),
            _ => Command::direct("bye"),
        })
    };
    let graph = Graph::<Trip>::builder("g")
        .node("n", node.writes(Trip::LOG).layer(layer(&runs, "l", Does::Nothing)))
        .node("next", (|| ready(Next::<Moves>::direct("bye"))).layer(layer(&runs, "l", Does::Nothing)))
        .edge(START, "n")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.report.stays, end.reply()), (1, Some(&json!("bye"))));
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_writes_more_than_the_node_declares_says_so() {
    let runs = Runs::new();
    let writes = |layer: Named| one(note("n").writes(Trip::LOG).layer(layer));
    let failed = writes(layer(&runs, "l", Does::WriteCity)).runner().thread("t").run(Trip::update()).await.unwrap_err();
    assert!(failed.to_string().contains("it wrote field `city`, which it doesn't declare"), "{failed}");
    let end = writes(saying(&runs, "l", Does::WriteCity)).runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((&*end.state.city, end.state.log.len()), ("Oslo", 1));
    // A node that declares nothing may write everything, whatever a layer says.
    let end = one(note("n").layer(saying(&runs, "l", Does::WriteCity))).runner().thread("t").run(Trip::update()).await;
    assert_eq!((&*end.unwrap().state.city, 1), ("Oslo", 1));
}

#[tokio::test(start_paused = true)]
async fn a_view_shows_only_what_it_is_made_of_and_serves_many_turns() {
    let graph = Graph::<Trip>::builder("g")
        .node("n", || ready(Command::<Trip, Moves>::finish(7).with(Trip::update().city("Oslo").draft("secret"))))
        .edge(START, "n")
        .compile()
        .unwrap();
    #[derive(Route)]
    #[route(finish)]
    enum Moves {}
    let view = graph.output(|trip: &Trip| (trip.city.clone(), trip.draft.len()));
    for copy in [view.clone(), view] {
        let end = copy.of(graph.runner().thread("t").run(Trip::update())).await.unwrap();
        assert_eq!((end.output, end.status), (("Oslo".to_owned(), 6), Status::Completed));
        assert_eq!((end.report.steps, &end.replies[0].value), (1, &json!(7)));
        assert_eq!(copy.see(&Trip::default()), (String::new(), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_of_a_failed_or_stopped_turn_is_what_the_turn_says() {
    let runs = Runs::new();
    let graph = one(runs.failing(1, "n"));
    let view = graph.output(|trip: &Trip| trip.log.len());
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    assert_eq!(view.of(thread.run(Trip::update())).await.unwrap_err().failures().len(), 1);
    let turn = thread.proceed();
    turn.control().cancel();
    let end = view.of(turn).await.unwrap();
    assert_eq!((end.status, end.output), (Status::Cancelled, 0));
    assert_eq!(view.of(thread.proceed()).await.unwrap().output, 1);
}

/// A graph whose input may write `city` and `total`, and is checked.
fn guarded() -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .input(Trip::CITY)
        .input(Trip::TOTAL)
        .check_input(|_, input: &TripUpdate| match input.city.as_deref() {
            Some("Atlantis") => Err("there is no such city"),
            Some("Panic") => panic!("the check is broken"),
            _ => Ok(()),
        })
        .check_input(|trip: &Trip, _: &TripUpdate| if trip.total > 100 { Err("enough".to_owned()) } else { Ok(()) })
        .node("n", note("n"))
        .edge(START, "n")
        .compile()
        .unwrap()
}

fn why(error: &RunError) -> String {
    match error {
        RunError::Input { cause, .. } => cause.to_string(),
        other => panic!("{other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_may_write_only_what_the_graph_says() {
    let thread = guarded().runner().thread("t");
    assert!(thread.run(Trip::update().city("Oslo").total(3)).await.is_ok());
    assert!(thread.run(Trip::update()).await.is_ok());
    let refused = [
        Trip::update().log(["x".to_owned()]),
        Trip::update().log(Vec::<String>::new()),
        Trip::update().draft("transient"),
        Trip::update().last("x").city("Oslo"),
        Trip::update().overwrite_log(vec!["x".to_owned()]),
    ];
    for (input, field) in refused.into_iter().zip(["log", "log", "draft", "last", "log"]) {
        let failed = thread.run(input).await.unwrap_err();
        assert_eq!(
            why(&failed),
            format!("it writes field `{field}`, but the input of this graph may only write `city`, `total`")
        );
        assert_eq!(failed.report.tasks, 0);
    }
    let end = thread.run(Trip::update().total(3).overwrite_total(10).total(1)).await.unwrap();
    assert_eq!(end.state.total, 11, "an overwrite of a field that may be written is a write like others");
}

#[tokio::test(start_paused = true)]
async fn checks_are_asked_in_their_order_and_the_first_that_refuses_is_told() {
    let runs = Runs::new();
    let check = |name: &'static str| {
        let runs = runs.clone();
        move |_: &Trip, input: &TripUpdate| {
            runs.hit(name);
            if input.city.as_deref() == Some(name) { Err(format!("{name} says no")) } else { Ok(()) }
        }
    };
    let graph = Graph::<Trip>::builder("g")
        .check_input(check("one"))
        .check_input(check("two"))
        .node("n", note("n"))
        .edge(START, "n")
        .compile()
        .unwrap();
    let thread = graph.runner().thread("t");
    thread.run(Trip::update()).await.unwrap();
    assert_eq!(runs.take(), ["one", "two"]);
    assert_eq!(why(&thread.run(Trip::update().city("two")).await.unwrap_err()), "two says no");
    assert_eq!(runs.take(), ["one", "two"]);
    assert_eq!(why(&thread.run(Trip::update().city("one")).await.unwrap_err()), "one says no");
    assert_eq!(runs.take(), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_input_leaves_the_thread_as_it_was() {
    let thread = guarded().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().city("Oslo").total(50)).await.unwrap();
    let before = thread.state().await.unwrap();
    for (input, says) in [
        (Trip::update().city("Atlantis").total(9), "there is no such city"),
        (Trip::update().city("Panic"), "a check of it panicked: the check is broken"),
        (Trip::update().total(13), "the reducer of field `total` refused an item: 13 brings bad luck"),
        (Trip::update().total(666), "a reducer panicked: the beast"),
        (
            Trip::update().last("x"),
            "it writes field `last`, but the input of this graph may only write `city`, `total`",
        ),
    ] {
        let failed = thread.run(input).await.unwrap_err();
        assert_eq!(why(&failed), says);
        assert!(failed.to_string().contains("nothing of it was kept, correct it and send it again"), "{failed}");
        let now = thread.state().await.unwrap();
        assert_eq!((&*now.state, now.checkpoint, now.step), (&*before.state, before.checkpoint, before.step));
        assert_eq!(now.next, before.next);
    }
    // A check sees the state as it is stored, before the input.
    thread.run(Trip::update().total(60)).await.unwrap();
    assert_eq!(why(&thread.run(Trip::update()).await.unwrap_err()), "enough");
}

#[tokio::test(start_paused = true)]
async fn a_transient_field_of_the_input_is_there_for_its_turn_only() {
    let see = |trip: Snap<Trip>| ready(Trip::update().log([trip.draft.clone()]));
    let graph = Graph::<Trip>::builder("g").input(Trip::DRAFT).node("n", see).edge(START, "n").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().draft("now")).await.unwrap();
    let end = thread.run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["now", ""]);
}

#[tokio::test(start_paused = true)]
async fn nodes_may_write_what_the_input_may_not_and_proceeding_is_not_checked() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .input(Trip::CITY)
        .check_input(|trip: &Trip, _: &TripUpdate| if trip.log.is_empty() { Ok(()) } else { Err("never again") })
        .node("a", note("a"))
        .node("n", runs.failing(1, "n"))
        .edge(START, "a")
        .edge("a", "n")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().city("Oslo")).await.unwrap_err();
    assert_eq!(thread.proceed().await.unwrap().state.log, ["a", "n"]);
    assert_eq!(why(&thread.run(Trip::update()).await.unwrap_err()), "never again");
}
