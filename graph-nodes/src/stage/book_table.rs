//! The book as a table for people.

use super::GateBook;

const HEAD: [&str; 7] = ["stage", "rounds", "attempts", "accepted", "rejected", "judge", "ms"];

impl GateBook {
    /// One line a stage, open rounds included: rounds, attempts, tokens (input plus output) of accepted responses, of
    /// rejected ones and of judges, milliseconds. Below, how often each code occurred.
    ///
    /// ```
    /// use graph_nodes::stage::GateBook;
    ///
    /// assert!(GateBook::default().to_table().starts_with("stage  rounds  attempts"));
    /// ```
    #[must_use]
    pub fn to_table(&self) -> String {
        let mut rows = vec![HEAD.map(str::to_owned)];
        let mut counters = Vec::new();
        for stage in self.names() {
            let totals = self.totals(stage);
            rows.push([
                stage.to_string(),
                totals.rounds.to_string(),
                totals.attempts.to_string(),
                totals.accepted.total().to_string(),
                totals.rejected.total().to_string(),
                totals.judge.total().to_string(),
                totals.elapsed.as_millis().to_string(),
            ]);
            counters.extend(totals.counters.into_iter().map(|(code, count)| format!("{stage} {code} {count}")));
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 7] = std::array::from_fn(width);
        let mut table = String::new();
        for row in &rows {
            for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
                match column {
                    0 => table.push_str(&format!("{cell:<width$}")),
                    _ => table.push_str(&format!("  {cell:>width$}")),
                }
            }
            table.push('\n');
        }
        if !counters.is_empty() {
            table.push_str(&format!("counters: {}\n", counters.join(", ")));
        }
        table
    }
}
