//! Days and lengths of stay in a sentence: found one after the other, then put
//! together into a check-in, a check-out or a number of nights.

mod grammar;
mod point;
mod range;
mod words;

pub(super) use words::{COUNTED, month, weekday};

use crate::hotel::calendar::add_days;
use crate::hotel::understand::change::is_correction;
use crate::hotel::understand::normalise::Text;
use crate::hotel::understand::slots::{SlotProblem, Slots};
use grammar::Mention;
use jiff::civil::Date;

/// Which end of the stay a day is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    In,
    Out,
    Open,
}

/// Finds the dates, marks their tokens and fills `check_in`, `check_out` and
/// `nights`. Days that no calendar has are returned.
pub(super) fn read(text: &mut Text, today: Date, slots: &mut Slots) -> Vec<SlotProblem> {
    let mut stay = Draft::default();
    let mut problems = Vec::new();
    let mut at = 0;
    let mut last_end = 0;
    while at < text.len() {
        let after_date = stay.last.is_some() && is_correction(text, last_end, at);
        let Some((mention, end)) = grammar::mention(text, at, today, stay.context(after_date)) else {
            at += 1;
            continue;
        };
        stay.take(mention, after_date, &mut problems);
        text.take(at, end);
        at = end;
        last_end = end;
    }
    slots.check_in = stay.check_in;
    slots.check_out = stay.check_out;
    slots.nights = stay.nights;
    if let (Some(check_in), Some(nights), None) = (stay.check_in, stay.nights, stay.check_out) {
        slots.check_out = Some(add_days(check_in, nights));
    }
    if slots.check_out.is_some() {
        slots.nights = None;
    }
    problems
}

/// What the grammar may lean on: the day said before, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// The check-in, when the next day may be the check-out.
    check_in: Option<Date>,
    /// A day that the next bare number corrects.
    corrects: Option<Date>,
}

#[derive(Debug, Default)]
struct Draft {
    check_in: Option<Date>,
    check_out: Option<Date>,
    nights: Option<u32>,
    last: Option<Role>,
}

impl Draft {
    fn context(&self, correction: bool) -> Context {
        Context {
            check_in: self.check_in.filter(|_| !correction && self.check_out.is_none()),
            corrects: match self.last {
                Some(Role::Out) => self.check_out,
                _ => self.check_in,
            }
            .filter(|_| correction),
        }
    }

    fn take(&mut self, mention: Mention, correction: bool, problems: &mut Vec<SlotProblem>) {
        match mention {
            Mention::Impossible(said) => problems.push(SlotProblem::ImpossibleDate { said }),
            Mention::Range(check_in, check_out) => {
                *self =
                    Self { check_in: Some(check_in), check_out: Some(check_out), nights: None, last: Some(Role::Open) };
            }
            Mention::Nights(nights) => {
                self.nights = Some(nights);
                if correction {
                    self.check_out = None;
                }
            }
            Mention::Day(day, role) => {
                let role = match role {
                    Role::Open if correction => match self.last {
                        Some(Role::Out) => Role::Out,
                        _ => Role::In,
                    },
                    Role::Open if self.check_in.is_some() && self.check_out.is_none() => Role::Out,
                    Role::Open => Role::In,
                    role => role,
                };
                match role {
                    Role::Out => self.check_out = Some(day),
                    _ => self.check_in = Some(day),
                }
                self.last = Some(role);
            }
        }
    }
}
