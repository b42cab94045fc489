//! Every kind of argument and result, without an import of the library's traits.
#![deny(warnings)]
#![deny(missing_docs)]

use graph_engine::State;

/// The state.
#[derive(State, Clone, Default)]
pub struct Trip {
    /// Where to.
    pub city: String,
}

/// Only results and arguments of the model.
#[graph_nodes::tool::tool]
pub async fn plain(city: String, mut nights: u8) -> String {
    nights += 1;
    format!("{city} {nights}")
}

/// No arguments, state named by hand.
#[graph_nodes::tool::tool(state = Trip, name = "no-arguments")]
async fn nothing() -> &'static str {
    "nothing"
}

/// Left out.
#[graph_nodes::tool::tool]
#[cfg(any())]
async fn left_out(_: NoSuchType) -> String {}

mod inner {
    /// From a path.
    #[graph_nodes::tool::tool]
    #[allow(dead_code)]
    pub(super) async fn path(
        _: graph_engine::Snap<super::Trip>,
        _: graph_engine::Ctx,
        #[tool(default = 3)] nights: u8,
    ) -> Result<graph_nodes::tool::ToolReply<super::Trip>, std::num::ParseIntError> {
        Ok(nights.to_string().into())
    }
}

/// Raw names.
#[graph_nodes::tool::tool]
async fn r#match(r#type: Option<String>) -> graph_nodes::tool::Json<Option<String>> {
    graph_nodes::tool::Json(r#type)
}

fn main() {
    let tools = graph_nodes::tool::ToolBox::<Trip>::builder().tool(nothing).tool(inner::path).tool(r#match);
    let tools = tools.build().unwrap();
    assert_eq!(tools.names(), ["no-arguments", "path", "match"]);
    drop(nothing());
}
