//! The ledger as a table for people.

use super::{Attempt, Code, GateLedger};

/// The columns of an attempt, and which of them are numbers.
pub(crate) const ATTEMPT: [&str; 7] = ["n", "outcome", "codes", "input", "output", "ms", "model"];
pub(crate) const ATTEMPT_NUMBERS: [usize; 4] = [0, 3, 4, 5];

impl GateLedger {
    /// The attempts as aligned text, then the sums. Unknown tokens are `?`.
    ///
    /// ```
    /// use graph_nodes::gate::GateLedger;
    ///
    /// let table = GateLedger::default().to_table();
    /// assert_eq!(table.lines().next(), Some("n  outcome  codes  input  output  ms  model"));
    /// ```
    pub fn to_table(&self) -> String {
        let head = ATTEMPT.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = [head].into_iter().chain(self.attempts.iter().map(row)).collect();
        let mut table = aligned(&rows, &ATTEMPT_NUMBERS);
        for (name, usage) in [("accepted", self.accepted), ("rejected", self.rejected), ("judge", self.judge)] {
            table.push_str(&format!("{name}: {} input, {} output\n", usage.input, usage.output));
        }
        for (name, count) in
            [("usage unknown", self.usage_unknown), ("repaired", self.repaired), ("unsampled", self.unsampled)]
        {
            if count > 0 {
                table.push_str(&format!("{name}: {count}\n"));
            }
        }
        let counters: Vec<String> = self.counters.iter().map(|(code, count)| format!("{code} {count}")).collect();
        if !counters.is_empty() {
            table.push_str(&format!("counters: {}\n", counters.join(", ")));
        }
        table.push_str(&format!("elapsed: {} ms\n", self.elapsed.as_millis()));
        table
    }
}

/// One attempt, cell by cell.
pub(crate) fn row(attempt: &Attempt) -> Vec<String> {
    let codes: Vec<String> = attempt.codes().iter().map(Code::to_string).collect();
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    vec![
        attempt.n.to_string(),
        attempt.outcome.as_str().to_owned(),
        if codes.is_empty() { "-".to_owned() } else { codes.join(",") },
        tokens(attempt.usage.map(|usage| usage.input)),
        tokens(attempt.usage.map(|usage| usage.output)),
        attempt.latency.as_millis().to_string(),
        attempt.model.clone(),
    ]
}

/// Rows of equal length as lines; the columns of numbers stand to the right.
pub(crate) fn aligned(rows: &[Vec<String>], numbers: &[usize]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut table = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match numbers.contains(&column) {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            })
            .collect();
        table.push_str(cells.join("  ").trim_end());
        table.push('\n');
    }
    table
}
