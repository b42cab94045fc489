//! A future that can't leave its thread.
use std::rc::Rc;

use graph_nodes::tool::tool;

/// Finds hotels.
#[tool]
async fn search(city: String) -> String {
    let city = Rc::new(city);
    std::future::ready(()).await;
    city.to_string()
}

fn main() {}
