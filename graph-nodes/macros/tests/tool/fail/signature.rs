//! Mistakes of a signature, all in one run.
use graph_nodes::tool::tool;

/// Finds hotels.
#[tool]
fn not_async(city: String) -> String {
    city
}

/// Finds hotels.
#[tool]
async unsafe fn generic<T: Send>(city: T, filter: impl Fn() + Send) -> impl std::fmt::Debug {
    drop((city, filter));
}

struct Shop;

impl Shop {
    /// Finds hotels.
    #[tool]
    async fn method(&self, city: String) -> String {
        city
    }
}

#[tool]
struct NotAFunction;

fn main() {}
