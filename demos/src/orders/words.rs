//! What the model reads out of a sentence, and how it reports.

use graph_nodes::batch::{BatchReport, ItemOutcome};
use serde_json::Value;

const NUMBERS: [(&str, usize); 16] = [
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
];

/// What a sentence asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// So many of the latest orders.
    Latest(usize),
    /// These orders, as they were written.
    Orders(Vec<String>),
    /// Something else.
    Other,
}

/// Reads a sentence: "last twelve orders" or "latest order", otherwise every word with a digit is an order number.
///
/// ```
/// use demos::orders::words::{Question, question};
///
/// assert_eq!(question("Which of my last twelve orders have shipped?"), Question::Latest(12));
/// assert_eq!(question("Where is ord-7031, and 17?"), Question::Orders(vec!["ord-7031".into(), "17".into()]));
/// assert_eq!(question("hello"), Question::Other);
/// ```
#[must_use]
pub fn question(said: &str) -> Question {
    let mut words = said.split(|c: char| c.is_whitespace() || ",;:?!".contains(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.by_ref().map(|word| word.trim_end_matches('.')).collect();
    let is_latest = |word: &str| ["last", "latest", "newest", "recent"].contains(&&*word.to_lowercase());
    if let Some(at) = words.iter().position(|word| is_latest(word)) {
        let next = words.get(at + 1).map(|word| word.to_lowercase()).unwrap_or_default();
        let named = NUMBERS.iter().find(|(word, _)| *word == next).map(|(_, count)| *count);
        let default = if next == "order" { 1 } else { 5 };
        return Question::Latest(named.or_else(|| next.parse().ok()).unwrap_or(default));
    }
    let orders: Vec<String> =
        words.iter().filter(|word| word.contains(|c: char| c.is_ascii_digit())).map(ToString::to_string).collect();
    if orders.is_empty() { Question::Other } else { Question::Orders(orders) }
}

/// What was found, in words.
#[must_use]
pub fn report(reports: &[BatchReport]) -> String {
    let results: Vec<_> = reports.iter().flat_map(|report| &report.results).collect();
    let (mut left, mut here, mut odd) = (Vec::new(), Vec::new(), Vec::new());
    for result in &results {
        let id = &result.id;
        match &result.outcome {
            ItemOutcome::Ok { value } => match (field(value, "status"), field(value, "carrier")) {
                (Some(status), Some(carrier)) => left.push(format!("{id} ({status}, {carrier})")),
                (status, _) => here.push(format!("{id} ({})", status.unwrap_or("unknown"))),
            },
            ItemOutcome::NotFound => odd.push(format!("{id}: no such order")),
            ItemOutcome::Invalid { reason } => odd.push(format!("{id}: {reason}")),
            ItemOutcome::Error { message, .. } => odd.push(format!("{id}: {message}")),
            other => odd.push(format!("{id}: {other:?}")),
        }
    }
    let all = match results.len() {
        1 => "1 order".to_owned(),
        count => format!("{count} orders"),
    };
    let mut lines = vec![format!("{} of {all} shipped.", left.len())];
    let mut list = |title: &str, items: &[String]| {
        if !items.is_empty() {
            lines.push(format!("{title}:"));
            lines.extend(items.iter().map(|item| format!("  {item}")));
        }
    };
    list("Shipped", &left);
    list("Still here", &here);
    list("No answer", &odd);
    lines.join("\n")
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}
