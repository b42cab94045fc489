//! E23: typed resources for all turns or for one; a missing one is an error before anything runs.

use std::sync::Arc;

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use graph_engine::{Graph, MemoryStore, Res, RunError, Runner, START};

#[derive(Clone)]
struct Tenant(&'static str);

struct Shop(u32);

trait Greet: Send + Sync {
    fn greet(&self) -> String;
}

impl Greet for Tenant {
    fn greet(&self) -> String {
        format!("hello {}", self.0)
    }
}

async fn who(tenant: Res<Tenant>) -> TripUpdate {
    Trip::update().log([tenant.0.to_owned()])
}

fn graph(runs: &Runs) -> Graph<Trip> {
    Graph::<Trip>::builder("g")
        .node("first", runs.node("first"))
        .node("who", who)
        .edge(START, "first")
        .edge("first", "who")
        .compile()
        .unwrap()
}

async fn log(runner: &Runner<Trip>) -> Vec<String> {
    runner.thread("t").run(Trip::update()).await.unwrap().state.log.clone()
}

#[tokio::test]
async fn a_missing_resource_is_an_error_before_anything_runs() {
    let runs = Runs::new();
    let thread = graph(&runs).runner().store(MemoryStore::new()).thread("t");
    let error = thread.run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: node `who` asks for a resource of type `steps::resources::Tenant`, which nobody provides; call \
         `Runner::provide` or `Turn::with`"
    );
    assert!(matches!(*error.error, RunError::MissingResource { .. }));
    assert_eq!((runs.count("first"), error.report.steps), (0, 0));
    assert_eq!(thread.state().await.unwrap().checkpoint, None, "not even the input is stored");
    assert!(thread.run(Trip::update()).with(Tenant("acme")).await.is_ok(), "the thread is not busy or broken");
}

#[tokio::test]
async fn a_resource_of_the_turn_stands_in_front_of_the_runners() {
    let runner = graph(&Runs::new()).runner().provide(Tenant("runner"));
    let turn = runner.thread("t").run(Trip::update()).with(Shop(1)).with(Tenant("first")).with(Tenant("turn"));
    assert_eq!(turn.await.unwrap().state.log, ["first", "turn"]);
    assert_eq!(log(&runner).await, ["first", "runner"], "it lives for one turn");
    assert_eq!(log(&runner.clone().provide(Tenant("later"))).await, ["first", "later"]);
    assert_eq!(log(&runner).await, ["first", "runner"], "a clone is its own");
}

#[tokio::test]
async fn a_resource_of_a_turn_is_needed_again_when_it_proceeds() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("flaky", runs.failing(1, "flaky"))
        .node("who", who)
        .edge(START, "flaky")
        .edge("flaky", "who")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).with(Tenant("acme")).await.unwrap_err();
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(*error.error, RunError::MissingResource { .. }));
    assert_eq!(runs.count("flaky"), 1);
    assert_eq!(thread.proceed().with(Tenant("again")).await.unwrap().state.log, ["flaky", "again"]);
}

#[tokio::test]
async fn abandoning_needs_no_resources() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("g")
        .node("flaky", runs.failing(1, "flaky"))
        .node("who", who)
        .edge(START, "flaky")
        .edge("flaky", "who")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).with(Tenant("acme")).await.unwrap_err();
    thread.abandon().await.unwrap();
    assert!(thread.state().await.unwrap().next.is_empty());
}

#[tokio::test]
async fn trait_objects_and_shared_values_are_resources() {
    async fn greet(greeter: Res<dyn Greet>, shop: Res<Shop>, text: Res<str>) -> TripUpdate {
        Trip::update().log([greeter.greet(), shop.0.to_string(), text.to_string()])
    }
    let graph = Graph::<Trip>::builder("g").node("greet", greet).edge(START, "greet").compile().unwrap();
    let greeter: Arc<dyn Greet> = Arc::new(Tenant("acme"));
    let shop = Arc::new(Shop(7));
    let runner = graph.runner().provide_arc(greeter).provide_arc(shop.clone());
    let turn = runner.thread("t").run(Trip::update()).with_arc(Arc::<str>::from("text"));
    assert_eq!(turn.await.unwrap().state.log, ["hello acme", "7", "text"]);
    // The value behind a trait object is not found by its own type, nor the other way round.
    let error = runner.thread("t").run(Trip::update()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t`: node `greet` asks for a resource of type `str`, which nobody provides; call `Runner::provide` or \
         `Turn::with`"
    );
    let error = graph.runner().provide(Tenant("x")).provide(Shop(1)).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(error.to_string().contains("`dyn steps::resources::Greet`"), "{error}");
    assert_eq!(Arc::strong_count(&shop), 2, "turns give back what they borrowed");
}

#[tokio::test]
async fn types_of_one_name_are_told_apart() {
    mod other {
        pub(crate) struct Tenant(pub(crate) &'static str);
    }
    async fn both(mine: Res<Tenant>, theirs: Res<other::Tenant>) -> TripUpdate {
        Trip::update().log([mine.0.to_owned(), theirs.0.to_owned()])
    }
    let graph = Graph::<Trip>::builder("g").node("both", both).edge(START, "both").compile().unwrap();
    let runner = graph.runner().provide(other::Tenant("theirs")).provide(Tenant("mine"));
    assert_eq!(log(&runner).await, ["mine", "theirs"]);
}

#[tokio::test]
async fn the_first_missing_need_by_node_name_is_named() {
    async fn shop(_: Res<Shop>) {}
    let graph = Graph::<Trip>::builder("g")
        .node("z", who)
        .node("b", shop)
        .node("a", note("a"))
        .edge(START, "z")
        .edge(START, "b")
        .edge(START, "a")
        .compile()
        .unwrap();
    let error = graph.runner().thread("t").run(Trip::update()).await.unwrap_err();
    let RunError::MissingResource { node, resource, .. } = &*error else { panic!("{error}") };
    assert_eq!((node.as_str(), *resource), ("b", "steps::resources::Shop"));
    let error = graph.runner().provide(Shop(1)).thread("t").run(Trip::update()).await.unwrap_err();
    assert!(matches!(&*error, RunError::MissingResource { node, .. } if node == "z"));
}
