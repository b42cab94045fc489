//! E9 and E11: one task per payload, in the order of (sender, index), however many there are.

use std::future::ready;

use behaviour_tests::{Trip, TripUpdate, after, note};
use graph_engine::{Command, Ctx, Graph, In, MemoryStore, Next, Outcome, Route, START, Status};

#[derive(Route)]
enum Each {
    Each(u32),
}

async fn each(In(item): In<u32>, ctx: Ctx) -> TripUpdate {
    Trip::update().log([format!("{}:{item}", ctx.task().rank)])
}

#[tokio::test]
async fn a_thousand_tasks_merge_in_order() {
    let graph = Graph::<Trip>::builder("g")
        .node("each", each)
        .route(START, |_: &Trip| Next::fan_out((0..1_000).rev().map(Each::Each)))
        .compile()
        .unwrap();
    for store in [false, true] {
        let runner = graph.runner();
        let runner = if store { runner.store(MemoryStore::new()) } else { runner };
        let end = runner.thread("t").run(Trip::update()).await.unwrap();
        let expected: Vec<String> = (0..1_000).map(|rank| format!("{rank}:{}", 999 - rank)).collect();
        assert_eq!(end.state.log, expected);
        assert_eq!((end.report.tasks, end.report.steps, end.report.copies), (1_000, 1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn senders_are_ordered_by_name_and_sends_stand_behind_plain_tasks() {
    let send = |items: [u32; 2]| move || ready(Next::fan_out(items.map(Each::Each)));
    let graph = Graph::<Trip>::builder("g")
        .node("s2", send([20, 21]))
        .node("s1", send([11, 10]))
        .node("slow", after(10, "slow"))
        .node("each", each)
        .node("zz", note("zz"))
        .edge(START, "s2")
        .edge(START, "s1")
        .edge(START, "slow")
        .edge("slow", "zz")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["slow", "zz", "1:11", "2:10", "3:20", "4:21"]);
}

#[tokio::test]
async fn sends_of_sends_keep_the_order_of_their_senders() {
    #[derive(Route)]
    enum Deep {
        Leaf(u32),
    }
    async fn split(In(item): In<u32>) -> Next<Deep> {
        Next::fan_out([Deep::Leaf(*item * 10), Deep::Leaf(*item * 10 + 1)])
    }
    async fn leaf(In(item): In<u32>) -> TripUpdate {
        Trip::update().log([item.to_string()])
    }
    let graph = Graph::<Trip>::builder("g")
        .node("each", split)
        .node("leaf", leaf)
        .route(START, |_: &Trip| Next::fan_out([3, 1, 2].map(Each::Each)))
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["30", "31", "10", "11", "20", "21"]);
}

#[tokio::test]
async fn an_empty_fan_out_ends_the_branch_and_not_the_others() {
    let graph = Graph::<Trip>::builder("g")
        .node("none", || ready(Command::<Trip, Each>::fan_out([]).with(Trip::update().log(["none".to_owned()]))))
        .node("each", each)
        .node("other", note("other"))
        .node("then", note("then"))
        .edge(START, "none")
        .edge(START, "other")
        .edge("none", "then")
        .edge("other", "then2")
        .node("then2", note("then2"))
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["none", "other", "then2"]);
    assert_eq!(end.status, Status::Done);
}

#[tokio::test]
async fn an_empty_fan_out_from_start_is_a_turn_without_steps() {
    let graph = Graph::<Trip>::builder("g")
        .node("each", each)
        .route(START, |_: &Trip| Next::<Each>::fan_out([]))
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!((end.status, end.report.steps), (Status::Done, 0));
}

#[tokio::test]
async fn going_to_one_payload_is_a_task_of_its_own() {
    let graph = Graph::<Trip>::builder("g")
        .node("a", || ready(Each::Each(1)))
        .node("b", || ready(Each::Each(1)))
        .node("each", each)
        .edge(START, "a")
        .edge(START, "b")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["0:1", "1:1"]);
}

#[tokio::test]
async fn a_dynamic_fan_out_reaches_any_node() {
    async fn send() -> Outcome<Trip> {
        Outcome::default().fan_out("each", [7_u32, 8])
    }
    let graph =
        Graph::<Trip>::builder("g").node("send", send).node("each", each).edge(START, "send").compile().unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["0:7", "1:8"]);
}

#[tokio::test]
async fn fanning_out_plain_variants_makes_a_task_for_each() {
    #[derive(Route, Clone)]
    enum Plain {
        Work,
    }
    let graph = Graph::<Trip>::builder("g")
        .node("send", || ready(Next::fan_out(vec![Plain::Work; 3])))
        .node("work", note("work"))
        .edge(START, "send")
        .compile()
        .unwrap();
    let end = graph.runner().thread("t").run(Trip::update()).await.unwrap();
    assert_eq!(end.state.log, ["work"; 3]);
}
