//! A measurement by its name and size, the process that makes it, and what it says.

use std::process::Command;

/// One measurement. The first word of its name says which module makes it, the others are its settings.
pub(crate) struct Case {
    pub(crate) name: String,
    /// Threads, turns or nodes.
    pub(crate) size: u64,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, size: u64) -> Self {
        Self { name: name.into(), size }
    }

    /// Whether a word is among its settings.
    pub(crate) fn has(&self, setting: &str) -> bool {
        self.name.split(' ').any(|word| word.trim_end_matches(',') == setting)
    }

    /// Makes it in a child, whose memory is its own.
    pub(crate) fn in_a_process(&self) -> Vec<Figure> {
        let this = std::env::current_exe().expect("this program");
        let output = Command::new(this).args(["--child", &self.name, &self.size.to_string()]).output();
        let output = output.expect("a process");
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("UTF-8");
        said.lines().map(|line| Figure::read(line).expect("a figure")).collect()
    }
}

/// A number that was measured.
pub(crate) struct Figure {
    what: String,
    value: f64,
    unit: String,
}

impl Figure {
    pub(crate) fn new(what: &str, value: f64, unit: &str) -> Self {
        Self { what: what.to_owned(), value, unit: unit.to_owned() }
    }

    /// As a child says it.
    pub(crate) fn line(&self) -> String {
        format!("{}\t{}\t{}", self.what, self.value, self.unit)
    }

    fn read(line: &str) -> Option<Self> {
        let mut columns = line.split('\t');
        let (what, value, unit) = (columns.next()?, columns.next()?.parse().ok()?, columns.next()?);
        Some(Self::new(what, value, unit))
    }

    /// As columns of the table.
    pub(crate) fn columns(&self) -> String {
        format!("{} | {} | {}", self.what, grouped(self.value), self.unit)
    }
}

/// A number with a comma at each thousand, and two digits behind the point if it is small.
pub(crate) fn grouped(value: f64) -> String {
    if value.fract() != 0.0 && value.abs() < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < -0.5 { "-".to_owned() } else { String::new() };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
