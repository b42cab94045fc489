//! Graphs that are read from JSON: they run, they are given back, and every mistake is told at once with its place.

#[path = "graph_spec/built.rs"]
mod built;
#[path = "graph_spec/mistakes.rs"]
mod mistakes;
#[path = "graph_spec/policies.rs"]
mod policies;
#[path = "graph_spec/registry.rs"]
mod registry;
#[path = "graph_spec/round_trips.rs"]
mod round_trips;

use expect_test::expect;
use graph_engine::testing::{Shuffled, run_logged};
use graph_engine::{DynState, DynUpdate, Graph, MemoryStore, NodeKind, RunError, TurnError};
use registry::registry;
use serde_json::json;

const HOTEL: &str = include_str!("graph_spec/hotel.json");

fn hotel() -> Graph<DynState> {
    Graph::from_json(HOTEL, &registry()).unwrap()
}

fn oslo(graph: &Graph<DynState>) -> DynUpdate {
    graph.update().set("city", "Oslo").unwrap()
}

#[tokio::test]
async fn a_graph_with_loops_joins_clusters_and_fan_out_runs_to_its_end() {
    let graph = hotel();
    assert_eq!(graph.warnings(), []);
    let (end, log) = run_logged(graph.runner().thread("guest-7").run(oslo(&graph))).await;
    let state = end.unwrap().state;
    assert_eq!(state.get("best").unwrap(), "Inn");
    assert_eq!(state.get("rounds").unwrap(), &json!(3));
    let words: Vec<String> = state.read("log").unwrap();
    assert_eq!(words, ["gate", "gate", "bill", "mail", "present", "gate", "bill", "mail", "present", "audit"]);
    let quotes = state.get("quotes").unwrap().as_array().unwrap();
    let prices: Vec<u64> = quotes.iter().map(|quote| quote["price"].as_u64().unwrap()).collect();
    assert_eq!(prices, [6, 3, 5, 6, 3, 5]);
    expect![[r#"
        0 started
        0.0 agent#1 start
        0.0 agent#1 finish, wrote `rounds`
        0 merged, next `gate`, `audit`
        1.0 gate#1 start
        1.0 gate#1 finish, wrote `log`
        1 merged, next `agent`, `audit`
        2.0 agent#1 start
        2.0 agent#1 finish, wrote `rounds`
        2 merged, next `gate`, `audit`
        3.0 gate#1 start
        3.0 gate#1 finish, wrote `log`
        3 merged, next `search`, `audit`
        4.0 search#1 start
        4.0 search#1 finish, wrote `hotels`
        4 merged, next `quote`, `audit`
        5.0 quote#1 start
        5.0 quote#1 finish, wrote `quotes`
        5.1 quote#1 start
        5.1 quote#1 finish, wrote `quotes`
        5.2 quote#1 start
        5.2 quote#1 finish, wrote `quotes`
        5 merged, next `choose`, `audit`
        6.0 choose#1 start
        6.0 choose#1 finish, wrote `best`
        6 merged, next `bill`, `mail`, `audit`
        7.0 bill#1 start
        7.0 bill#1 finish, wrote `log`
        7.1 mail#1 start
        7.1 mail#1 finish, wrote `log`
        7 merged, next `present`, `audit`
        8.0 present#1 start
        8.0 present#1 finish, wrote `log`
        8 merged, next `agent`, `audit`
        9.0 agent#1 start
        9.0 agent#1 finish, wrote `rounds`
        9 merged, next `gate`, `audit`
        10.0 gate#1 start
        10.0 gate#1 finish, wrote `log`
        10 merged, next `search`, `audit`
        11.0 search#1 start
        11.0 search#1 finish, wrote `hotels`
        11 merged, next `quote`, `audit`
        12.0 quote#1 start
        12.0 quote#1 finish, wrote `quotes`
        12.1 quote#1 start
        12.1 quote#1 finish, wrote `quotes`
        12.2 quote#1 start
        12.2 quote#1 finish, wrote `quotes`
        12 merged, next `choose`, `audit`
        13.0 choose#1 start
        13.0 choose#1 finish, wrote `best`
        13 merged, next `bill`, `mail`, `audit`
        14.0 bill#1 start
        14.0 bill#1 finish, wrote `log`
        14.1 mail#1 start
        14.1 mail#1 finish, wrote `log`
        14 merged, next `present`, `audit`
        15.0 present#1 start
        15.0 present#1 finish, wrote `log`
        15 merged, next `audit`
        16.0 audit#1 start
        16.0 audit#1 finish, wrote `log`
        16 merged
        17 ended: done
    "#]]
    .assert_eq(&log);
}

#[tokio::test]
async fn a_node_of_a_file_replies_as_its_moves_say() {
    let end = hotel().runner().thread("guest-7").run(DynUpdate::default()).await.unwrap();
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("Which city?"));
}

#[tokio::test]
async fn every_order_and_every_crash_ends_alike() {
    let graph = hotel();
    let calm = graph.runner().thread("guest-7").run(oslo(&graph)).await.unwrap().state;
    for seed in 0..30 {
        let run = Shuffled::new(seed).failures(0).crashes(6).run(&graph.runner(), || oslo(&graph)).await;
        assert_eq!(*run.state, *calm, "seed {seed}");
    }
}

#[tokio::test]
async fn a_thread_is_restored_by_a_graph_that_was_read_again() {
    let store = MemoryStore::new();
    hotel().runner().store(store.clone()).thread("guest-7").run(DynUpdate::default()).await.unwrap();
    let graph = hotel();
    let runner = graph.runner().store(store);
    let stored = runner.thread("guest-7").state().await.unwrap();
    assert_eq!(stored.state.get("rounds").unwrap(), &json!(1));
    let end = runner.thread("guest-7").run(oslo(&graph)).await.unwrap();
    assert_eq!(end.state.get("rounds").unwrap(), &json!(3), "it goes on from 1, so the second loop is not run");
    assert_eq!(end.state.get("best").unwrap(), "Inn");
}

#[test]
fn what_the_file_says_of_nodes_is_in_diagrams_and_policies() {
    let graph = hotel();
    let topology = graph.topology();
    let kind = |name: &str| topology.nodes.iter().find(|node| node.name == name).unwrap().kind;
    assert_eq!((kind("agent"), kind("gate"), kind("mail")), (NodeKind::Agent, NodeKind::Gate, NodeKind::Plain));
    assert!(topology.nodes.iter().all(|node| !node.dynamic), "moves in the file say where commands lead");
    assert!(topology.nodes.iter().any(|node| node.deferred && node.name == "audit"));
    expect![[r#"
        flowchart TD
          %% hotel
          start(("start"))
          done((("end")))
          n1["audit\n#40;deferred#41;"]
          n2["bill"]
          n3["choose"]
          n5["mail"]
          n6["present"]
          n7["quote"]
          subgraph c1["stay"]
            n8["search"]
            subgraph c0["explore"]
              n0("agent")
              n4{"gate"}
            end
          end
          start --> n0
          start --> n1
          n0 -.->|"direct"| done
          n0 --> n4
          n1 --> done
          n2 --o|"join"| n6
          n3 --> n2
          n3 --> n5
          n4 -.->|"stay"| n0
          n4 -.->|"go"| n8
          n5 --o|"join"| n6
          n6 -.->|"go"| done
          n6 -.->|"go"| n0
          n7 --> n3
          n8 ==>|"fan out"| n7
          linkStyle 2 stroke:royalblue
    "#]]
    .assert_eq(&topology.mermaid().to_string());
}

#[tokio::test]
async fn a_router_that_goes_where_it_does_not_say_fails_the_turn() {
    let graph = |moves: &str| {
        let text = format!(
            r#"{{
                "version": 1,
                "name": "lost",
                "nodes": [{{ "name": "a", "use": "quote" }}, {{ "name": "b", "use": "quote" }}],
                "edges": [{{ "from": "b", "to": "__end__" }}],
                "routers": [{{ "from": "__start__", "use": "lost", "config": "a", "moves": {moves} }},
                            {{ "from": "a", "use": "lost", "config": "b", "moves": {{ "targets": ["b"] }} }}],
                "lints": {{ "G005": "ignore", "G009": "ignore" }}
            }}"#
        );
        Graph::from_json(&text, &registry()).unwrap()
    };
    let mut texts = Vec::new();
    for moves in [r#"{ "targets": ["b"] }"#, r#"{ "sends": ["a"] }"#, r#"{ "direct": true }"#] {
        let error: TurnError = graph(moves).runner().thread("t").run(DynUpdate::default()).await.unwrap_err();
        assert!(matches!(&*error.error, RunError::Entry { .. }), "{error}");
        texts.push(error.to_string());
    }
    expect![[r#"
        thread `t`: the router of START failed: it goes to `a`, which it doesn't declare; its declared targets: `b`; nothing of the input was kept, send it again once the router can decide
        thread `t`: the router of START failed: it goes to `a`, which it doesn't declare; its declared targets: none; nothing of the input was kept, send it again once the router can decide
        thread `t`: the router of START failed: it goes to `a`, which it doesn't declare; its declared targets: none; nothing of the input was kept, send it again once the router can decide"#]].assert_eq(&texts.join("\n"));
}
