//! The tools that a server lists.

use std::collections::{BTreeMap, BTreeSet};

use graph_engine::State;
use graph_nodes::model::ToolSpec;
use graph_nodes::tool::{Call, Tool, ToolBox, ToolBoxError, ToolError, ToolReply};
use rmcp::RoleClient;
use rmcp::model::PaginatedRequestParams;
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};

use crate::error::{McpError, ToolProblem};
use crate::name;
use crate::policy::{ToolPolicy, Traits, Trust};
use crate::text::{Secrets, clip};

/// How many tools are taken of one server.
const MOST_TOOLS: usize = 2_000;

/// How many pages: a list may have empty ones.
const MOST_PAGES: usize = 1_000;

/// The largest schema that is taken, in bytes as JSON.
const LARGEST_SCHEMA: usize = 256 * 1024;

/// How much of a description a model is told, in bytes.
const DESCRIPTION: usize = 8 * 1024;

/// What the user says of tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) policies: BTreeMap<String, ToolPolicy>,
    pub(crate) trust: Trust,
}

/// What a server listed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// By the names that the server uses.
    pub(crate) tools: BTreeMap<String, Listed>,
}

/// One tool of a listing.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) spec: ToolSpec,
    pub(crate) traits: Traits,
    pub(crate) problem: Option<ToolProblem>,
}

/// Asks for all pages.
pub(crate) async fn fetch(
    server: &str,
    peer: &Peer<RoleClient>,
    rules: &Rules,
    secrets: &Secrets,
) -> Result<Listing, Unlisted> {
    let mut found = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await.map_err(|error| match error {
            ServiceError::McpError(error) => Unlisted::Error(McpError::List {
                server: server.to_owned(),
                reason: clip(&secrets.hide(&error.message), 300),
            }),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => Unlisted::Gone,
            other => Unlisted::Error(McpError::List {
                server: server.to_owned(),
                reason: clip(&secrets.hide(&other.to_string()), 300),
            }),
        })?;
        found.extend(page.tools);
        if found.len() > MOST_TOOLS {
            break;
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(Listing::of(server, found, rules));
        }
    }
    Err(Unlisted::Error(McpError::TooManyTools { server: server.to_owned(), most: MOST_TOOLS }))
}

/// Why there is no listing.
pub(crate) enum Unlisted {
    /// The server is gone.
    Gone,
    /// It said something else.
    Error(McpError),
}

impl Listing {
    fn of(server: &str, found: Vec<rmcp::model::Tool>, rules: &Rules) -> Self {
        let mut tools: BTreeMap<String, Listed> = BTreeMap::new();
        let mut told: BTreeMap<String, String> = BTreeMap::new();
        for tool in found {
            let tool_name = tool.name.to_string();
            if let Some(first) = tools.get_mut(&tool_name) {
                first.problem = Some(ToolProblem::Twice);
                continue;
            }
            let policy = rules.policies.get(&tool_name).cloned().unwrap_or_default();
            let traits = Traits::of(tool.annotations.as_ref(), rules.trust, &policy);
            let description = clip(tool.description.as_deref().unwrap_or_default(), DESCRIPTION);
            let mut schema = Value::Object((*tool.input_schema).clone());
            if schema["type"] == "object" && schema.get("properties").is_none() {
                // Some providers refuse an object that doesn't say which properties it has, even if it has none.
                schema["properties"] = json!({});
            }
            let spec = ToolSpec::new(name::told(server, &tool_name), description, schema);
            let mut problem = problem(&tool_name, &spec);
            if let Some(other) = told.get(&spec.name) {
                let taken = |other: &str| ToolProblem::NameTaken { told: spec.name.clone(), other: other.to_owned() };
                problem = Some(taken(other));
                if let Some(first) = tools.get_mut(other) {
                    first.problem = Some(taken(&tool_name));
                }
            }
            told.insert(spec.name.clone(), tool_name.clone());
            tools.insert(tool_name, Listed { spec, traits, problem });
        }
        Self { tools }
    }

    /// The names that are asked for and are no tool's.
    pub(crate) fn check(&self, server: &str, rules: &Rules) -> Result<(), McpError> {
        let asked = rules.allow.iter().flatten().chain(rules.policies.keys());
        match asked.into_iter().find(|name| !self.tools.contains_key(*name)) {
            None => Ok(()),
            Some(tool) => Err(McpError::UnknownTool {
                server: server.to_owned(),
                tool: tool.clone(),
                known: self.tools.keys().cloned().collect(),
            }),
        }
    }

    /// The tools that are allowed, in the order of the allow-list, else by name.
    pub(crate) fn allowed<'a>(&'a self, rules: &'a Rules) -> impl Iterator<Item = (&'a String, &'a Listed)> {
        let named = rules.allow.as_ref().map(|names| {
            let mut seen = BTreeSet::new();
            names
                .iter()
                .filter(move |name| seen.insert(name.as_str()))
                .filter_map(|name| self.tools.get_key_value(name))
        });
        let all = if rules.allow.is_none() { Some(self.tools.iter()) } else { None };
        named.into_iter().flatten().chain(all.into_iter().flatten())
    }
}

fn problem(tool: &str, spec: &ToolSpec) -> Option<ToolProblem> {
    if tool.trim().is_empty() {
        return Some(ToolProblem::Blank);
    }
    let bytes = spec.parameters.to_string().len();
    if bytes > LARGEST_SCHEMA {
        return Some(ToolProblem::SchemaTooLarge { bytes, most: LARGEST_SCHEMA });
    }
    match ToolBox::<Nothing>::builder().tool(Shape(spec.clone())).build() {
        Err(ToolBoxError::BadSchema { reason, .. }) => Some(ToolProblem::Schema(reason)),
        _ => None,
    }
}

/// Stands in while a schema is checked.
struct Shape(ToolSpec);

#[derive(State, Clone, Default)]
struct Nothing {
    nothing: bool,
}

#[graph_engine::async_trait]
impl Tool<Nothing> for Shape {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Call<'_, Nothing>) -> Result<ToolReply<Nothing>, ToolError> {
        Err("a shape is never called".into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(name: &str, schema: Value) -> rmcp::model::Tool {
        let Value::Object(schema) = schema else { panic!("no object") };
        rmcp::model::Tool::new(name.to_owned(), "Does it.", Arc::new(schema))
    }

    fn problem_of<'a>(listing: &'a Listing, name: &str) -> Option<&'a ToolProblem> {
        listing.tools[name].problem.as_ref()
    }

    #[test]
    fn a_tool_that_can_not_be_offered_says_why_and_the_others_stay() {
        let object = json!({"type": "object"});
        let wide = json!({"type": "object", "description": "x".repeat(300_000)});
        let found = vec![
            tool("good", object.clone()),
            tool("no_object", json!({"type": "array"})),
            tool("no_schema", json!({"type": "object", "properties": {"a": {"type": "nonsense"}}})),
            tool("wide", wide),
            tool("twice", object.clone()),
            tool("twice", object.clone()),
            tool(" ", object),
        ];
        let listing = Listing::of("files", found, &Rules::default());
        assert_eq!(problem_of(&listing, "good"), None);
        assert_eq!(listing.tools["good"].spec.parameters, json!({"type": "object", "properties": {}}));
        assert!(matches!(problem_of(&listing, "no_object"), Some(ToolProblem::Schema(_))));
        let text = problem_of(&listing, "no_schema").unwrap().to_string();
        assert!(text.contains("at `/properties/a/type`"), "{text}");
        assert_eq!(
            problem_of(&listing, "wide").unwrap().to_string(),
            "its schema has 300050 bytes, and at most 262144 are taken"
        );
        assert_eq!(problem_of(&listing, "twice"), Some(&ToolProblem::Twice));
        assert_eq!(problem_of(&listing, " "), Some(&ToolProblem::Blank));
    }

    #[test]
    fn two_tools_are_never_told_by_one_name() {
        let hostile = name::told("files", "a.b");
        let hostile = hostile.strip_prefix("files__").unwrap();
        let found = vec![tool("a.b", json!({"type": "object"})), tool(hostile, json!({"type": "object"}))];
        let listing = Listing::of("files", found, &Rules::default());
        assert!(listing.tools.values().all(|listed| matches!(listed.problem, Some(ToolProblem::NameTaken { .. }))));
    }

    #[test]
    fn an_allow_list_chooses_and_orders_and_must_name_tools() {
        let found = ["a", "b", "c"].map(|name| tool(name, json!({"type": "object"})));
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let mut rules = Rules { allow: names(&["c", "a", "c"]), ..Rules::default() };
        let listing = Listing::of("files", found.into(), &rules);
        let allowed = |rules: &Rules| listing.allowed(rules).map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(allowed(&rules), ["c", "a"]);
        assert_eq!(allowed(&Rules::default()), ["a", "b", "c"]);
        rules.allow = names(&["a", "d"]);
        let error = listing.check("files", &rules).unwrap_err();
        assert_eq!(error.to_string(), "the MCP server `files` has no tool `d`; it has `a`, `b`, `c`");
        rules.allow = names(&[]);
        assert_eq!(allowed(&rules), [""; 0]);
    }
}
