//! Mistakes of the words and the description, all in one run.
use graph_nodes::tool::tool;

#[tool]
async fn no_comment(city: String) -> String {
    city
}

/// # Errors
/// Only for people.
#[tool]
async fn only_a_heading() -> String {
    String::new()
}

/// Finds hotels.
#[tool(nam = "search", name = "find hotels", name = "second", description = " ", state = "Trip", read_only = 3)]
async fn search() -> String {
    String::new()
}

/// Finds hotels.
#[tool(name = "", state = u8, state, read_only, read_only, concurrency_safe)]
async fn blank() -> String {
    String::new()
}

/// Finds hotels.
#[tool(name = 3)]
async fn no_text() -> String {
    String::new()
}

/// Finds hotels.
#[tool]
async fn größe() -> String {
    String::new()
}

/// Finds hotels.
#[tool]
async fn find_all_hotels_that_any_guest_has_ever_asked_for_in_any_season_of_the_year() -> String {
    String::new()
}

fn main() {}
