//! What the gates counted, for the end of a conversation.

use crate::hotel::clean::clean_line;
use crate::hotel::table::columns;
use graph_nodes::gate::{Attempt, Code};
use graph_nodes::stage::GateBook;

const HEAD: [&str; 8] = ["round", "stage", "n", "outcome", "codes", "input", "output", "ms"];

/// Every attempt of the latest rounds, then the sums of each stage.
pub(super) fn tables(book: &GateBook) -> String {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for (number, round) in book.recent.iter().enumerate() {
        rows.extend(round.ledger.attempts.iter().map(|attempt| row(number + 1, &round.stage, attempt)));
    }
    format!("Every attempt:\n{}\nWhat the gates counted:\n{}", columns(&rows), book.to_table())
}

fn row(round: usize, stage: &str, attempt: &Attempt) -> Vec<String> {
    let codes: Vec<String> = attempt.codes().iter().map(Code::to_string).collect();
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    // The word that is also saved.
    let outcome = serde_json::to_value(attempt.outcome).unwrap_or_default();
    let cells = [
        round.to_string(),
        stage.to_owned(),
        attempt.n.to_string(),
        outcome.as_str().unwrap_or("?").to_owned(),
        if codes.is_empty() { "-".to_owned() } else { codes.join(",") },
        tokens(attempt.usage.map(|usage| usage.input)),
        tokens(attempt.usage.map(|usage| usage.output)),
        attempt.latency.as_millis().to_string(),
    ];
    cells.iter().map(|cell| clean_line(cell)).collect()
}
