//! The book as tables for people.

use super::GateBook;
use crate::gate::table::{ATTEMPT, ATTEMPT_NUMBERS, aligned, row};

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
        let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
        let mut counters = Vec::new();
        for stage in self.names() {
            let totals = self.totals(stage);
            rows.push(vec![
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
        let mut table = aligned(&rows, &[1, 2, 3, 4, 5, 6]);
        if !counters.is_empty() {
            table.push_str(&format!("counters: {}\n", counters.join(", ")));
        }
        table
    }

    /// One line an attempt, of the rounds that are [kept](Self::KEPT) and then of those that are open: the stage, how
    /// its round ended, and the columns of [`GateLedger::to_table`](crate::gate::GateLedger::to_table).
    ///
    /// ```
    /// use graph_nodes::stage::GateBook;
    ///
    /// let head = "stage  round  n  outcome  codes  input  output  ms  model\n";
    /// assert_eq!(GateBook::default().to_attempts_table(), head);
    /// ```
    #[must_use]
    pub fn to_attempts_table(&self) -> String {
        let ended = self.recent.iter().map(|round| (&round.stage, round.end.as_str(), &round.ledger));
        let open = self.open.iter().map(|(stage, ledger)| (stage, "open", ledger));
        let head = ["stage", "round"].into_iter().chain(ATTEMPT).map(str::to_owned).collect();
        let mut rows = vec![head];
        for (stage, end, ledger) in ended.chain(open) {
            for attempt in &ledger.attempts {
                rows.push([stage.to_string(), end.to_owned()].into_iter().chain(row(attempt)).collect());
            }
        }
        aligned(&rows, &ATTEMPT_NUMBERS.map(|column| column + 2))
    }
}
