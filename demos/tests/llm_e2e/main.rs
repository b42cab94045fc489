//! The hotel with a real language model behind a real server: `scripts/local-llm run cargo test -p demos --test llm_e2e`.
//!
//! The model is so small that it is often wrong, so nothing here depends on its words: what it calls is valid, the stages
//! follow each other, the history keeps its rules, every attempt and token is counted.

mod killed;
mod local;
mod proxy;
mod rejected;
mod talks;

/// The base URL of the model's server; none where nobody started one, which is a failure in CI.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn server() -> Option<String> {
    let url = std::env::var("GRAPH_ENGINE_LLM_URL").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        let in_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!in_ci, "GRAPH_ENGINE_LLM_URL is not set; run this by `scripts/local-llm run`");
        println!("skipped: no language model; `scripts/local-llm run cargo test -p demos --test llm_e2e` runs it");
    }
    url
}
