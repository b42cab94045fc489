//! The ledger as a table for people.

use super::{Attempt, Code, GateLedger};

const HEAD: [&str; 7] = ["n", "outcome", "codes", "input", "output", "ms", "model"];

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
        let rows: Vec<[String; 7]> =
            [HEAD.map(str::to_owned)].into_iter().chain(self.attempts.iter().map(row)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 7] = std::array::from_fn(width);

        let mut table = String::new();
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    0 | 3..=5 => format!("{cell:>width$}"),
                    _ => format!("{cell:<width$}"),
                })
                .collect();
            table.push_str(cells.join("  ").trim_end());
            table.push('\n');
        }
        for (name, usage) in [("accepted", self.accepted), ("rejected", self.rejected), ("judge", self.judge)] {
            table.push_str(&format!("{name}: {} input, {} output\n", usage.input, usage.output));
        }
        if self.usage_unknown > 0 {
            table.push_str(&format!("usage unknown: {}\n", self.usage_unknown));
        }
        for (name, count) in [("repaired", self.repaired), ("unsampled", self.unsampled)] {
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

fn row(attempt: &Attempt) -> [String; 7] {
    let codes: Vec<String> = attempt.codes().iter().map(Code::to_string).collect();
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    [
        attempt.n.to_string(),
        attempt.outcome.as_str().to_owned(),
        if codes.is_empty() { "-".to_owned() } else { codes.join(",") },
        tokens(attempt.usage.map(|usage| usage.input)),
        tokens(attempt.usage.map(|usage| usage.output)),
        attempt.latency.as_millis().to_string(),
        attempt.model.clone(),
    ]
}
