//! What is refused when tools are put together.

use graph_engine::testing::node_once;
use graph_engine::{END, Graph, IntoNode, Lint, NodeSpec, START, State, async_trait};
use graph_nodes::model::{Response, ToolSpec, Turn};
use graph_nodes::stage::{AgentNode, Draft, Held, ToolsNode};
use graph_nodes::tool::{Call, SchemaError, Tool, ToolBox, ToolBoxError, ToolError, ToolReply, schema_of};
use serde_json::json;

use crate::support::{Stage, Trip, call, fixed, seat};

struct Raw(ToolSpec);

#[async_trait]
impl<S: State> Tool<S> for Raw {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, call: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        Ok(ToolReply::json(call.arguments()))
    }
}

fn build(name: &str, schema: serde_json::Value) -> Result<ToolBox<Trip>, ToolBoxError> {
    ToolBox::builder().tool(Raw(ToolSpec::new(name, "Raw.", schema))).build()
}

#[test]
fn two_tools_of_one_name() {
    let same = || fixed("a", || Ok("A".into()));
    let error = ToolBox::<Trip>::builder().tool(same()).tool(same()).build().unwrap_err();
    assert_eq!(error, ToolBoxError::DuplicateTool { name: "a".into() });
}

/// A tool that programs know by another name than models.
struct Known(ToolSpec, &'static str);

#[async_trait]
impl<S: State> Tool<S> for Known {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn alias(&self) -> Option<&str> {
        Some(self.1)
    }

    async fn call(&self, _: Call<'_, S>) -> Result<ToolReply<S>, ToolError> {
        Ok("known".into())
    }
}

fn known(name: &str, alias: &'static str) -> Known {
    Known(ToolSpec::new(name, "Known.", json!({"type": "object"})), alias)
}

#[test]
fn an_alias_is_a_name_for_programs() {
    let group = || graph_nodes::tool::group(|_| async { Err("never called".into()) });
    let tools = || ToolBox::<Trip>::builder().tools([known("files__read", "files.read"), known("b", "b")]);
    let tools_of = |names: [&str; 2]| tools().group(names, group()).build();
    let built = tools_of(["files.read", "b"]).unwrap();
    assert_eq!(built.names(), ["files__read", "b"]);
    let offered = built.expose(["b", "files.read", "files__read"]).unwrap();
    assert_eq!((offered.names(), offered.warnings()), (vec!["b", "files__read"], Vec::new()));
    // A group is of the tools, whatever they were called by.
    let twice = tools().group(["files.read", "b"], group()).group(["b", "files__read"], group()).build();
    assert_eq!(twice.unwrap_err(), ToolBoxError::GroupConflict { names: vec!["b".into(), "files__read".into()] });
}

#[test]
fn an_alias_is_as_unique_as_a_name() {
    for (one, other) in [(known("a", "x"), known("b", "x")), (known("a", "b"), known("b", "y"))] {
        let error = ToolBox::<Trip>::builder().tools([one, other]).build().unwrap_err();
        assert!(matches!(error, ToolBoxError::DuplicateTool { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_model_knows_no_alias() {
    let tools = ToolBox::builder().tool(known("files__read", "files.read")).build().unwrap();
    let tools = ToolsNode::new("talk", seat(), tools, ["files.read"]).then("agent");
    let response = Response::from_calls([call("c1", "files.read")]);
    let draft = Draft { stage: "talk".into(), held: Held::Calls(Box::new(response)) };
    let outcome = node_once(tools).state(Trip { draft: Some(draft), ..Trip::default() }).run().await.unwrap();
    let mut trip = Trip::default();
    trip.apply(outcome.update);
    let answer = trip.history.last().unwrap().text();
    assert_eq!(answer, "there is no tool `files.read`; the tools are `files__read`");
}

#[test]
fn a_blank_name() {
    let error = build(" ", json!({"type": "object"})).unwrap_err();
    assert_eq!(error.to_string(), "a tool has a blank name (`Raw.`); name it");
}

#[test]
fn a_name_that_providers_refuse() {
    let build = |name: &str| build(name, json!({"type": "object"}));
    for name in ["show offers", "größe", "a.b", "a\u{202e}b", "", "x".repeat(65).as_str()] {
        let error = build(name).unwrap_err();
        assert!(matches!(error, ToolBoxError::BadName { .. } | ToolBoxError::BlankName { .. }), "{name}: {error}");
    }
    let long = build(&"x".repeat(1 << 20)).unwrap_err().to_string();
    assert!(long.len() < 300, "{}", long.len());
    assert!(build("Show_offers-2").is_ok() && build(&"x".repeat(64)).is_ok());
}

#[test]
fn an_object_without_properties_says_that_it_has_none() {
    assert_eq!(schema_of::<crate::support::NoArgs>(), json!({"type": "object", "properties": {}}));
}

#[test]
fn schemas_that_describe_no_arguments() {
    for (schema, found) in [
        (json!(true), "`true`"),
        (json!({}), "no type"),
        (json!({"type": "array"}), "`array`"),
        (json!({"type": ["object", "null"]}), "`[\"object\",\"null\"]`"),
    ] {
        let reason = SchemaError::NotAnObject { found: found.into() };
        assert_eq!(build("a", schema).unwrap_err(), ToolBoxError::BadSchema { name: "a".into(), reason });
    }
    let broken = json!({"type": "object", "properties": {"n": {"type": "numeral"}}});
    let error = build("a", broken).unwrap_err();
    let text = "the schema of tool `a` can't be used: it is no JSON schema, at `/properties/n/type`: \
                \"numeral\" is not valid under any of the schemas listed in the 'anyOf' keyword; correct it";
    assert_eq!(error.to_string(), text);
    // The text says it all, so nothing is said twice by whoever prints the sources too.
    assert!(std::error::Error::source(&error).is_none());
    let elsewhere = json!({"type": "object", "properties": {"n": {"$ref": "https://example.invalid/n"}}});
    assert!(build("a", elsewhere).is_err());
}

#[test]
fn an_empty_box_says_so() {
    let error = ToolBox::<Trip>::default().expose(["fly"]).unwrap_err();
    let text = "there is no tool `fly`; the box has no tools; add it with `ToolBoxBuilder::tool`";
    assert_eq!(error.to_string(), text);
}

#[test]
fn an_unknown_name_is_told_all_there_are() {
    let error = build("a", json!({"type": "object"})).unwrap().expose(["a", "b"]).unwrap_err();
    assert_eq!(error, ToolBoxError::UnknownTool { name: "b".into(), known: vec!["a".into()] });
}

#[tokio::test(start_paused = true)]
async fn an_unknown_name_of_a_stage_is_found_by_compile_and_fails_its_first_turn() {
    let text = "stage `explore`: there is no tool `fly`; the tools are `a`";
    let tools = ToolBox::builder().tool(fixed("a", || Ok("A".into()))).build().unwrap();
    let made: [NodeSpec<Trip>; 2] = [
        AgentNode::new("explore", seat()).tools(tools.clone()).with_tools(["fly"]).into_node(),
        ToolsNode::new("explore", seat(), tools, ["fly"]).into_node(),
    ];
    for node in made {
        let refused = Graph::<Trip>::builder("trip").node("n", node).edge(START, "n").edge("n", END).compile();
        let found = refused.unwrap_err().diagnostics;
        assert_eq!((found[0].lint, found[0].message.clone()), (Lint::NodeProblem, format!("`n` can't run: {text}")));
    }

    let stage = Stage { agent: |agent| agent.with_tools(["fly"]), ..Stage::tools([fixed("a", || Ok("A".into()))]) };
    let ran = stage.turn([Turn::text("never")]).await;
    assert_eq!(ran.stage_error().to_string(), text);
    assert_eq!(ran.asked(), 0);
}

#[test]
fn a_type_that_contains_itself_keeps_its_reference() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Tree {
        children: Vec<Tree>,
    }

    let schema = schema_of::<Tree>();
    assert_eq!(schema["type"], "object");
    assert!(build("tree", schema).is_ok());
}

#[test]
fn parts_are_written_in_place() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Inner {
        n: bool,
    }

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Outer {
        inner: Inner,
    }

    let expected = json!({
        "type": "object",
        "properties": {
            "inner": {"type": "object", "properties": {"n": {"type": "boolean"}}, "required": ["n"]},
        },
        "required": ["inner"],
    });
    assert_eq!(schema_of::<Outer>(), expected);
}
