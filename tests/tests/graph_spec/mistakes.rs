//! Every mistake of a file at once, each with its exact place.

use expect_test::{Expect, expect};
use graph_engine::{Graph, GraphSpec, MistakeKind};

use super::registry::registry;

fn check(text: &str, expected: Expect) {
    let error = Graph::from_json(text, &registry()).unwrap_err();
    expected.assert_eq(&error.to_string());
}

#[test]
fn twelve_mistakes_are_told_at_once() {
    let text = r#"{
  "version": 1,
  "name": "hotel",
  "owner": "me",
  "fields": [
    { "name": "city", "merge": "onne" },
    { "name": "total", "merge": "with", "reducer": "summ" },
    { "name": "city", "type": "string" },
    { "name": "nights", "type": "integer", "default": "two" }
  ],
  "nodes": [
    { "name": "explore", "use": "noet", "config": {} },
    { "name": "search", "use": "note", "config": { "into": "lines", "text": "hm" } },
    { "name": "present", "use": "set", "config": { "field": "city" }, "writes": ["citty"], "use": "set" },
    { "name": "present", "use": "quote", "deferred": "yes" },
    { "use": "quote", "policy": { "retry": [{ "attempts": 0, "base_ms": -5 }], "timout_ms": 3 } },
    { "name": "book", "use": "quote", "policy": { "retry": [
        { "attempts": 2, "base_ms": 1, "when": "brief" }, { "attempts": 0, "base_ms": 1, "jitter": 2, "when": "breif" }
    ], "cache": { "fields": ["town"] }, "limit": 0, "on_error": "apologise" } }
  ],
  "edges": [
    { "from": "__start__", "to": "explore" },
    { "from": "__start__", "to": "explore" },
    { "from": "search" }
  ],
  "routers": [
    { "from": "book", "use": "untl", "moves": { "targets": ["search"], "dynamic": true } },
    { "from": "book", "use": "each", "config": { "item": 7 }, "moves": { "sends": [4] } }
  ],
  "clusters": [
    { "name": "c", "entry": "explore", "members": ["explore", "search"], "clusters": [
      { "name": "d", "entry": "search", "members": ["search"] }
    ] }
  ],
  "defaults": { "cache": {}, "idle_timeout_ms": 0, "on_error": "apologize" },
  "siblings": "finsh",
  "input": ["city", "when"],
  "lints": { "G999": "warn", "G003": "ignore", "G102": "loud" }
}"#;
    check(
        text,
        expect![[r#"
            graph `hotel` has 36 mistakes
              4:3 /owner: there is no member `owner` here; there are `version`, `name`, `fields`, `nodes`, `edges`, `joins`, `routers`, `clusters`, `defaults`, `siblings`, `input`, `lints`
              6:32 /fields/0/merge: `onne` is no merge rule, did you mean `one`; there are `one`, `any`, `append`, `with`
              7:52 /fields/1/reducer: no reducer has the name `summ`, did you mean `sum`; there are `sum`
              8:15 /fields/2/name: field `city` is declared twice; rename one of them
              9:55 /fields/3/default: the default of field `nights` is of type string, but the field holds integer; make both the same
              12:33 /nodes/0/use: no node kind has the name `noet`, did you mean `note`; there are `ask`, `cheapest`, `faulty`, `note`, `quote`, `set`
              13:50 /nodes/1/config: `note` refuses its config: the state has no field `lines`; its fields are `city`, `total`, `nights`
              14:50 /nodes/2/config: `set` refuses its config: missing field `value`
              14:82 /nodes/2/writes/0: no field has the name `citty`, did you mean `city`; there are `city`, `total`, `nights`
              14:92 /nodes/2/use: the object has `use` twice; remove one of them
              15:15 /nodes/3/name: error[G001]: the node `present` is declared twice (rename one of them)
              15:54 /nodes/3/deferred: expected true or false, found string
              16:5 /nodes/4: `name` is missing
              16:59 /nodes/4/policy/retry/0/attempts: expected at least 1, found 0
              16:73 /nodes/4/policy/retry/0/base_ms: expected a whole number from 0 on, found -5
              16:80 /nodes/4/policy/timout_ms: there is no member `timout_ms` here, did you mean `timeout_ms`; there are `cache`, `limit`, `retry`, `timeout_ms`, `idle_timeout_ms`, `on_error`
              18:73 /nodes/5/policy/retry/1/attempts: expected at least 1, found 0
              18:100 /nodes/5/policy/retry/1/jitter: expected a number from 0 to 1, found 2
              18:111 /nodes/5/policy/retry/1/when: no retry predicate has the name `breif`, did you mean `brief`; there are `brief`
              19:30 /nodes/5/policy/cache/fields/0: no field has the name `town`; there are `city`, `total`, `nights`
              19:50 /nodes/5/policy/limit: expected at least 1, found 0
              23:5 /edges/1: error[G011]: the edge from `START` to `explore` is declared twice (remove one of them)
              24:5 /edges/2: `to` is missing
              27:30 /routers/0/use: no router has the name `untl`, did you mean `until`; there are `each`, `lost`, `until`
              27:83 /routers/0/moves/dynamic: a router can't be dynamic; list its `targets` and `sends`
              28:5 /routers/1: error[G008]: `book` has 2 routers (keep one router, which may go to several targets)
              28:48 /routers/1/config: `each` refuses its config: invalid type: integer `7`, expected a string
              28:84 /routers/1/moves/sends/0: expected a string, found 4
              32:53 /clusters/0/clusters/0/members/0: `search` is a member of cluster `c` already; a node is listed in its innermost cluster only
              35:26 /defaults/cache: results are cached by node; give the nodes a `cache`
              35:49 /defaults/idle_timeout_ms: expected at least 1, found 0
              36:15 /siblings: `finsh` is no rule for siblings, did you mean `finish`; there are `finish`, `cancel`
              37:21 /input/1: no field has the name `when`; there are `city`, `total`, `nights`
              38:22 /lints/G999: `G999` is no code of a lint; there are `G001`, `G002`, `G003`, `G004`, `G005`, `G006`, `G007`, `G008`, `G009`, `G010`, `G011`, `G012`, `G013`, `G014`, `G015`, `G016`, `G101`, `G102`, `G103`, `G104`, `G105`
              38:38 /lints/G003: the level of G003 can't be changed, because a graph with this finding could not run
              38:56 /lints/G102: `loud` is no level; there are `ignore`, `warn`, `error`"#]],
    );
}

#[test]
fn what_compile_finds_has_places_too() {
    let text = r#"{
  "version": 1,
  "name": "hotel",
  "nodes": [
    { "name": "a", "use": "quote" },
    { "name": "b", "use": "set", "config": { "field": "x", "value": 1 } },
    { "name": "c", "use": "set", "config": { "field": "x", "value": 1 } },
    { "name": "c", "use": "set", "config": { "field": "x", "value": 1 } },
    { "name": "__d", "use": "set", "config": { "field": "x", "value": 1 } }
  ],
  "edges": [
    { "from": "START", "to": "a" },
    { "from": "__start__", "to": "a" },
    { "from": "b", "to": "c" },
    { "from": "c", "to": "b" },
    { "from": "b", "to": "nowhere" },
    { "from": "c", "to": "b" }
  ],
  "joins": [{ "from": ["a", "b", "a"], "to": "c" }, { "from": ["__start__"], "to": "lost" }],
  "routers": [
    { "from": "a", "use": "lost", "config": "b", "moves": { "targets": ["b", "gone"] } },
    { "from": "a", "use": "lost", "config": "b", "moves": { "targets": ["b"], "sends": ["gone"] } }
  ],
  "clusters": [{ "name": "k", "entry": "a", "members": ["b"] }, { "name": "k", "entry": "none" }]
}"#;
    check(
        text,
        expect![[r#"
            graph `hotel` has 17 mistakes
              8:15 /nodes/3/name: error[G001]: the node `c` is declared twice (rename one of them)
              9:5 /nodes/4: error[G005]: no path from START leads to `__d` (add an edge or route to it, or remove it)
              9:15 /nodes/4/name: error[G002]: `__d` can't be the name of a node (names are not empty and don't begin with `__`, which is kept for the engine)
              13:15 /edges/1/from: error[G003]: a declared edge begins at `START`, which is no node (did you mean `__start__`; the nodes are `__d`, `a`, `b`, `c`)
              13:34 /edges/1/to: error[G009]: `START` leads to `a` without a payload, but `a` asks for a `graphs::graph_spec::registry::Hotel` (send it with `fan_out`, by a route variant that carries the value)
              14:5 /edges/2: error[G007]: edges that are always taken lead round in a circle: `b`, `c` (replace one of the edges by a route that can leave the circle)
              16:26 /edges/4/to: error[G003]: a declared edge leads from `b` to `nowhere`, which is no node (the nodes are `__d`, `a`, `b`, `c`)
              17:5 /edges/5: error[G011]: the edge from `c` to `b` is declared twice (remove one of them)
              19:34 /joins/0/from/2: error[G011]: the join to `c` names `a` twice (name each source once)
              19:53 /joins/1: error[G006]: the join to `lost` waits for START, which is no node and never finishes (a join needs sources that run and finish by their declared edges)
              19:84 /joins/1/to: error[G003]: a declared join leads from `__start__` to `lost`, which is no node (the nodes are `__d`, `a`, `b`, `c`)
              21:5 /routers/0: error[G008]: `a` has a router and a join (a node has either static edges and joins, or one router)
              21:78 /routers/0/moves/targets/1: error[G003]: a declared route leads from `a` to `gone`, which is no node (the nodes are `__d`, `a`, `b`, `c`)
              22:5 /routers/1: error[G008]: `a` has 2 routers (keep one router, which may go to several targets)
              24:40 /clusters/0/entry: error[G012]: the entry `a` of cluster `k` is outside of it (add the entry with `node` inside the cluster)
              24:75 /clusters/1/name: error[G001]: the cluster `k` is declared twice (rename one of them)
              24:89 /clusters/1/entry: error[G003]: the entry of cluster `k` is `none`, which is no node (the nodes are `__d`, `a`, `b`, `c`)"#]],
    );
}

#[test]
fn a_text_that_is_no_json_has_this_one_mistake() {
    check(
        "{\n  \"version\": 1,\n  \"name\" \"hotel\"\n}",
        expect![[r#"
        the graph has 1 mistake
          3:10 the text is no JSON: expected `:`"#]],
    );
    check(
        "",
        expect![[r#"
        the graph has 1 mistake
          1:1 the text is no JSON: EOF while parsing a value"#]],
    );
    check(
        "[1, 2",
        expect![[r#"
        the graph has 1 mistake
          1:5 the text is no JSON: EOF while parsing a list"#]],
    );
    check(
        "{\n  \"näme\": \"Zürich\" \"version\": 1 }",
        expect![[r#"
        the graph has 1 mistake
          2:20 the text is no JSON: expected `,` or `}`"#]],
    );
    check(
        "7",
        expect![[r#"
            the graph has 1 mistake
              1:1 expected an object, found 7"#]],
    );
}

#[test]
fn what_is_not_known_because_of_another_mistake_is_not_guessed() {
    // The name of the first node can't be read, so nobody knows whether `a` is one.
    let text = r#"{"version": 1, "name": "g",
        "nodes": [{"name": 7, "use": "quote"}],
        "edges": [{"from": "__start__", "to": "a"}],
        "clusters": [{"name": "c", "entry": "a", "members": ["a"]}]}"#;
    check(
        text,
        expect![[r#"
            graph `g` has 1 mistake
              2:28 /nodes/0/name: expected a string, found 7"#]],
    );
    // The edge to `b` may be the one that can't be read.
    let text = r#"{"version": 1, "name": "g",
        "nodes": [{"name": "a", "use": "set", "config": {"field": "", "value": 1}},
                  {"name": "b", "use": "set", "config": {"field": "", "value": 1}}],
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "too": "b"}]}"#;
    check(
        text,
        expect![[r#"
        graph `g` has 2 mistakes
          4:53 /edges/1: `to` is missing
          4:67 /edges/1/too: there is no member `too` here, did you mean `to`; there are `from`, `to`"#]],
    );
    // A node that could not be made may have gone anywhere.
    let text = r#"{"version": 1, "name": "g",
        "nodes": [{"name": "a", "use": "faulty"}, {"name": "b", "use": "set", "config": {"field": "", "value": 1}}],
        "edges": [{"from": "__start__", "to": "a"}]}"#;
    check(
        text,
        expect![[r#"
        graph `g` has 1 mistake
          2:19 /nodes/0/config: `faulty` refuses its config: it panicked: no such luck"#]],
    );
    // Fields are not known.
    let text = r#"{"version": 1, "name": "g",
        "fields": [{"merge": "any"}],
        "nodes": [{"name": "a", "use": "set", "config": {"field": "", "value": 1}, "writes": ["x"]}],
        "edges": [{"from": "__start__", "to": "a"}]}"#;
    check(
        text,
        expect![[r#"
        graph `g` has 1 mistake
          2:20 /fields/0: `name` is missing"#]],
    );
}

#[test]
fn a_wrong_form_is_told_without_a_registry() {
    let error = GraphSpec::from_json(r#"{"version": 2, "name": "g", "nodes": {}, "edges": [3], "lints": []}"#);
    expect![[r#"
        graph `g` has 3 mistakes
          1:38 /nodes: expected a list, found object
          1:52 /edges/0: expected an object, found 3
          1:65 /lints: expected an object, found array"#]]
    .assert_eq(&error.unwrap_err().to_string());
    let spec = GraphSpec::from_json(r#"{"version": 2, "name": "g"}"#).unwrap();
    let error = spec.build(&registry()).unwrap_err();
    assert!(error.mistakes.iter().any(|mistake| mistake.kind == MistakeKind::Version { found: 2, reads: 1 }));
    assert!(error.mistakes.iter().all(|mistake| mistake.place.is_none()), "there is no text");
}

#[test]
fn more_than_64_fields_are_told_at_the_first_that_is_too_many() {
    let fields: Vec<String> = (0..66).map(|at| format!(r#"{{"name": "f{at}"}}"#)).collect();
    let text = format!(
        "{{\"version\": 1, \"name\": \"wide\", \"fields\": [\n{}\n], \"nodes\": [{{\"name\": \"a\", \"use\": \"set\", \
         \"config\": {{\"field\": \"f65\", \"value\": 1}}}}], \"edges\": [{{\"from\": \"__start__\", \"to\": \"a\"}}]}}",
        fields.join(",\n")
    );
    check(
        &text,
        expect![[r#"
        graph `wide` has 1 mistake
          66:1 /fields/64: error[G013]: the state has 66 fields; at most 64 are possible (group fields that belong together into a struct)"#]],
    );
}
