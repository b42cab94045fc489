//! Taking what a sentence said into the criteria.

use crate::hotel::calendar::{Stay, StayError, add_days};
use crate::hotel::criteria::{Amenity, City, Criteria, CriteriaError, check_guests};
use crate::hotel::understand::Slots;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parts of dates that are waiting for the rest of a stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pending {
    /// The check-in, while neither check-out nor length is known.
    #[schemars(with = "Option<String>")]
    pub check_in: Option<Date>,
    /// The check-out, while the check-in is not known.
    #[schemars(with = "Option<String>")]
    pub check_out: Option<Date>,
    /// The length, while the check-in is not known.
    pub nights: Option<u32>,
}

impl Pending {
    /// Whether nothing is waiting.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Criteria {
    /// Takes over every slot that passes its check and returns the errors of
    /// those that do not; a part with an error keeps its old value.
    ///
    /// A new check-in keeps the known length of the stay, a new length keeps
    /// the check-in. Unknown amenities and cities are reported with the
    /// nearest word of the list.
    pub fn apply(&mut self, slots: &Slots, today: Date) -> Vec<CriteriaError> {
        let mut errors = Vec::new();
        if let Some(city) = slots.city {
            self.city = Some(city);
        }
        if let Some(said) = &slots.city_unknown {
            errors.extend(said.parse::<City>().err().map(CriteriaError::from));
        }
        if let Some(room) = slots.room {
            self.rooms = vec![room];
        }
        match slots.guests.map(check_guests) {
            Some(Ok(guests)) => self.guests = Some(guests),
            Some(Err(error)) => errors.push(error),
            None => {}
        }
        self.apply_amenities(slots, &mut errors);
        self.apply_budget(slots, &mut errors);
        errors.extend(self.apply_dates(slots, today).err().map(CriteriaError::from));
        errors
    }

    fn apply_amenities(&mut self, slots: &Slots, errors: &mut Vec<CriteriaError>) {
        self.amenities.retain(|amenity| !slots.drop_amenities.contains(amenity));
        for amenity in &slots.amenities {
            if !self.amenities.contains(amenity) {
                self.amenities.push(*amenity);
            }
        }
        let unknown = slots.amenities_unknown.iter();
        errors.extend(unknown.filter_map(|said| said.parse::<Amenity>().err().map(Into::into)));
    }

    fn apply_budget(&mut self, slots: &Slots, errors: &mut Vec<CriteriaError>) {
        let mut budget = self.budget;
        if slots.drop_budget {
            budget = Default::default();
        }
        budget.min = slots.budget_min.or(budget.min);
        budget.max = slots.budget_max.or(budget.max);
        match budget.check() {
            Ok(()) => self.budget = budget,
            // Two bounds in one sentence are a mistake; one new bound that
            // crosses an old one replaces it.
            Err(error) if slots.budget_min.is_some() == slots.budget_max.is_some() => {
                errors.push(error);
            }
            Err(_) => {
                self.budget.min = slots.budget_min;
                self.budget.max = slots.budget_max;
            }
        }
    }

    fn apply_dates(&mut self, slots: &Slots, today: Date) -> Result<(), StayError> {
        if slots.check_in.is_none() && slots.check_out.is_none() && slots.nights.is_none() {
            return Ok(());
        }
        let old_in = self.stay.map(|stay| stay.check_in());
        let old_nights = self.stay.map(|stay| stay.nights());
        let check_in = slots.check_in.or(old_in).or(self.pending.check_in);
        let nights = slots.nights.or(self.pending.nights);
        let check_out = match (slots.check_out, slots.nights, check_in) {
            (Some(check_out), ..) => Some(check_out),
            (None, Some(nights), Some(check_in)) => Some(add_days(check_in, nights)),
            (None, None, Some(check_in)) => {
                self.pending.check_out.or_else(|| old_nights.or(nights).map(|nights| add_days(check_in, nights)))
            }
            _ => None,
        };
        match (check_in, check_out) {
            (Some(check_in), Some(check_out)) => {
                self.stay = Some(Stay::new(check_in, check_out, today)?);
                self.pending = Pending::default();
            }
            _ => {
                self.pending = Pending { check_in, check_out: check_out.or(self.pending.check_out), nights };
            }
        }
        Ok(())
    }
}
