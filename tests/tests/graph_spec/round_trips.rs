//! From a file to a graph and back, and for graphs that are described by code.

use std::time::Duration;

use behaviour_tests::Trip;
use graph_engine::{
    Cache, CacheEntry, ClusterEntry, Command, EdgeEntry, FieldEntry, Graph, GraphSpec, JoinEntry, JsonType, Level,
    Lint, Merge, Moves, NodeDefaults, NodeEntry, NodeExt, NodeKind, PolicyEntry, Retry, RetryEntry, Route, RouterEntry,
    START, Siblings, Snap,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::registry::registry;
use super::{HOTEL, hotel};

#[test]
fn a_graph_gives_back_what_it_was_built_from() {
    let spec = GraphSpec::from_json(HOTEL).unwrap();
    let graph = spec.build(&registry()).unwrap();
    assert_eq!(graph.spec(), spec);
    let again = GraphSpec::from_json(&graph.spec().to_json()).unwrap();
    assert_eq!(again, spec);
    let rebuilt = again.build(&registry()).unwrap();
    assert_eq!(rebuilt.topology(), graph.topology());
    assert_eq!(rebuilt.topology().mermaid().to_string(), graph.topology().mermaid().to_string());
    assert_eq!(rebuilt.topology().dot().to_string(), graph.topology().dot().to_string());
    assert_eq!(rebuilt.schema().specs(), hotel().schema().specs());
}

#[test]
fn the_text_that_a_spec_writes_is_the_one_that_was_read() {
    let (read, written): (Value, Value) = (
        serde_json::from_str(HOTEL).unwrap(),
        serde_json::from_str(&GraphSpec::from_json(HOTEL).unwrap().to_json()).unwrap(),
    );
    assert_eq!(read, written);
}

#[derive(Route)]
#[route(stay, direct)]
enum FromA {
    B,
    C(u32),
}

async fn a(trip: Snap<Trip>) -> Command<Trip, FromA> {
    if trip.city.is_empty() { Command::declared() } else { Command::fan_out([FromA::B, FromA::C(1)]) }
}

async fn none(_: Snap<Trip>) {}

async fn three(_: graph_engine::In<u32>) {}

#[test]
fn a_graph_that_was_described_by_code_is_data_too() {
    let graph = Graph::<Trip>::builder("coded")
        .cluster("outer", "a", |c| {
            c.node(
                "a",
                a.retry(
                    Retry::fixed(2, Duration::from_millis(5)).when(|_| true).or(Retry::exponential(3, Duration::ZERO)),
                ),
            )
            .cluster("inner", "b", |c| c.node("b", none.writes(Trip::CITY).timeout(Duration::from_micros(1500))))
        })
        .node("c", three.kind(NodeKind::Tools).deferred().cache(Cache::by_payload::<u32>()).limit(2))
        .defaults(NodeDefaults::new().idle_timeout(Duration::from_secs(1)))
        .siblings(Siblings::Cancel)
        .input(Trip::CITY)
        .edge(START, "a")
        .edge("a", "d")
        .node("d", none)
        .node("e", none)
        .join(["d", "b"], "e")
        .route_reading("e", Trip::CITY | Trip::LAST, |_: &Trip| FromE::End)
        .lint(Lint::ImplicitEnd, Level::Ignore)
        .lint(Lint::TwoReplies, Level::Error)
        .compile()
        .unwrap();
    let spec = graph.spec();
    assert_eq!(GraphSpec::from_json(&spec.to_json()).unwrap(), spec);
    expect_test::expect![[r#"
        {
          "version": 1,
          "name": "coded",
          "fields": [
            {
              "name": "city"
            },
            {
              "name": "last",
              "merge": "any"
            },
            {
              "name": "log",
              "merge": "append"
            },
            {
              "name": "total",
              "merge": "with",
              "reducer": "add"
            },
            {
              "name": "draft",
              "transient": true
            }
          ],
          "nodes": [
            {
              "name": "a",
              "use": "a",
              "moves": {
                "targets": [
                  "b"
                ],
                "sends": [
                  "c"
                ],
                "stay": true,
                "direct": true
              },
              "policy": {
                "retry": [
                  {
                    "attempts": 2,
                    "base_ms": 5,
                    "factor": 1.0,
                    "when": "retry:a"
                  },
                  {
                    "attempts": 3,
                    "base_ms": 0
                  }
                ],
                "idle_timeout_ms": 1000
              }
            },
            {
              "name": "b",
              "use": "b",
              "writes": [
                "city"
              ],
              "policy": {
                "timeout_ms": 2,
                "idle_timeout_ms": 1000
              }
            },
            {
              "name": "c",
              "use": "c",
              "kind": "tools",
              "deferred": true,
              "policy": {
                "cache": {
                  "by_code": true
                },
                "limit": 2,
                "idle_timeout_ms": 1000
              }
            },
            {
              "name": "d",
              "use": "d",
              "policy": {
                "idle_timeout_ms": 1000
              }
            },
            {
              "name": "e",
              "use": "e",
              "policy": {
                "idle_timeout_ms": 1000
              }
            }
          ],
          "edges": [
            {
              "from": "__start__",
              "to": "a"
            },
            {
              "from": "a",
              "to": "d"
            }
          ],
          "joins": [
            {
              "from": [
                "d",
                "b"
              ],
              "to": "e"
            }
          ],
          "routers": [
            {
              "from": "e",
              "use": "route:e",
              "reads": [
                "city",
                "last"
              ],
              "moves": {
                "targets": [
                  "__end__"
                ]
              }
            }
          ],
          "clusters": [
            {
              "name": "outer",
              "entry": "a",
              "members": [
                "a"
              ],
              "clusters": [
                {
                  "name": "inner",
                  "entry": "b",
                  "members": [
                    "b"
                  ]
                }
              ]
            }
          ],
          "siblings": "cancel",
          "input": [
            "city"
          ],
          "lints": {
            "G103": "ignore",
            "G104": "error"
          }
        }"#]]
    .assert_eq(&spec.to_json());
}

#[derive(Route)]
enum FromE {
    #[route(end)]
    End,
}

fn name() -> impl Strategy<Value = graph_engine::Name> {
    prop_oneof![
        "[a-c]{1,2}".prop_map(graph_engine::Name::from),
        "\\PC{0,3}".prop_map(graph_engine::Name::from),
        Just("~/\"\\\n\u{7f}".into()),
        Just("__start__".into()),
        Just("__end__".into()),
    ]
}

fn names() -> impl Strategy<Value = Vec<graph_engine::Name>> {
    vec(name(), 0..3)
}

fn config() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        proptest::num::f64::NORMAL.prop_map(Value::from),
        "\\PC{0,5}".prop_map(Value::from),
        vec(any::<bool>(), 0..3).prop_map(|list| json!(list)),
        btree_map("\\PC{0,3}", any::<u8>(), 0..3).prop_map(|members| json!(members)),
    ]
}

fn moves() -> impl Strategy<Value = Moves> {
    (names(), names(), any::<[bool; 4]>()).prop_map(|(targets, sends, [stay, direct, finish, dynamic])| {
        let mut moves = Moves::to(targets);
        moves.sends = sends;
        (moves.stay, moves.direct, moves.finish, moves.dynamic) = (stay, direct, finish, dynamic);
        moves
    })
}

fn merge() -> impl Strategy<Value = Merge> {
    prop_oneof![Just(Merge::One), Just(Merge::Any), Just(Merge::Append), Just(Merge::With)]
}

fn field() -> impl Strategy<Value = FieldEntry> {
    let kind = proptest::sample::select(JsonType::ALL);
    (name(), merge(), option::of(name()), any::<bool>(), kind, config()).prop_map(
        |(name, merge, reducer, transient, kind, default)| {
            let mut field = FieldEntry::new(name, merge);
            (field.reducer, field.transient, field.r#type, field.default) = (reducer, transient, kind, default);
            field
        },
    )
}

fn retry() -> impl Strategy<Value = RetryEntry> {
    let numbers = (any::<u32>(), any::<u64>(), proptest::num::f64::NORMAL, any::<u64>(), proptest::num::f64::NORMAL);
    (numbers, option::of(name())).prop_map(|((attempts, base, factor, longest, jitter), when)| {
        let mut retry = RetryEntry::new(attempts, base);
        (retry.factor, retry.max_wait_ms, retry.jitter, retry.when) = (factor, longest, jitter, when);
        retry
    })
}

fn policy() -> impl Strategy<Value = PolicyEntry> {
    let cache =
        (names(), any::<[bool; 2]>(), option::of(any::<u64>())).prop_map(|(fields, [payload, by_code], ttl)| {
            let mut cache = CacheEntry::by(fields);
            (cache.payload, cache.by_code, cache.ttl_ms) = (payload, by_code, ttl);
            cache
        });
    let times = (option::of(any::<u64>()), option::of(any::<u64>()));
    (option::of(cache), option::of(any::<u32>()), vec(retry(), 0..3), times, option::of(name())).prop_map(
        |(cache, limit, retry, (timeout, idle_timeout), on_error)| {
            let mut policy = PolicyEntry::default();
            (policy.cache, policy.limit, policy.retry) = (cache, limit, retry);
            (policy.timeout_ms, policy.idle_timeout_ms, policy.on_error) = (timeout, idle_timeout, on_error);
            policy
        },
    )
}

fn node() -> impl Strategy<Value = NodeEntry> {
    use NodeKind::{Agent, Gate, Human, Plain, Tools};
    let kind = option::of(proptest::sample::select(vec![Plain, Agent, Tools, Gate, Human]));
    let head = (name(), name(), config(), kind, any::<bool>());
    (head, option::of(names()), moves(), policy()).prop_map(
        |((name, use_, config, kind, deferred), writes, moves, policy)| {
            let mut node = NodeEntry::new(name, use_);
            (node.config, node.kind, node.deferred) = (config, kind, deferred);
            (node.writes, node.moves, node.policy) = (writes, moves, policy);
            node
        },
    )
}

fn router() -> impl Strategy<Value = RouterEntry> {
    (name(), name(), config(), names(), moves()).prop_map(|(from, use_, config, reads, moves)| {
        let mut router = RouterEntry::new(from, use_, moves);
        (router.config, router.reads) = (config, reads);
        router
    })
}

fn cluster() -> impl Strategy<Value = ClusterEntry> {
    let leaf = (name(), name(), names()).prop_map(|(name, entry, members)| ClusterEntry::new(name, entry, members));
    leaf.prop_recursive(3, 8, 3, |inner| {
        (name(), name(), names(), vec(inner, 0..3)).prop_map(|(name, entry, members, clusters)| {
            let mut cluster = ClusterEntry::new(name, entry, members);
            cluster.clusters = clusters;
            cluster
        })
    })
}

fn spec() -> impl Strategy<Value = GraphSpec> {
    let levels = proptest::sample::select(vec![Level::Ignore, Level::Warn, Level::Error]);
    let lints = btree_map(proptest::sample::select(Lint::ALL), levels, 0..3);
    let edges = vec((name(), name()).prop_map(|(from, to)| EdgeEntry::new(from, to)), 0..4);
    let joins = vec((names(), name()).prop_map(|(from, to)| JoinEntry::new(from, to)), 0..3);
    let parts = (vec(field(), 0..4), vec(node(), 0..4), edges, joins, vec(router(), 0..3), vec(cluster(), 0..3));
    let siblings = proptest::sample::select(vec![Siblings::Finish, Siblings::Cancel]);
    let rules = (policy(), siblings, option::of(names()), lints);
    (name(), parts, rules).prop_map(|(name, (fields, nodes, edges, joins, routers, clusters), rules)| {
        let mut spec = GraphSpec::new(name);
        (spec.fields, spec.nodes, spec.edges, spec.joins) = (fields, nodes, edges, joins);
        (spec.routers, spec.clusters) = (routers, clusters);
        (spec.defaults, spec.siblings, spec.input, spec.lints) = rules;
        spec
    })
}

proptest! {
    #[test]
    fn every_spec_is_read_as_it_was_written(spec in spec()) {
        let text = spec.to_json();
        prop_assert_eq!(&GraphSpec::from_json(&text).unwrap(), &spec);
        // The derived reader, for specs inside of other data, agrees.
        prop_assert_eq!(&serde_json::from_str::<GraphSpec>(&text).unwrap(), &spec);
    }

    #[test]
    fn every_mistake_of_a_random_spec_has_a_place_in_its_text(spec in spec()) {
        let text = spec.to_json();
        match Graph::from_json(&text, &registry()) {
            Ok(graph) => {
                prop_assert_eq!(&graph.spec(), &spec);
                let again = Graph::from_json(&graph.spec().to_json(), &registry()).unwrap();
                prop_assert_eq!(again.topology(), graph.topology());
            }
            Err(error) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                for mistake in &error.mistakes {
                    prop_assert!(mistake.place.is_some(), "{}", mistake);
                    // What is missing is told at the object around it, so the parent is always there.
                    let parent = mistake.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                    let there = value.pointer(parent).is_some() || mistake.pointer == "/edges";
                    prop_assert!(there, "{} in {}", mistake, text);
                }
                prop_assert!(error.mistakes.is_sorted_by_key(|mistake| mistake.place));
            }
        }
    }
}
