//! A comparison as plain text columns for a terminal.

use crate::hotel::catalogue::{Comparison, ComparisonRow};
use crate::hotel::clean::clean_line;
use crate::hotel::criteria::Feature;

/// How many hotels stand side by side, as columns, before they become lines.
const SIDE_BY_SIDE: usize = 3;

/// The widest cell of hotels that stand side by side.
const CELL: usize = 26;

/// Renders hotels with their price, rooms, amenities and distance, or only the
/// compared feature if there is one: a few hotels side by side, otherwise one
/// line a hotel. Names that are not in the catalogue follow under the table.
/// Text is cleaned of control characters; no line ends in blanks.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let is_narrow = comparison.by.is_none() && (1..=SIDE_BY_SIDE).contains(&comparison.rows.len());
    let mut text = if is_narrow { side_by_side(comparison) } else { lines(comparison) };
    if !comparison.unknown.is_empty() {
        let names = clean_line(&comparison.unknown.join(", "));
        text.push_str(&format!("not found: {names}\n"));
    }
    text
}

fn side_by_side(comparison: &Comparison) -> String {
    let names = comparison.rows.iter().map(|row| clean_line(&row.hotel.name));
    let mut rows: Vec<Vec<String>> = vec![std::iter::once("hotel".to_owned()).chain(names).collect()];
    for feature in Feature::ALL {
        let cells: Vec<Vec<String>> = comparison.rows.iter().map(|row| wrapped(&cell(row, *feature))).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let label = if line == 0 { feature.to_string() } else { String::new() };
            let pieces = cells.iter().map(|cell| cell.get(line).cloned().unwrap_or_default());
            rows.push(std::iter::once(label).chain(pieces).collect());
        }
    }
    columns(&rows)
}

/// A list over as many lines as it needs, broken behind commas.
fn wrapped(cell: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in cell.split_inclusive(", ") {
        match lines.last_mut() {
            Some(line) if (line.chars().count() + piece.trim_end().chars().count()) <= CELL => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn lines(comparison: &Comparison) -> String {
    let features: &[Feature] = match &comparison.by {
        Some(feature) => std::slice::from_ref(feature),
        None => Feature::ALL,
    };
    let header =
        std::iter::once("hotel".to_owned()).chain(features.iter().map(|feature| feature.to_string())).collect();
    let body = comparison.rows.iter().map(|row| {
        std::iter::once(clean_line(&row.hotel.name)).chain(features.iter().map(|feature| cell(row, *feature))).collect()
    });
    columns(&std::iter::once(header).chain(body).collect::<Vec<_>>())
}

/// Lines up cells under each other, two blanks apart, with a rule under the
/// first row.
#[must_use]
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        text.push_str(&line(cells.map(|(cell, width)| format!("{cell:<width$}")).collect()));
        if index == 0 {
            text.push_str(&line(widths.iter().map(|width| "-".repeat(*width)).collect()));
        }
    }
    text
}

fn cell(row: &ComparisonRow, feature: Feature) -> String {
    match (feature, &row.offer) {
        (Feature::Price, Some((room, quote))) => {
            let nights = quote.nights.len();
            let word = if nights == 1 { "night" } else { "nights" };
            format!("{} ({nights} {word}, {room})", quote.total)
        }
        (Feature::Price, None) => "no matching room".to_owned(),
        (Feature::Room, _) => list(&row.hotel.rooms),
        (Feature::Amenities, _) => list(&row.hotel.amenities),
        (Feature::Distance, _) => distance(row.hotel.distance_m),
    }
}

fn list(words: &[impl ToString]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// Metres as a guest reads them: `850 m`, `1.2 km`.
#[must_use]
pub fn distance(metres: u32) -> String {
    if metres < 1000 {
        return format!("{metres} m");
    }
    let tenths = metres.saturating_add(50) / 100;
    format!("{}.{} km", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_without_blanks() {
        let rows = vec![
            vec!["hotel".to_owned(), "price".to_owned()],
            vec!["Pátio Andora".to_owned(), "€1.00".to_owned()],
            vec!["A".to_owned(), "€20.00".to_owned()],
        ];
        let expected = "\
hotel         price
------------  ------
Pátio Andora  €1.00
A             €20.00
";
        assert_eq!(columns(&rows), expected);
    }

    #[test]
    fn no_rows_render_as_nothing() {
        assert_eq!(columns(&[]), "");
    }

    #[test]
    fn distances_turn_into_kilometres_at_a_thousand_metres() {
        assert_eq!(distance(999), "999 m");
        assert_eq!(distance(1000), "1.0 km");
        assert_eq!(distance(1249), "1.2 km");
        assert_eq!(distance(1250), "1.3 km");
    }
}
