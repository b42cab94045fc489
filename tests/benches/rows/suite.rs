//! The rows and laws that are asked for: measured one by one, printed as a table or as JSON, counted at the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::args::Args;
use crate::bar::{Bar, Verdict};
use crate::measure::{Clock, Timed, alone, pairs};

/// How many rows the table of targets has.
const ROWS: usize = 29;

/// One line of the table: what is measured, and what is asked of it.
#[derive(Clone)]
pub(crate) struct Row {
    /// Its number in the table of targets; none for what has no target there.
    number: Option<u8>,
    /// The name of the workload, as on the other engines.
    workload: &'static str,
    /// Its size; 0 if it has none.
    n: u64,
    variant: String,
    unit: &'static str,
    units: u64,
    clock: Clock,
    bar: Bar,
    /// Whether the row is only reached when this line is.
    counts: bool,
}

impl Row {
    pub(crate) fn new(number: u8, workload: &'static str, n: u64, variant: impl Into<String>) -> Self {
        Self { number: Some(number), counts: true, ..Self::extra(workload, n, variant) }
    }

    /// What has no row in the table of targets.
    pub(crate) fn extra(workload: &'static str, n: u64, variant: impl Into<String>) -> Self {
        let (unit, units, clock, bar) = ("run", 1, Clock::Cpu, Bar::default());
        Self { number: None, workload, n, variant: variant.into(), unit, units, clock, bar, counts: false }
    }

    /// The unit, and how many of them one run has.
    pub(crate) fn unit(self, unit: &'static str, units: u64) -> Self {
        Self { unit, units, ..self }
    }

    /// At most so many times the limit.
    pub(crate) fn ratio(mut self, ratio: f64) -> Self {
        self.bar.ratio = Some(ratio);
        self
    }

    /// At most so many nanoseconds or bytes a unit.
    pub(crate) fn most(mut self, most: f64) -> Self {
        self.bar.most = Some(most);
        self
    }

    pub(crate) fn wall(self) -> Self {
        Self { clock: Clock::Wall, ..self }
    }

    /// Shown beside the others of its number, which is reached without it.
    pub(crate) fn beside(self) -> Self {
        Self { counts: false, ..self }
    }

    fn name(&self) -> String {
        let Self { workload, variant, .. } = self;
        let size = if self.n == 0 { String::new() } else { format!(":{}", self.n) };
        let comma = if variant.is_empty() { "" } else { ", " };
        format!("{workload}{size}{comma}{variant}")
    }
}

/// The same in two sizes.
pub(crate) struct Law {
    /// The rows that ask for it.
    pub(crate) rows: &'static [u8],
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Units of one run of each size.
    pub(crate) units: (u64, u64),
    pub(crate) most: f64,
}

/// What figures are of.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    Nanoseconds,
    Bytes,
}

/// A line that was measured.
struct Line<'a> {
    kind: &'static str,
    rows: &'a [u8],
    name: String,
    unit: &'static str,
    clock: &'static str,
    quantity: Quantity,
    first: Option<f64>,
    second: f64,
    ratio: Option<f64>,
    bar: Bar,
}

/// Everything that is asked for, in order.
pub(crate) struct Suite {
    args: Args,
    /// So many times as long as the machine of the table this one takes.
    pace: f64,
    /// Rows with a line that counts, and whether all such lines are reached.
    reached: BTreeMap<u8, bool>,
    heading: Option<&'static str>,
}

impl Suite {
    pub(crate) fn new(args: Args, pace: f64) -> Self {
        Self { args, pace, reached: BTreeMap::new(), heading: None }
    }

    /// Measures limit and engine in turn, if the row is asked for. The sides are made only then.
    pub(crate) fn pair<'a>(&mut self, row: Row, sides: impl FnOnce() -> (Timed<'a>, Timed<'a>)) {
        if self.asked(&row) {
            let (limit, engine) = sides();
            let measured = pairs(self.args.pairs, row.clock, (row.units, row.units), limit, engine);
            self.row(row, Quantity::Nanoseconds, Some(measured.first), measured.second, Some(measured.ratio));
        }
    }

    /// Measures the engine without a limit beside it.
    pub(crate) fn alone<'a>(&mut self, row: Row, engine: impl FnOnce() -> Timed<'a>) {
        if self.asked(&row) {
            let measured = alone(self.args.pairs, row.clock, row.units, engine());
            self.row(row, Quantity::Nanoseconds, None, measured, None);
        }
    }

    /// Bytes of limit and engine, which don't depend on time.
    pub(crate) fn bytes(&mut self, row: Row, sides: impl FnOnce() -> (f64, f64)) {
        if self.asked(&row) {
            let (limit, engine) = sides();
            self.row(row, Quantity::Bytes, Some(limit), engine, Some(engine / limit));
        }
    }

    /// Measures both sizes in turn, if the law or a row that asks for it is asked for.
    pub(crate) fn law<'a>(&mut self, law: &Law, sizes: impl FnOnce() -> (Timed<'a>, Timed<'a>)) {
        if self.asked_law(law) {
            let (small, large) = sizes();
            let measured = pairs(self.args.pairs, Clock::Cpu, law.units, small, large);
            self.judge_law(law, Quantity::Nanoseconds, measured.first, measured.second, measured.ratio);
        }
    }

    /// Bytes a unit of both sizes.
    pub(crate) fn law_of_bytes(&mut self, law: &Law, sizes: impl FnOnce() -> (f64, f64)) {
        if self.asked_law(law) {
            let (small, large) = sizes();
            self.judge_law(law, Quantity::Bytes, small, large, large / small);
        }
    }

    fn asked(&mut self, row: &Row) -> bool {
        let wanted = self.args.want(row.number.as_slice(), &row.name());
        if wanted && self.args.list {
            print(&format!("{:>5} {} (per {})", number(row.number.as_slice()), row.name(), row.unit));
        }
        wanted && !self.args.list
    }

    fn asked_law(&mut self, law: &Law) -> bool {
        let wanted = self.args.want(law.rows, law.name);
        if wanted && self.args.list {
            print(&format!("{:>5} law: {} (per {})", number(law.rows), law.name, law.unit));
        }
        wanted && !self.args.list
    }

    fn row(&mut self, row: Row, quantity: Quantity, first: Option<f64>, second: f64, ratio: Option<f64>) {
        let clock = match (quantity, row.clock) {
            (Quantity::Bytes, _) => "none",
            (_, Clock::Cpu) => "cpu",
            (_, Clock::Wall) => "wall",
        };
        let (name, unit, mut bar) = (row.name(), row.unit, row.bar);
        if clock == "cpu" {
            bar.most = bar.most.map(|most| most * self.pace.max(1.0));
        }
        let rows = row.number.as_slice();
        let kind = if row.number.is_some() { "row" } else { "extra" };
        let line = Line { kind, rows, name, unit, clock, quantity, first, second, ratio, bar };
        let verdict = bar.judge(ratio, second);
        if row.counts {
            self.count(rows, verdict);
        }
        let more = json!({
            "row": row.number, "workload": row.workload, "n": row.n, "variant": row.variant, "counts": row.counts,
            "limit": first, "measured": second,
        });
        self.print(&line, verdict, more);
    }

    fn judge_law(&mut self, law: &Law, quantity: Quantity, small: f64, large: f64, ratio: f64) {
        let bar = Bar { ratio: Some(law.most), most: None };
        let verdict = bar.judge(Some(ratio), large);
        self.count(law.rows, verdict);
        let clock = if quantity == Quantity::Bytes { "none" } else { "cpu" };
        let line = Line {
            kind: "law",
            rows: law.rows,
            name: law.name.to_owned(),
            unit: law.unit,
            clock,
            quantity,
            first: Some(small),
            second: large,
            ratio: Some(ratio),
            bar,
        };
        self.print(&line, verdict, json!({"rows": law.rows, "law": law.name, "small": small, "large": large}));
    }

    fn count(&mut self, rows: &[u8], verdict: Verdict) {
        for row in rows {
            let all = self.reached.entry(*row).or_insert(true);
            *all &= verdict.reached() == Some(true);
        }
    }

    fn print(&mut self, line: &Line<'_>, verdict: Verdict, mut more: Value) {
        if self.args.json {
            let fields = json!({
                "kind": line.kind, "name": line.name, "unit": line.unit, "clock": line.clock,
                "quantity": if line.quantity == Quantity::Bytes { "bytes" } else { "ns" },
                "ratio": line.ratio, "target_ratio": line.bar.ratio, "target": line.bar.most,
                "reached": verdict.reached(), "by": verdict.word(),
            });
            if let (Value::Object(more), Value::Object(fields)) = (&mut more, fields) {
                more.extend(fields);
            }
            return print(&more.to_string());
        }
        let heading = match line.kind {
            "law" => "| row | law | unit | small | large | ratio | target | verdict |",
            _ => "| row | workload | unit | limit | measured | ratio | target | verdict |",
        };
        if self.heading.replace(heading) != Some(heading) {
            print(&format!("\n{heading}\n|{}", " --- |".repeat(8)));
        }
        let figure = |value: f64| figure(line.quantity, value);
        let first = line.first.map_or("-".to_owned(), figure);
        let ratio = line.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let bars = [line.bar.ratio.map(|bar| format!("{bar:.2}x")), line.bar.most.map(figure)];
        let target = bars.into_iter().flatten().collect::<Vec<_>>().join(" or ");
        let target = if target.is_empty() { "-" } else { &target };
        let wall = if line.clock == "wall" { ", wall" } else { "" };
        let verdict = match verdict {
            Verdict::Both => "reached",
            Verdict::Ratio if line.bar.most.is_some() => "reached by the ratio",
            Verdict::Most if line.bar.ratio.is_some() => "reached by the figure",
            Verdict::Ratio | Verdict::Most => "reached",
            Verdict::Short => "short",
            Verdict::Shown => "-",
        };
        let (number, name, unit, second) = (number(line.rows), &line.name, line.unit, figure(line.second));
        print(&format!("| {number} | {name} | {unit}{wall} | {first} | {second} | {ratio} | {target} | {verdict} |"));
    }

    /// The last line: how many rows are reached.
    pub(crate) fn end(self) {
        let reached = self.reached.values().filter(|reached| **reached).count();
        let measured = self.reached.len();
        let short: Vec<u8> = self.reached.iter().filter(|(_, reached)| !**reached).map(|(row, _)| *row).collect();
        if self.args.list {
        } else if self.args.json {
            print(
                &json!({
                    "kind": "summary", "rows": ROWS, "measured": measured, "reached": reached, "short": short,
                    "pace": self.pace,
                })
                .to_string(),
            );
        } else {
            print(&format!("\nThis machine takes {:.2} times as long as the one of the table.", self.pace));
            let of = if measured == ROWS { format!("{ROWS}") } else { format!("the {measured} measured") };
            print(&format!("{reached} of {of} rows at or under their target"));
        }
    }
}

fn number(rows: &[u8]) -> String {
    if rows.is_empty() { "-".to_owned() } else { rows.iter().map(u8::to_string).collect::<Vec<_>>().join(", ") }
}

/// A figure with three or more digits.
fn figure(quantity: Quantity, value: f64) -> String {
    let units: &[(f64, &str)] = match quantity {
        Quantity::Nanoseconds => &[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")],
        Quantity::Bytes => &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")],
    };
    let (size, unit) = units.iter().rev().find(|(size, _)| value >= 10.0 * size).unwrap_or(&units[0]);
    let scaled = value / size;
    if scaled >= 100.0 || (*size == 1.0 && scaled >= 10.0) {
        format!("{scaled:.0} {unit}")
    } else {
        format!("{scaled:.1} {unit}")
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
fn print(line: &str) {
    println!("{line}");
}
