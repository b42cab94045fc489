//! A function without the attribute.
use graph_engine::State;
use graph_nodes::tool::ToolBox;

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

async fn search(city: String) -> String {
    city
}

fn main() {
    let _ = ToolBox::<Trip>::builder().tool(search);
}
