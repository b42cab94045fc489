//! What can be wrong with a state that is described at run time, and with a graph in a file.

use graph_engine::{
    DynState, FieldError, Graph, JsonType, MistakeKind, NodeError, Registry, Schema, SchemaField, SpecError,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::doc::{Entry, Section, variant_of};

fn state() -> DynState {
    let city = SchemaField::new("city").typed(JsonType::Text);
    DynState::new(Schema::new([city, SchemaField::new("notes").append()]).expect("a schema"))
}

/// Fields at run time.
pub(crate) fn fields() -> Section {
    let schema = |field: SchemaField, means| {
        let error = Schema::new([SchemaField::new("city"), field]).expect_err("refused");
        Entry::variant("SchemaError", &error, means)
    };
    let field = |error: Result<_, FieldError>, means| Entry::variant("FieldError", &error.expect_err("refused"), means);
    let wrong_default = SchemaField::new("nights").typed(JsonType::Integer).default_value(json!("two"));
    let list = state().update().append("notes", [1]).map(drop);
    let rule = state().update().set("notes", ["by train"]).expect_err("refused");
    let item = state().update().append("city", ["Oslo"]).expect_err("refused");
    assert!(list.is_ok(), "any items");
    Section {
        title: "Fields that are described at run time",
        intro: "A `Schema` is refused when it is made; a write of a `DynUpdate` is refused at once, before the node \
                returns it. In a node, `?` makes either of them the failure of its task.",
        entries: vec![
            schema(SchemaField::new("city").any(), "Two fields of one state have one name."),
            schema(SchemaField::new(""), "Every field has a name, under which checkpoints store it."),
            schema(
                wrong_default,
                "The value before the first write must be one that could be written. Leave it out to begin with \
                 `null`, or with an empty list in an `append` field.",
            ),
            field(state().update().set("town", "Oslo").map(drop), "A misspelt name, or a field of another graph."),
            field(
                state().update().set("city", 7).map(drop),
                "The type of a field is checked on every write. A field whose default is not `null` is never `null`.",
            ),
            Entry::variant(
                "FieldError",
                &rule,
                "Each merge rule has its own write. `put` writes by whatever rule the field has.",
            )
            .and(&item),
            field(
                state().update().set("city", f64::NAN).map(drop),
                "The value has no form in JSON, or `DynState::read` was asked for another type than the value has.",
            ),
        ],
    }
}

#[derive(Deserialize)]
struct Say {
    #[serde(rename = "text")]
    _text: String,
}

fn registry() -> Registry {
    Registry::new()
        .node("say", |_: Say| Ok::<_, NodeError>(|| async {}))
        .node("rest", |(): ()| Ok::<_, NodeError>(|| async {}))
        .router("anywhere", |to: String| Ok::<_, NodeError>(move |_: &DynState| to.clone()))
        .reducer("sum", |total: &Value, _: Value| Ok::<_, String>(total.clone()))
}

fn errors(text: &str) -> SpecError {
    Graph::from_json(text, &registry()).expect_err("it has mistakes")
}

/// The one mistake of this kind in a graph with these members and one node `explore`.
fn mistake(kind: &str, members: &str) -> MistakeKind {
    let version = if members.contains("version") { "" } else { r#""version": 1,"# };
    let text =
        format!(r#"{{ {version} "name": "trip", {members} "edges": [{{ "from": "__start__", "to": "explore" }}] }}"#);
    let found = errors(&text).mistakes.into_iter().map(|mistake| mistake.kind);
    let found: Vec<MistakeKind> = found.filter(|found| variant_of(found) == kind).collect();
    assert_eq!(found.len(), 1, "{kind}: {found:?}");
    found.into_iter().next().expect("one")
}

/// The same with the node.
fn with_node(kind: &str, members: &str) -> MistakeKind {
    mistake(kind, &format!(r#""nodes": [{{ "name": "explore", "use": "rest" }}], {members}"#))
}

fn entry(kind: &MistakeKind, means: &'static str) -> Entry {
    Entry::variant("MistakeKind", kind, means)
}

/// Graphs in files.
pub(crate) fn section() -> Section {
    let whole = errors(
        r#"{
  "version": 1,
  "name": "trip",
  "nodes": [{ "name": "explore", "use": "rset", "dferred": true }],
  "edges": [{ "from": "__start__", "to": "explroe" }]
}"#,
    );
    let syntax = errors("{ \"version\": 1").mistakes.remove(0).kind;
    let node = |members: &str| format!(r#""nodes": [{{ "name": "explore", "use": "rest", {members} }}],"#);
    let router = |moves: &str| format!(r#""routers": [{{ "from": "explore", "use": "anywhere", "moves": {moves} }}],"#);
    let clusters = r#""clusters": [{ "name": "a", "entry": "explore", "members": ["explore"] },
                                   { "name": "b", "entry": "explore", "members": ["explore"] }],"#;
    Section {
        title: "Graphs in files",
        intro: "`Graph::from_json` and `GraphSpec::build` give a `SpecError` with every `Mistake`: its place in the text \
                (line and column, from 1), its place in the data (a JSON pointer) and its `MistakeKind`. What a mistake \
                hides is not guessed, so a repaired file may show more.",
        entries: vec![
            Entry::plain("`SpecError`", [whole], "The findings of `compile()` are among the mistakes."),
            entry(&syntax, "Nothing else was looked at, because the text can't be read on."),
            entry(
                &with_node("DuplicateMember", r#""siblings": "cancel", "siblings": "finish","#),
                "JSON says nothing of what a name means that an object has twice, so it is never allowed.",
            ),
            entry(&with_node("UnknownMember", r#""routes": [],"#), "A misspelt name would otherwise be ignored."),
            entry(&mistake("MissingMember", r#""nodes": [{ "name": "explore" }],"#), "The place is the object's."),
            entry(&mistake("WrongType", r#""nodes": { "explore": "rest" },"#), "Lists stay lists, also of one."),
            entry(
                &with_node("UnknownWord", r#""siblings": "stop","#),
                "Merge rules, types, kinds of nodes, levels and codes of lints are fixed words.",
            ),
            entry(&mistake("OutOfRange", &node(r#""policy": { "limit": 0 }"#)), "The number would have no effect."),
            entry(&with_node("Version", r#""version": 7,"#), "The file is for another version of the engine."),
            entry(
                &mistake("UnknownName", r#""nodes": [{ "name": "explore", "use": "ask" }],"#),
                "Register it in the `Registry`, or repair the name.",
            )
            .and(&with_node("UnknownName", r#""input": ["city"],"#)),
            entry(
                &mistake("BadConfig", r#""nodes": [{ "name": "explore", "use": "say", "config": { "txet": "hm" } }],"#),
                "What serde or the constructor says. A constructor that panics is reported like this as well.",
            ),
            entry(&with_node("Field", r#""fields": [{ "name": "city" }, { "name": "city" }],"#), "See `SchemaError`."),
            entry(&with_node("NoReducer", r#""fields": [{ "name": "total", "merge": "with" }],"#), "Name one of them."),
            entry(
                &with_node("NotReduced", r#""fields": [{ "name": "total", "reducer": "sum" }],"#),
                "Add `\"merge\": \"with\"`, or remove the reducer.",
            ),
            entry(&with_node("FixedLint", r#""lints": { "G003": "warn" },"#), "Remove the line."),
            entry(&with_node("TwoClusters", clusters), "A cluster within a cluster stands in its `clusters`."),
            entry(&mistake("NoCacheKey", &node(r#""policy": { "cache": {} }"#)), "All tasks would share one result."),
            entry(
                &mistake("ByCode", &node(r#""policy": { "cache": { "by_code": true } }"#)),
                "`Graph::spec` writes it for graphs that were described by code.",
            ),
            entry(
                &with_node("DefaultCache", r#""defaults": { "cache": { "payload": true } },"#),
                "Nodes that read different fields can't share a key.",
            ),
            entry(
                &with_node("DynamicRouter", &router(r#"{ "dynamic": true }"#)),
                "Diagrams and checks need to know where a router may lead. Only a node can be dynamic.",
            ),
            entry(
                &mistake("Finding", r#""nodes": [{ "name": "present", "use": "rest" }],"#),
                "What keeps a graph from compiling, as above.",
            ),
        ],
    }
}
