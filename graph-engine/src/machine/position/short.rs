//! Reads positions of which there is little to say, as nearly all of them: see [`Scan`].

use std::borrow::Cow;

use super::super::wrote::WroteRow;
use super::rows::{Position, SlotRow, VERSION};
use crate::state::Scan;
use crate::task::Journal;

/// A position of which serde would read the same. `None` if it has to be asked.
pub(super) fn read(json: &[u8]) -> Option<Position<'_>> {
    let mut scan = Scan::new(std::str::from_utf8(json).ok()?);
    let mut position = Position { version: VERSION, ..Position::default() };
    scan.expect("{")?;
    if scan.take("\"schema\":") {
        position.schema = scan.short()?;
        scan.expect(",")?;
    }
    scan.expect("\"step\":")?;
    position.step = scan.number()?;
    if scan.take(",\"began\":") {
        position.began = scan.number()?;
    }
    if scan.take(",\"origin\":") {
        position.origin = Some(scan.text()?.parse().ok()?);
    }
    if scan.take(",\"next\":") {
        position.next = list(&mut scan, 1, slot)?;
    }
    if scan.take(",\"wrote\":") {
        position.wrote = rows(&mut scan)?;
    }
    if scan.take(",\"earlier\":") {
        position.earlier = rows(&mut scan)?;
    }
    scan.expect("}")?;
    scan.is_at_end().then_some(position)
}

fn slot<'a>(scan: &mut Scan<'a>) -> Option<SlotRow<'a>> {
    if !scan.take("{\"node\":") {
        return Some(SlotRow::plain(name(scan)?));
    }
    let mut slot = SlotRow::plain(name(scan)?);
    if scan.take(",\"attempt\":") {
        slot.attempt = scan.short()?;
    }
    if scan.take(",\"stays\":") {
        slot.stays = scan.short()?;
    }
    if scan.take(",\"paused\":") {
        slot.paused = scan.flag()?;
    }
    if scan.take(",\"journal\":") {
        slot.journal = Some(Journal::scan(scan)?);
    }
    scan.expect("}")?;
    Some(slot)
}

/// Writers: one alone has no list around it.
fn rows<'a>(scan: &mut Scan<'a>) -> Option<Vec<WroteRow<'a>>> {
    let mut one = *scan;
    match list(&mut one, 4, name) {
        Some(row) => {
            *scan = one;
            Some(if row.is_empty() { Vec::new() } else { vec![row] })
        }
        None => list(scan, 2, |scan| list(scan, 4, name)),
    }
}

fn name<'a>(scan: &mut Scan<'a>) -> Option<Cow<'a, str>> {
    scan.text().map(Cow::Borrowed)
}

/// `room` is how many items there mostly are.
fn list<'a, T>(scan: &mut Scan<'a>, room: usize, item: impl Fn(&mut Scan<'a>) -> Option<T>) -> Option<Vec<T>> {
    scan.expect("[")?;
    if scan.take("]") {
        return Some(Vec::new());
    }
    let mut items = Vec::with_capacity(room);
    loop {
        items.push(item(scan)?);
        if scan.take("]") {
            return Some(items);
        }
        scan.expect(",")?;
    }
}
